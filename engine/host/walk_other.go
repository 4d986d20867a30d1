//go:build !linux

package host

import (
	"context"
	"errors"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

var errNotLinux = errors.New("not Linux")

// A walker has nothing to read here.
type walker struct{}

func newWalker(_, _ string) *walker { return &walker{} }

func (w *walker) look(context.Context, time.Time) (evidence.Processes, []evidence.Usage) {
	return evidence.Processes{Missing: errNotLinux.Error() + ": there is no /proc to read"}, nil
}
