package diagnose

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
)

// HelperStuck is a program that the runtime or a shim has called, and that does not end.
const HelperStuck ID = "helper-stuck"

// A program that the runtime called (runc, a CNI plugin, mount) has run far longer than it ever takes, or a call that
// hangs surely waits for it. If helpers have called each other, only the outermost counts. A helper that stands in the
// kernel or is held belongs to process-stuck.
var helperStuck = Rule{
	ID: HelperStuck, Most: 10, ByOwner: true, Hangs: true,
	Find: func(f *Facts, report func(Match)) {
		var awaited, late []*waits.Node
		f.Graph().Each(waits.Helper, func(place int, n *waits.Node) {
			p := n.Process()
			switch {
			case f.waits.Below(place, waits.Helper), n.Stuck(), !p.Own:
			case f.waits.HoldsUp(place):
				awaited = append(awaited, n)
			case f.helperLate(*p):
				late = append(late, n)
			}
		})
		for _, of := range byContainer(sortOldest(awaited), sortOldest(late)) {
			report(f.helpersStuck(of))
		}
	},
}

func sortOldest(nodes []*waits.Node) []*waits.Node {
	slices.SortStableFunc(nodes, func(a, b *waits.Node) int {
		return cmp.Or(cmp.Compare(b.Process().Age, a.Process().Age), cmp.Compare(a.Process().PID, b.Process().PID))
	})
	return nodes
}

// byContainer groups the helpers of one container. A helper whose object is not known is alone.
func byContainer(groups ...[]*waits.Node) (all [][]*waits.Node) {
	place := make(map[string]int)
	for _, n := range slices.Concat(groups...) {
		id := n.Object.ID
		if i, known := place[id]; known && id != "" {
			all[i] = append(all[i], n)
			continue
		}
		place[id] = len(all)
		all = append(all, []*waits.Node{n})
	}
	return all
}

// stuckHelpers are the helpers of one container. The first one counts.
type stuckHelpers []*waits.Node

func (f *Facts) helpersStuck(all stuckHelpers) Match {
	n := all[0]
	p := f.byNow(*n.Process())
	return Match{
		Severity: Warning, Subject: Subject{ObjectRef: n.Object.ObjectRef}, Since: f.at().Add(-p.Age),
		Alike: alike(n, waits.HelperName(&p), ""), Nodes: []string{n.Key}, Chain: true, Of: all,
	}
}

func (h stuckHelpers) say(f *Facts, m *Match) { m.Values = Values{"phrase": f.helperPhrase(h[0])} }

func (h stuckHelpers) draw(f *Facts, m *Match) {
	p := f.byNow(*h[0].Process())
	limit := p.HelperLimit()
	m.Values = m.Values.with(processValues(p)).with(Values{"helper": waits.HelperName(&p), "age": age(p.Age), "limit": f.UnlessBusy(limit, evidence.BusyFactor*limit)})
	m.Lines = map[string][]line{"helper": {describe("the helper", p)}}
	if inner := &f.waits.Nodes[f.waits.Last(f.waits.Find(h[0].Key), waits.Helper)]; inner.Key != h[0].Key {
		m.Lines["inner"] = []line{f.describe("it waits for "+waits.HelperName(inner.Process()), *inner.Process())}
	}
	for i, o := range h[1:] {
		if i == nodeLinesMost {
			m.Lines["also"] = append(m.Lines["also"], line{"and {more} more", Values{"more": many{len(h) - 1 - i, "such helper"}}})
			break
		}
		m.Lines["also"] = append(m.Lines["also"], line{"also {phrase}", Values{"phrase": f.helperPhrase(o)}})
	}
	if !f.runs(p) { // its process number may belong to another process by now
		m.Variant, m.Else = "gone", f.thenRestart
		return
	}
	m.Else = func(first ...Step) []Step { return append(first, f.freeOfHelper(p)...) }
	if p.Mount.Served() {
		m.Steps = map[string][]Step{"+free": f.freeingMount(p, p.Mount)}
	}
}

// helperPhrase returns in words which helper it is and how old it is, such as "runc update of ns-1/api app has run for
// 10m0s (pid 9), child of its shim".
func (f *Facts) helperPhrase(n *waits.Node) string {
	p, owner := f.byNow(*n.Process()), n.Object.ObjectRef
	v := Values{"helper": waits.HelperName(&p), "ran": f.ran(p), "parent": f.parentOf(p, owner.Pod)}
	if owner.ID != "" {
		v["object"] = called(owner)
	}
	return f.say(lineOf("helper", v))
}

// ran returns in words how long a helper has run, alone or together with the ones before it.
func (f *Facts) ran(p evidence.Process) string {
	if again := f.Memory.Repeats[p.Container]; again.Times > 1 && again.PID == p.PID {
		return fmt.Sprintf("is begun again and again for %s (pid %d last)", going(p.Age), p.PID)
	}
	return fmt.Sprintf("has run for %s (pid %d)", going(p.Age), p.PID)
}

// helperRan returns the name of a helper, and how long it has run.
func (f *Facts) helperRan(p evidence.Process) string {
	return waits.HelperName(&p) + " of it " + f.ran(p)
}

// parentOf returns the process that is the parent of a pod's helper, in words; empty if that is not known.
func (f *Facts) parentOf(p evidence.Process, pod pleg.PodRef) string {
	for _, shim := range f.Look.Processes.Shims {
		if shim.PID != p.Parent {
			continue
		}
		ref := shim.LooksAfter()
		if owner, known := f.ours(ref.ID); known {
			ref = owner.ObjectRef
		}
		if ref.Pod == pod && pod.Name != "" {
			return "its " + waits.MonitorWord(&shim)
		}
		return "the " + waits.MonitorWord(&shim) + " of " + called(ref)
	}
	for _, runtime := range f.runtimes() {
		if runtime.PID == p.Parent {
			return runtime.Command
		}
	}
	return ""
}

// alike returns what processes of one owner have in common. A process without an owner equals no other.
func alike(n *waits.Node, what, state string) string {
	if n.Object.ID == "" {
		return fmt.Sprintf("%s %s pid %d", what, state, n.Process().PID)
	}
	return what + " " + state
}
