package host

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// runtimeSocket is the part that tells what is where the runtime's socket belongs, and what
// keeps it shut. In a picture of a node its first runtime stands for who listens there.
func runtimeSocket(root, at string, picture bool) part {
	w := &socketWatch{root: root, path: strings.TrimPrefix(at, "unix://"), picture: picture}
	of := func(r *evidence.Report) *evidence.Socket { return &r.Socket }
	read := func(context.Context) evidence.Socket { return w.look() }
	return partOf("socket", of, read, func(s *evidence.Socket, err error) { s.Missing = err.Error() })
}

// Sockets returns the sockets of runtimes that living processes of the node were started
// with: what its kubelet was told, by flags or configuration, or has begun itself as k3s
// does, and those that most of containerd's shims name. It returns what
// it has found when ctx ends, after 2 s at the latest.
func Sockets(ctx context.Context, root string) (kubelets, shims []string) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	found := newWalker(root, "", fileTimeout).look(ctx, time.Now()).Processes
	named := map[string]int{}
	for _, p := range found.Shims {
		named[p.Socket]++
	}
	delete(named, "")
	for _, p := range found.Daemons { // of which only a kubelet has one
		socket := p.Socket
		if within := knowledge.Within(p.Command); socket == "" && within != "" {
			if _, err := os.Stat(filepath.Join("/", root, within)); err == nil { // else it may have been told to use another
				socket = within
			}
		}
		if socket != "" && !slices.Contains(kubelets, socket) {
			kubelets = append(kubelets, socket)
		}
	}
	most := func(a, b string) int { return cmp.Or(cmp.Compare(named[b], named[a]), cmp.Compare(a, b)) }
	return kubelets, slices.SortedFunc(maps.Keys(named), most)
}
