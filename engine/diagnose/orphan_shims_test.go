package diagnose

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A look shows the shim of a sandbox that has been removed since.
func TestShimOfDepartedSandbox(t *testing.T) {
	n := healthy(3)
	in := n.input()
	in.Evidence, in.Endpoint = looked(n), ourSocket
	n.Gone = ledger.Gone{{ID: n.Pods[2].Seen().Sandboxes[0].ID, At: n.At}}
	n.Pods = slices.Clone(n.Pods[:2])
	if got := orphanShims(newView(in)); got != nil {
		t.Errorf("just removed: %+v", got)
	}
	n.Gone = nil
	wantIDs(t, orphanShims(newView(in)), OrphanShims)
}

func TestOrphanShims(t *testing.T) {
	lose := func(r *evidence.Report) { shimOf(r, 1).Sandbox = "lost" }
	runHostTests(t, orphanShims, checked, []hostTest{
		{"nothing", func(*node, *evidence.Report) {}, "", 0, Subject{}},
		{"one", func(_ *node, r *evidence.Report) { lose(r) }, "1 shim has no sandbox: pid ", Warning, Subject{ObjectRef: pleg.ObjectRef{ID: "lost", Sandbox: true}}},
		{"all of them, empty list", func(n *node, _ *evidence.Report) { n.Pods = n.Pods[:0] }, "3 shims have no sandbox", Warning, Subject{}},
		{"of another runtime", func(_ *node, r *evidence.Report) {
			lose(r)
			shimOfLost(r).Own = false
		}, "", 0, Subject{}},
		{"of one container", func(_ *node, r *evidence.Report) { shimOf(r, 1).Sandbox = "container-1-0" }, "", 0, Subject{}},
		{"just started", func(_ *node, r *evidence.Report) { lose(r); shimOfLost(r).Age = 50 * time.Second }, "", 0, Subject{}},
		{"list failed", func(n *node, r *evidence.Report) { lose(r); n.hangFailure() }, "", 0, Subject{}},
		{"list not whole", func(n *node, r *evidence.Report) { lose(r); n.Anomalies.NoMetadata = 1 }, "", 0, Subject{}},
		{"old list", func(n *node, r *evidence.Report) { lose(r); n.Health.ListedAt = ago(time.Minute) }, "", 0, Subject{}},
		{"no list since a pause", func(n *node, r *evidence.Report) {
			lose(r)
			n.Policy.Once, n.Resumed = false, ago(100*time.Millisecond)
		}, "", 0, Subject{}},
		{"never listed", func(n *node, r *evidence.Report) { lose(r); n.Pods = nil }, "", 0, Subject{}},
	})
}

func shimOfLost(r *evidence.Report) *evidence.Process {
	return &r.Processes.Shims[slices.IndexFunc(r.Processes.Shims, func(p evidence.Process) bool { return p.Sandbox == "lost" })]
}

// Another shim changes the finding, which goes on.
func TestASecondOrphanShim(t *testing.T) {
	at := func(after time.Duration, lost int) engine.Update {
		n := healthy(3)
		n.Evidence = looked(n)
		for i := range lost {
			shimOf(n.Evidence, i).Sandbox = fmt.Sprint("lost-", i)
		}
		return n.after(after)
	}
	all := play(t, at(0, 1), at(3*second, 1), at(6*second, 2), at(9*second, 2), at(20*second, 1), at(23*second, 1))
	if got, want := turns(all), "3s began warning orphan-shims\n"; got != want {
		t.Errorf("turns %q, want %q", got, want)
	}
}
