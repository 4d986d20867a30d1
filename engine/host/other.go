//go:build !linux

package host

import (
	"context"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/cgroup"
)

// A Node has nothing to look at here: plegtop reads only Linux nodes.
type Node struct{ *cgroup.Source }

// New returns a node that shows nothing. It only checks the root.
func New(c Config) (*Node, error) {
	_, err := CheckRoot(c.Root)
	return &Node{cgroup.New(c.Root)}, err
}

// Look returns a report that says that this is not Linux.
func (*Node) Look(context.Context, bool, ...string) evidence.Report {
	const why = "not Linux: there is no /proc to read"
	missing := evidence.Disk{Missing: why}
	return evidence.Report{
		At:        time.Now(),
		Processes: evidence.Processes{Missing: why}, Disk: missing, State: missing,
		Socket: evidence.Socket{Missing: why}, Pressure: evidence.Pressure{Missing: why}, Kernel: evidence.Kernel{Source: evidence.Source{Missing: why}},
	}
}

// KubeletVersion returns false.
func (*Node) KubeletVersion(context.Context) (string, bool) { return "", false }

// Sockets returns none.
func Sockets(context.Context, string) (kubelets, shims []string) { return nil, nil }

// Lacks returns "".
func Lacks(int) string { return "" }
