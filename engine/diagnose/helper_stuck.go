package diagnose

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
)

// HelperStuck is a helper that the runtime or a shim has called and that does not end.
const HelperStuck ID = "helper-stuck"

var helperStuckKind = &kind{
	id: HelperStuck, find: helperStuck,
	hangs: true,
	pod:   "stuck helper", state: "stuck",
	words: []nodeWord{(*view).callsInFlight, (*view).kernelSaid}, kernel: ofDisk | ofDevice, killed: runtimeKilled,
	severity: "warning, critical", scenario: "`hung-update`",
	when: "a program that the runtime or a shim has called (runc, a network plugin, mount) has run far longer than the same takes on a healthy node: runc after 5 s to " +
		"10 s by its verb, a network plugin or a mount after 15 s, the unpacking of an image after 10 minutes; or a call that hangs surely waits for it, which makes it " +
		"as severe as that; not `exec`, nor one in D, which is `process-stuck`",
}

const (
	// helpersTold is how many further helpers of one container are told.
	helpersTold = 3
	// helpersMost is how many get a finding of their own.
	helpersMost = 10
)

// helperStuck finds what the runtime or a shim has called and has not ended, though it
// could run: the call that waits for it has no answer. Of what one has called in turn
// only the first is told. What is in the kernel or held is [processStuck]'s. Those of one
// owner's pods that do the same are one finding.
func helperStuck(v *view) []Finding {
	return folded(v, HelperStuck, v.lateHelpers(), helpersMost, helperGroup, v.helpersStuck, func(rest []stuckProcess) Finding {
		f := restOf(HelperStuck, count(len(rest), "more helper")+" of the runtime have not ended", v.advise("helper.all", nil), rest, v.helperLine)
		f.Nodes = keysOf(rest)
		return f
	})
}

// lateHelpers returns those to be told, one for each container: those that a call that
// hangs surely waits for, however young, and then those that are late, the oldest first.
func (v *view) lateHelpers() (late []stuckProcess) {
	var awaited, free []stuckProcess
	v.graph().Each(waits.Helper, func(place int, n *waits.Node) {
		p := n.Process()
		switch {
		case v.waits.Below(place, waits.Helper) || waits.Idle(p) || !p.Own:
		case v.waits.HoldsUp(place):
			awaited = append(awaited, v.stuckOf(n, "helper"))
		case v.helperLate(*p):
			free = append(free, v.stuckOf(n, "helper"))
		}
	})
	older := func(a, b stuckProcess) int { return cmp.Or(cmp.Compare(b.Age, a.Age), cmp.Compare(a.PID, b.PID)) }
	slices.SortStableFunc(awaited, older)
	slices.SortStableFunc(free, older)
	first := make(map[string]int) // places in late, by owner
	for _, p := range append(awaited, free...) {
		if i, known := first[p.owner.ID]; known && p.owner.ID != "" {
			late[i].others = append(late[i].others, p.Process)
			continue
		}
		first[p.owner.ID] = len(late)
		late = append(late, p)
	}
	return late
}

// helperGroup names one trouble: what does the same for the pods of one owner.
func helperGroup(p stuckProcess) group { return p.group(manner{op: p.word()}) }

func (v *view) helperLine(p stuckProcess) string { return v.helperPhrase(p.Process, p.owner) }

// helpersStuck is about one helper, or about those that do the same for pods of one owner,
// of which the first is the oldest.
func (v *view) helpersStuck(same []stuckProcess) Finding {
	p := same[0]
	f := Finding{
		ID: HelperStuck, Severity: Warning, Since: v.At.Add(-p.Age), Subject: p.subject(),
		Summary: v.helperLine(p),
	}
	f.say(describe("the helper", p.Process), v.helperWaits(p.node))
	sayFirst(&f, p.others, helpersTold, "such helper", func(other evidence.Process) string { return "also " + v.helperPhrase(other, p.owner) })
	limit := p.HelperLimit()
	f.say(fmt.Sprintf("a helper is reported from %s on; on a healthy node it takes a small part of that", span(v.UnlessBusy(limit, waits.BusyFactor*limit))),
		"the kubelet's own call for this pod waits too, and comes again after its deadline")
	if len(same) > 1 {
		f.Summary = fmt.Sprintf("%s of %s has run for %s", waits.HelperName(&p.Process), podsOf(same), going(p.Age))
		f = about(f, same, v.helperLine)
	}
	switch {
	case !v.runs(p.Process): // its number may be another's by now
		f.Next = v.says()
	default:
		f.Next = append(v.advise("helper.look", v.processValues(p.Process)), v.says()...)
		if p.Mount.Served() {
			f.Next = append(f.Next, v.freeing(p.Process, p.Mount)...)
		}
	}
	f = f.withChain(v, keysOf(same)...)
	switch {
	case f.act() != (Step{}):
	case v.runs(p.Process):
		f.Next = append(f.Next, v.freeOfHelper(p.Process)...)
	default:
		f.Next = v.runtimeSteps(f.Next...)
	}
	return f
}

// helperWaits says what a helper waits for that has called another in turn; nothing if it
// has not.
func (v *view) helperWaits(node string) string {
	inner := v.waits.Last(v.waits.Find(node), waits.Helper)
	if n := &v.waits.Nodes[inner]; n.Key != node {
		return v.describe("it waits for "+waits.HelperName(n.Process()), *n.Process())
	}
	return ""
}

// helperPhrase says which helper it is and how old, such as "runc update of ns-1/api app
// has run for 10m0s (pid 9), child of its shim".
func (v *view) helperPhrase(p evidence.Process, owner pleg.ObjectRef) string {
	of := ""
	if owner.ID != "" {
		of = " of " + called(owner)
	}
	return waits.HelperName(&p) + of + " " + v.ran(p) + v.helperParent(p, owner.Pod)
}

// helperParent says whose child the helper of a pod is, with a comma before it; nothing if that
// is not known.
func (v *view) helperParent(p evidence.Process, pod pleg.PodRef) string {
	is := func(one evidence.Process) bool { return one.PID == p.Parent }
	if i := slices.IndexFunc(v.evidence.Processes.Shims, is); i >= 0 {
		shim := v.evidence.Processes.Shims[i]
		ref := shim.LooksAfter()
		if owner, known := v.ours(ref.ID); known {
			ref = owner.ObjectRef
		}
		if ref.Pod == pod && pod.Name != "" {
			return ", child of its " + waits.MonitorWord(&shim)
		}
		return fmt.Sprintf(", child of the %s of %s", waits.MonitorWord(&shim), called(ref))
	}
	if i := slices.IndexFunc(v.daemons(), is); i >= 0 {
		return ", child of " + v.daemons()[i].Command
	}
	return ""
}

// deleting returns the helper that is to tell the runtime of a container's end, and has
// not: what runs now, or what ran last of those that are begun again and again, as old as
// all of them together.
func (v *view) deleting(id string) (evidence.Process, bool) {
	if p := v.Memory.Repeats[id]; p.Times > 1 {
		p.Age = max(v.evidence.At.Sub(p.Begun), p.Age)
		return p.Process, true
	}
	i := slices.IndexFunc(v.evidence.Processes.Helpers, func(p evidence.Process) bool {
		return waits.IsDelete(&p) && p.Container == id
	})
	if i < 0 {
		return evidence.Process{}, false
	}
	return v.evidence.Processes.Helpers[i], true
}

// runs reports whether a helper was seen by the last look.
func (v *view) runs(p evidence.Process) bool {
	return slices.ContainsFunc(v.evidence.Processes.Helpers, func(q evidence.Process) bool { return q.PID == p.PID })
}

// ran says how long a helper has run, alone or with those before it.
func (v *view) ran(p evidence.Process) string {
	if again := v.Memory.Repeats[p.Container]; again.Times > 1 && again.PID == p.PID {
		return fmt.Sprintf("is begun again and again for %s (pid %d last)", going(p.Age), p.PID)
	}
	return fmt.Sprintf("has run for %s (pid %d)", going(p.Age), p.PID)
}
