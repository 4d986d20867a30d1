package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
)

// ListHung is a list that is not answered.
const ListHung ID = "list-hung"

// groupLists names the trouble with lists. Both lists wait for the same locks, and another one of them may hang at the
// next relist.
const groupLists = "lists"

// A list has no answer while other calls are answered.
var listHung = Rule{
	ID: ListHung, Needs: Unpaused, Hangs: true,
	Find: func(f *Facts, report func(Match)) {
		if h := f.List(); !f.Scope.Whole() && h != nil && h.Sure && !f.Early(h) {
			report(f.hungList(h))
		}
	},
}

func (f *Facts) hungList(h *answers.Hang) Match {
	node := waits.CallKey(h.Op, h.ID)
	m := Match{
		Severity: f.severity(h), Since: h.Since, Subject: asking(h.Flight), Group: groupLists, Nodes: []string{node}, Chain: true,
		Values: Values{"operation": h.Op, "silence": f.silence(h), "others": f.othersHang(h.Op)},
		Lines: map[string][]line{
			"hangs": {f.hangLine(h)}, "meanwhile": {f.meanwhile(h)}, "locks": f.lockLines(node), "searching": f.searching(),
			"unknown": f.unknownIDs(), "seen": f.seenOf(), "kernel": f.inKernel(),
		},
	}
	if f.textsOf(m.Lines["meanwhile"]) != nil {
		m.Values["meanwhile"] = ", while other calls are answered"
	}
	if left := f.untilUnhealthy(); left > 0 {
		m.Values["left"] = age(left)
	}
	if f.Health.Healthy && f.Health.Flips > 0 {
		m.Values["unhealthyUntil"] = f.Health.Since
	}
	v := Values{"ofSandboxes": h.Op == call.ListPodSandbox}
	steps := f.advise("list.hangs", v)
	if f.deep().Stacks.Total > 0 { // the dump shows that the list hangs in the runtime
		slices.Reverse(steps)
	}
	m.Steps = map[string][]Step{"+restart": f.thenRestart(append(f.dumpFirst(), steps...)...)}
	if o, found := f.holder(f.chain(node)); found && len(f.Blamed) == 0 { // otherwise the findings about the blamed objects say who holds it up
		m.Subject.ObjectRef = o
		if o.ID == "" {
			m.Values["alone"] = o.Pod.String()
		} else {
			m.Values["holder"] = o.String()
		}
	}
	return m
}

// holder returns the object that is surely among the links of a chain.
func (f *Facts) holder(links []Link) (o pleg.ObjectRef, found bool) {
	for _, l := range proven(links) {
		if n := f.waits.Find(waits.Key(waits.Container, cmp.Or(l.ID, l.Name))); l.Kind == waits.Container && n >= 0 {
			return f.waits.Nodes[n].Object.ObjectRef, true
		}
	}
	return o, false
}

// othersHang returns the other calls about the whole runtime that hang as well, and for how long.
func (f *Facts) othersHang(not call.Operation) (hangs []string) {
	for op := range f.General {
		if op := call.Operation(op); op != not && f.Hangs(op) {
			hangs = append(hangs, op.String()+" for "+going(f.General[op].Took))
		}
	}
	return hangs
}

// searching returns a line about the check of all, which looks for what holds the lock: how far it is, or why it was
// refused. After the check it returns the lines of neighbours.
func (f *Facts) searching() []line {
	w := f.FreshSweep()
	switch {
	case w == nil:
		return nil
	case w.Refused != "":
		return []line{lineOf("no-check", Values{"why": w.Refused})}
	case w.Ended.IsZero():
		return []line{lineOf("checking", Values{"done": w.Done, "objects": many{w.Total, "object"}})}
	}
	return f.neighbours()
}

// neighbours returns a line about how many objects were answered in the last check of all.
func (f *Facts) neighbours() []line {
	w := f.FreshSweep()
	if w == nil || w.Done == 0 {
		return nil
	}
	return []line{lineOf("neighbours", Values{"answered": answeredIn(w), "objects": many{w.Done, "object"}, "within": w.Timeout})}
}

// namedUnknown is how many of the ids that the runtime does not know are named.
const namedUnknown = 5

// unknownIDs returns a line with the objects that the node shows and the runtime does not know.
func (f *Facts) unknownIDs() []line {
	w := f.FreshSweep()
	if w == nil || len(w.Unknown) == 0 {
		return nil
	}
	var ids []string
	for _, o := range w.Unknown[:min(len(w.Unknown), namedUnknown)] {
		by, _ := f.onNode(o.ID)
		ids = append(ids, strings.TrimSpace(pleg.ShortID(o.ID)+" "+by.From))
	}
	v := Values{"n": len(w.Unknown), "all": many{len(f.Look.Objects()), "id"}, "ids": ids}
	if left := len(w.Unknown) - len(ids); left > 0 {
		v["more"] = many{left, "more id"}
	}
	return []line{lineOf("unknown-ids", v)}
}

// seenOf returns a line about what is known to be on the node.
func (f *Facts) seenOf() []line {
	switch {
	case f.Partial != "":
		return []line{lineOf("seen-partial", Values{"partial": f.Partial})}
	case f.Pods == nil:
		return nil
	}
	return []line{lineOf("seen", Values{"sandboxes": many{f.Counts.Sandboxes, "sandbox"}, "containers": many{f.Counts.Containers, "container"}})}
}

// inKernel returns lines about processes of containers that wait in the kernel, the worst first: the list may wait for
// one of them.
func (f *Facts) inKernel() (lines []line) {
	for _, s := range f.stuckProcesses() {
		if s.role == "process" && s.State == evidence.Uninterrupted && len(lines) < nodeLinesMost {
			lines = append(lines, describe("a process of "+called(s.owner), s.Process))
		}
	}
	return lines
}
