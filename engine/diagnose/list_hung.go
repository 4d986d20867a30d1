package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
)

// ListHung is a list that does not come.
const ListHung ID = "list-hung"

var listHungKind = &kind{
	id: ListHung, find: listHung,
	needs: unpaused, is: delays, because: limits | delays | stands, hangs: true,
	words: []nodeWord{(*view).callsInFlight, (*view).kernelSaid, (*view).runtimeUnits}, kernel: ofDisk | ofDevice, killed: runtimeKilled,
	severity: "critical", scenario: "`unhealthy`",
	when: "a list has no answer for 3 s, or for three times what lists take here, while other calls are answered",
}

// unknownTold is how many ids are named that the runtime does not know.
const unknownTold = 5

// anyList is what a trouble with lists is known by: both wait for the same locks, and
// which of them is told may change from one relist to the next.
const anyList = "lists"

// listHung finds a list that does not come back while other calls are answered.
func listHung(v *view) []Finding {
	if v.Scope.Whole() {
		return nil
	}
	if h := v.List(); h != nil && h.Sure && !v.Early(h) {
		return []Finding{v.listFinding(h)}
	}
	return nil
}

func (v *view) listFinding(h *answers.Hang) Finding {
	f := Finding{
		ID: ListHung, Severity: v.severity(h), Since: h.Since,
		Summary: fmt.Sprintf("%v %s", h.Op, v.unanswered(h)),
		Subject: asking(h.Flight), Group: anyList,
		Next: v.runtimeSteps(append(v.stackSteps(), v.listSteps(h.Op)...)...),
	}
	answers, left := v.meanwhile(h), ""
	if answers != "" {
		f.Summary += ", while other calls are answered"
	}
	if d := v.untilUnhealthy(); d > 0 {
		left = fmt.Sprintf("unhealthy in %s if no list returns", going(d))
	}
	f.say(v.hangLine(h), left, v.unhealthyBefore())
	f.say(v.lockLines(waits.CallKey(h.Op, h.ID))...)
	f.say(answers, v.others(h.Op), v.searching(), v.unknown(), v.seenOf(), v.pressure(), v.daemon())
	f.say(v.inKernel()...)
	f = f.withChain(v, waits.CallKey(h.Op, h.ID))
	o, found := v.holder(f.Chain)
	if len(v.Blamed) > 0 || !found { // their findings tell who holds it up
		return f
	}
	f.Subject.ObjectRef = o
	if o.ID == "" {
		f.Summary += fmt.Sprintf(", nor is that of %v alone, while other pods' are", o.Pod)
	} else {
		f.Summary += ": " + o.String() + " holds its lock"
	}
	return f
}

// unhealthyBefore says until when PLEG was unhealthy before what hangs now; empty where it was not
// since plegtop began.
func (v *view) unhealthyBefore() string {
	if !v.Health.Healthy || v.Health.Flips == 0 {
		return ""
	}
	return "again: PLEG was unhealthy until " + v.clock(v.Health.Since) + ", and recovered"
}

// inKernelTold is how many processes in the kernel are told beside a list that hangs.
const inKernelTold = 3

// inKernel tells of processes of containers in the kernel, the worst first: the list may
// wait for one of them.
func (v *view) inKernel() (lines []string) {
	for _, p := range v.stuckProcesses() {
		if p.what == "process" && p.State == evidence.Uninterrupted && len(lines) < inKernelTold {
			lines = append(lines, describe("a process of "+called(p.owner), p.Process))
		}
	}
	return lines
}

// holder returns the object that is surely among the links of a chain; false if none is.
func (v *view) holder(links []Link) (o pleg.ObjectRef, found bool) {
	for _, l := range proven(links) {
		if n := v.waits.Find(waits.Key(waits.Container, cmp.Or(l.ID, l.Name))); l.Kind == waits.Container && n >= 0 {
			return v.waits.Nodes[n].Object.ObjectRef, true
		}
	}
	return o, false
}

// unknown names what the node shows and the runtime does not know.
func (v *view) unknown() string {
	w := v.FreshSweep()
	if w == nil || len(w.Unknown) == 0 {
		return ""
	}
	var ids []string
	for _, o := range w.Unknown[:min(len(w.Unknown), unknownTold)] {
		by, _ := v.shown(o.ID)
		ids = append(ids, strings.TrimSpace(pleg.ShortID(o.ID)+" "+by.From))
	}
	said := fmt.Sprintf("%s of %s that the node shows are unknown to the runtime: %s", thousands(len(w.Unknown)), count(len(v.evidence.Objects()), "id"), join(ids))
	if n := len(w.Unknown) - len(ids); n > 0 {
		said += " and " + more(n, "id")
	}
	return said
}

// others says which other calls that are about the whole runtime hang as well.
func (v *view) others(not call.Operation) string {
	var hangs []string
	for op := range v.General {
		if op := call.Operation(op); op != not && v.Hangs(op) {
			hangs = append(hangs, op.String()+" for "+going(v.General[op].Took))
		}
	}
	if len(hangs) == 0 {
		return ""
	}
	return "hangs as well: " + join(hangs)
}

func (v *view) listSteps(op call.Operation) []Step {
	values := Values{}
	if op == call.ListPodSandbox {
		values["ofSandboxes"] = one("yes")
	}
	steps := v.advise("list.hangs", values)
	if v.deep().Stacks.Total > 0 { // that it hangs in the runtime is known
		slices.Reverse(steps)
	}
	return steps
}

// dump returns the steps that have the runtime write its goroutines: nothing where it is not known
// which process that is.
func (v *view) dump() []Step {
	all := v.daemonsNow()
	if len(all) != 1 || !v.dumps() {
		return nil
	}
	values := v.processValues(all[0])
	if v.deep().Stacks.Total > 0 {
		values["known"] = one("yes")
	}
	return v.advise("runtime.dump", values)
}

// dumps reports whether the runtime is one that writes its goroutines to a file at a signal.
func (v *view) dumps() bool { return v.program() == knowledge.Containerd.Program || v.isCRIO() }

// stackSteps returns what dumps the runtime's goroutines, unless they were read, or its process
// does nothing.
func (v *view) stackSteps() []Step {
	if _, stuck := v.stuckDaemon(); stuck || !v.dumps() || v.deep().Stacks.Total > 0 {
		return nil
	}
	return v.dump()
}

// searching says how far the sweep has come that looks for what holds the lock.
func (v *view) searching() string {
	w := v.FreshSweep()
	switch {
	case w == nil:
		return ""
	case w.Refused != "":
		return "no check of all: " + w.Refused
	case w.Ended.IsZero():
		return fmt.Sprintf("plegtop checks all to find the object that holds the lock: %s of %s asked for", thousands(w.Done), count(w.Total, "object"))
	}
	return v.neighbours()
}

func (v *view) seenOf() string {
	switch {
	case v.Partial != "":
		return "seen of what runs: " + v.Partial
	case v.Pods == nil:
		return ""
	}
	return fmt.Sprintf("the last good list had %s and %s", count(v.Counts.Sandboxes, "sandbox"), count(v.Counts.Containers, "container"))
}
