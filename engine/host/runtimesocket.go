package host

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

// runtimeSocket is the part that tells what is where the runtime's socket belongs, and what
// keeps it shut.
func runtimeSocket(root, at string) part {
	var last evidence.Socket
	return part{
		name: "socket",
		read: func(context.Context) fill {
			last = readSocket(root, strings.TrimPrefix(at, "unix://"), &last)
			s := last
			return func(r *evidence.Report) { r.Socket = s }
		},
		missing: func(r *evidence.Report, err error) { r.Socket.Missing = err.Error() },
	}
}

// Sockets returns the sockets of runtimes that living processes of the node were started
// with, containerd's shims and the kubelet, those that most name first. It returns what
// it has found when ctx ends, after 2 s at the latest.
func Sockets(ctx context.Context, root string) []string {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	found := newWalker(root, "", fileTimeout).look(ctx, time.Now()).Processes
	named := map[string]int{}
	for _, p := range slices.Concat(found.Shims, found.Daemons) {
		if p.Socket != "" {
			named[p.Socket]++
		}
	}
	return slices.SortedFunc(maps.Keys(named), func(a, b string) int { return cmp.Or(cmp.Compare(named[b], named[a]), cmp.Compare(a, b)) })
}
