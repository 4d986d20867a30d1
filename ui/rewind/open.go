package rewind

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/record"
)

// Open opens a recording to show the moment at, as [ParseTime] reads it. An empty at gives the zero
// time. If through is not 0, the recording is played through that release of the kubelet, and note
// is called if inspections are missing for that. The caller closes the recording.
func Open(ctx context.Context, path, at string, through pleg.Release, note func(string)) (r *record.Recording, moment time.Time, err error) {
	if r, err = record.Open(path); err != nil {
		return nil, moment, err
	}
	missing := uint64(0)
	if through != 0 {
		missing, err = r.As(ctx, through)
	}
	if missing > 0 {
		note(fmt.Sprintf("a kubelet %v would have made %d inspections that are missing in the recording: they fail", through, missing))
	}
	if err == nil && at != "" {
		first, last := r.Span()
		if moment, err = ParseTime(at, first, last); err != nil {
			err = fmt.Errorf("--at: %w", err)
		}
	}
	if err != nil {
		return nil, moment, errors.Join(err, r.Close())
	}
	return r, moment, nil
}
