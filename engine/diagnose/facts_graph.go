package diagnose

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
)

// Graph returns the graph of who waits for whom; nil if nobody waits.
func (f *Facts) Graph() *waits.Graph {
	if !f.graphed {
		f.graphed = true
		if f.anyHangs() || f.anyHeld() {
			f.waits = waits.Build(f.waitFacts())
		}
	}
	return f.waits
}

// anyHeld reports whether a process does nothing, or a helper should have ended.
func (f *Facts) anyHeld() bool {
	if f.Look.Processes.Missing != "" {
		return false
	}
	return f.kept.stuck || len(f.Memory.Repeats) > 0 || slices.ContainsFunc(f.Look.Processes.Helpers, func(p evidence.Process) bool {
		return f.helperLate(p) || waits.IsDelete(&p)
	})
}

// pressed reports whether less is needed to be sure that the runtime's own process does nothing: a list hangs for
// sure, or nobody looks again.
func (f *Facts) pressed() bool { return f.once() || f.List() != nil && f.List().Sure }

// doing returns what a process of the last look does in its role. The graph uses the same answer.
func (f *Facts) doing(p *evidence.Process, as evidence.Role) evidence.Doing {
	if f.around == nil {
		f.around = new(evidence.LookAround(f.Look, f.pressed()))
	}
	return f.around.Doing(p, as)
}

// waitFacts returns the facts that the graph is built from.
func (f *Facts) waitFacts() waits.Facts {
	var hangs []*answers.Hang
	if f.Scope != answers.AllSlow { // a call that runs out of time there is only slow
		hangs = slices.Collect(f.EachHang)
	}
	w := waits.Facts{
		Line:   func(i int) string { return f.say(f.hangLine(hangs[i])) },
		Report: f.Look, Deep: f.deep(), Runtime: f.runtimesNow(), Retried: f.retried(), Busy: f.Busy, Passed: f.sinceLook(),
		Pressed: f.pressed(),
		Lookup:  f.ours, Shown: f.onNode,
		Disk: func(m evidence.Mount) string {
			if lines := f.diskLines(m); len(lines) > 0 {
				return f.say(lines[0])
			}
			return ""
		},
		Hung: make(map[call.Operation]int),
	}
	blamed := make(map[*answers.Hang]bool)
	for _, h := range f.Blamed[:min(len(f.Blamed), waits.MostObjects)] {
		blamed[h] = true
	}
	for i, h := range hangs {
		if w.Hung[h.Op]++; i >= waits.MostObjects {
			continue
		}
		one := waits.Hang{Op: h.Op, Since: h.Since, Sure: h.Sure, Relist: h.Out && h.By == call.ByRelist, Blamed: blamed[h]}
		if h.Op.AboutObject() {
			one.Object, one.Beside = f.objectOf(h.Flight), f.ObjectsAnswered(f.BeganAt(h))
		}
		w.Hangs = append(w.Hangs, one)
	}
	if f.Scope == answers.Refused {
		for _, e := range f.Refusals {
			w.Refused = append(w.Refused, waits.Refusal{Op: e.Op, Since: e.First, Line: f.say(f.refusal(e))})
		}
	}
	for _, pod := range f.Holders {
		w.Alone = append(w.Alone, evidence.Object{ObjectRef: pleg.ObjectRef{Pod: pod, Sandbox: true}})
	}
	return w
}

// retried returns the helpers that delete a container and are started again and again, while the container is still
// listed as running. One of them alone is not late, but all of them together are.
func (f *Facts) retried() (all []evidence.Process) {
	for _, id := range slices.Sorted(maps.Keys(f.Memory.Repeats)) {
		if o, known := f.ours(id); known && o.State == pleg.Running && f.Memory.Repeats[id].Times > 1 {
			if p, _ := f.deleting(id); f.helperLate(p) && !f.doing(&p, evidence.AsHelper).DoesNothing() {
				all = append(all, p)
			}
		}
	}
	return all
}

// deleting returns the helper that should report the end of a container, and has not ended. If it is started again and
// again, deleting returns the last one, with the age of all of them together.
func (f *Facts) deleting(id string) (evidence.Process, bool) {
	if p := f.Memory.Repeats[id]; p.Times > 1 {
		p.Age = max(f.Look.At.Sub(p.Begun), p.Age)
		return p.Process, true
	}
	for _, p := range f.Look.Processes.Helpers {
		if waits.IsDelete(&p) && p.Container == id {
			return p, true
		}
	}
	return evidence.Process{}, false
}

// deep returns what the deep look found. It is empty if there was no deep look, or if the runtime came back after it.
// If all that hangs began after a dump of goroutines, the dump is left out: it shows another hang.
func (f *Facts) deep() *evidence.Deep {
	d := f.Look.Deep
	if d == nil || f.LookOld {
		return &noDeep
	}
	if f.allBegan(d.Stacks.At) {
		later := *d
		later.Stacks = evidence.Stacks{Source: d.Stacks.Source}
		return &later
	}
	return d
}

var noDeep evidence.Deep // read only

// allBegan reports whether something hangs, and all that hangs began after a moment. All calls of check count as made
// at one moment, so for check it returns false.
func (f *Facts) allBegan(at time.Time) bool {
	hangs := false
	for h := range f.EachHang {
		if hangs = h.Since.After(at); !hangs {
			return false
		}
	}
	return hangs && !f.once() && !at.IsZero()
}

// blockedBy returns in words what the call of a node waits for: an object, with the process behind it that does
// nothing, or the runtime's own process. The text is empty if nothing is known. likely is true if it is not proven.
// named has the keys of the nodes that the text names.
func (f *Facts) blockedBy(node string) (text string, likely bool, named map[string]bool) {
	g := f.Graph()
	for i, l := range g.Through(g.Find(node)) {
		n := &g.Nodes[l.Place]
		var p evidence.Process
		stuck := true
		switch n.Kind {
		case waits.Container:
			text = f.heldBy(n.Object)
			p, stuck = f.stuckBehind(n.Object)
		case waits.Process:
			p = *n.Process()
			text = p.Command + " " + brief(p)
		default:
			continue
		}
		named = map[string]bool{n.Key: true}
		if stuck {
			named[waits.Key(waits.Process, strconv.Itoa(p.PID))] = true
			held := p.State == evidence.Stopped || p.State == evidence.Traced || p.State == evidence.Frozen
			inKernel := p.Wchan != "" && !p.WaitsIn(evidence.ServerFunction)
			named[waits.Key(waits.Kernel, strconv.Itoa(p.PID))] = held || inKernel // brief says why it stands
		}
		return text, i > 0 && l.Proof == "", named
	}
	return "", false, nil
}

// lockLines returns, for each lock on the way down from a node, a line that says who waits for the lock, and who holds
// it.
func (f *Facts) lockLines(node string) (lines []line) {
	g := f.Graph()
	for _, l := range g.Through(g.Find(node)) {
		n := &g.Nodes[l.Place]
		lock := n.Lock()
		switch {
		case lock == nil || l.Again || len(lines) == namedLocks:
		case n.Kind != waits.Lock: // likely the holder of that lock
			lines = append(lines, lockLine(lock, "the "+waits.LockName(lock)+", likely of "+statusOf(n.Object.ObjectRef)))
		case n.Object.ID != "":
			lines = append(lines, lockLine(lock, "the status of "+statusOf(n.Object.ObjectRef)))
		default:
			lines = append(lines, lockLine(lock, "the "+waits.LockName(lock)))
		}
	}
	return lines
}

// namedLocks is how many locks of one chain are named.
const namedLocks = 3

// statusOf returns the name of a container or a sandbox for a sentence: container nginx (payments/api-7d).
func statusOf(o pleg.ObjectRef) string {
	kind, name := "container", o.Container
	if o.Sandbox {
		kind, name = "sandbox", ""
	}
	if name == "" {
		name = pleg.ShortID(o.ID)
	}
	if pod := o.Pod.String(); pod != "" {
		return kind + " " + name + " (" + pod + ")"
	}
	return kind + " " + name
}

// lockLine returns a line about who waits for a lock, and what its holder does.
func lockLine(l *evidence.Lock, lock string) line {
	v := Values{"waiters": many{l.Waiters, "goroutine"}, "wait": "wait", "lock": lock}
	if l.Waiters == 1 {
		v["wait"] = "waits"
	}
	g := l.Holder
	if g.Number == 0 {
		return lineOf("lock.unseen", v)
	}
	v["number"], v["doing"] = pid(g.Number), waits.Doing(&g)
	if l.Likely {
		v["likely"] = "likely "
	}
	if g.For > 0 {
		v["age"] = " for " + waits.Roughly(g.For)
	}
	return lineOf("lock", v)
}
