package diagnose

import (
	"errors"
	"fmt"
	"slices"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
)

// InspectHung is a sandbox or container whose status call is not answered.
const InspectHung ID = "inspect-hung"

// hungMost is how many objects that hang get their own finding: nobody reads more of them one by one, and they have a
// common reason.
const hungMost = 5

// The status call of a sandbox or container is not answered while others are, or that of a sandbox with all its
// containers; or no status call is answered, whichever pod it is for.
var inspectHung = Rule{
	ID: InspectHung, Needs: Unpaused, Hangs: true, Most: hungMost, ByOwner: true, RefutedBy: call.Operation.AboutObject, Word: InspectionHangs,
	Find: func(f *Facts, report func(Match)) {
		switch {
		case f.Scope.Whole() || f.Scope == answers.AllSlow:
		case f.Scope == answers.NoStatus:
			report(f.noStatus())
		default:
			objects := f.hungObjects()
			for i := range objects {
				h := &objects[i]
				report(Match{Severity: f.severity(h.Hang), Since: h.Since, Subject: asking(h.Flight), Alike: h.Op.String(), Chain: true, Of: h})
			}
		}
	},
}

// noStatus returns a match about status calls that hang, whatever they ask for.
func (f *Facts) noStatus() Match {
	first, since := f.Every[0], slices.MinFunc(f.Every, answers.BySince).Since
	node := waits.CallKey(first.Op, first.ID)
	m := Match{
		Variant: "every", Severity: f.everySeverity(), Since: since, Nodes: []string{node}, Chain: true, Alone: true,
		Values: Values{"operation": first.Op, "age": age(f.at().Sub(since)), "objects": many{len(f.Every), "object"}},
		Lines:  map[string][]line{"meanwhile": {f.meanwhile(first)}, "countdown": f.countdown(first), "locks": f.lockLines(node)},
		Steps:  map[string][]Step{"+restart": f.thenRestart(f.logs()...)},
	}
	other := slices.ContainsFunc(f.Every, func(h *answers.Hang) bool { return h.Op != first.Op })
	switch {
	case first.Out:
	case other:
		m.Variant = "every-ended"
	default:
		m.Variant, m.Subject.Operation = "every-of-one", first.Op.String()
	}
	for _, h := range f.Every[:min(len(f.Every), hungMost)] {
		m.Lines["hangs"] = append(m.Lines["hangs"], f.hangLine(h))
	}
	return m
}

// everySeverity returns the severity if no status call is answered. Each may have been asked only once. The trouble as
// a whole goes on, and becomes critical after the same time as the hang of one object.
func (f *Facts) everySeverity() Severity {
	if f.at().Sub(slices.MinFunc(f.Every, answers.BySince).Since) >= f.Snapshot.Policy.HungLong() {
		return Critical
	}
	return Warning
}

// A hungObject is a status call that hangs. If it is that of a sandbox, and the calls of all its containers hang as
// well, it has those too: they share a shim.
type hungObject struct {
	*answers.Hang
	containers []*answers.Hang
}

// hungObjects returns the objects whose hang is their own fault, with a whole pod as one object.
func (f *Facts) hungObjects() (all []hungObject) {
	if !slices.ContainsFunc(f.Blamed, func(h *answers.Hang) bool { return h.Op == call.PodSandboxStatus }) {
		all = make([]hungObject, len(f.Blamed))
		for i, h := range f.Blamed {
			all[i].Hang = h
		}
		return all
	}
	at := make(map[answers.Target]*answers.Hang, len(f.Blamed))
	for _, h := range f.Blamed {
		at[answers.Target{Op: h.Op, ID: h.ID}] = h
	}
	taken := make(map[*answers.Hang]bool)
	for _, h := range f.Blamed {
		if taken[h] {
			continue
		}
		o := f.wholePod(h, at)
		taken[o.Hang] = len(o.containers) > 0
		for _, c := range o.containers {
			taken[c] = true
		}
		all = append(all, o)
	}
	return all
}

// wholePod returns the sandbox of an object with its containers, if the sandbox and every container that has not ended
// hang. Otherwise it returns the object alone.
func (f *Facts) wholePod(h *answers.Hang, at map[answers.Target]*answers.Hang) hungObject {
	alone, id := hungObject{Hang: h}, f.sandboxOf(h.Flight)
	sandbox := at[answers.Target{Op: call.PodSandboxStatus, ID: id}]
	if sandbox == nil || id == "" {
		return alone
	}
	whole := hungObject{Hang: sandbox}
	for _, c := range f.containersOf(sandbox.Pod) {
		if c.SandboxID != id || c.ID == "" {
			continue
		}
		switch hung := at[answers.Target{Op: call.ContainerStatus, ID: c.ID}]; {
		case hung != nil:
			whole.containers = append(whole.containers, hung)
		case c.State != pleg.Exited:
			return alone
		}
	}
	if h != sandbox && !slices.Contains(whole.containers, h) { // the object is in no list
		return alone
	}
	return whole
}

func (o *hungObject) say(f *Facts, m *Match) {
	m.Nodes = []string{waits.ObjectKey(o.Object()), waits.CallKey(o.Op, o.ID)}
	m.Values = Values{"line": f.say(f.hangLine(o.Hang))}
}

func (o *hungObject) draw(f *Facts, m *Match) {
	h := o.Hang
	m.Values = m.Values.with(o.values(f))
	m.Lines = map[string][]line{
		"hangs": {f.hangLine(h)}, "locks": f.lockLines(m.Nodes[0]), "countdown": f.countdown(h), "deadline": f.deadline(h),
		"meanwhile": {f.meanwhile(h)}, "neighbours": f.neighbours(), "processes": f.processLines(h.Flight),
	}
	m.Steps = map[string][]Step{"+object": f.objectSteps(h.Flight)}
}

func (o *hungObject) values(f *Facts) Values {
	h := o.Hang
	v := Values{"operation": h.Op, "object": f.calledBy(h.Flight), "silence": f.silence(h), "lasted": age(f.lasted(h)), "from": f.notListed(h.Flight)}
	switch n := len(o.containers); n {
	case 0:
	case 1:
		v["containers"] = "its container"
	default:
		v["containers"] = fmt.Sprintf("its %s", count(n, "container"))
	}
	var names []string
	for _, c := range o.containers {
		names = append(names, fmt.Sprintf("%s (%s)", c.Container, pleg.ShortID(c.ID)))
	}
	v["also"] = names
	return v
}

// notListed returns the source that shows an object that is in no list; empty if its pod is listed.
func (f *Facts) notListed(c call.Flight) string {
	if f.Pod(c.Pod) != nil {
		return ""
	}
	o, _ := f.onNode(c.ID)
	return o.From
}

// countdown returns a line that says when a call that holds up the kubelet's relist makes PLEG unhealthy, or when the
// relist ends before that. For a call that holds up no relist now, it says how long a relist would wait, or that the
// runtime gives up by itself.
func (f *Facts) countdown(h *answers.Hang) []line {
	switch {
	case !h.Out && gaveUp(h.Err):
		return []line{lineOf("gives-up", Values{"took": h.Took})}
	case !h.Out || h.By != call.ByRelist:
		return []line{lineOf("relist-would-wait", Values{"timeout": f.Timeout})}
	}
	if left := f.untilUnhealthy(); left > 0 {
		return []line{lineOf("unhealthy-in", Values{"left": age(left)})}
	}
	if f.relistEndsFirst() {
		return []line{lineOf("relist-ends", Values{"left": age(f.Phase.EndsBy.Sub(f.at()))})}
	}
	return nil
}

// gaveUp reports whether a call ran out of time by the runtime's own limit. Then the runtime waits less long for what
// is behind it than its client would wait.
func gaveUp(err error) bool {
	e, ok := errors.AsType[*call.Error](err)
	return ok && e.Why == call.Theirs && e.Text != ""
}

// deadline returns a line that says when the deadline ends a call of a relist, if that is before PLEG becomes
// unhealthy; else nil.
func (f *Facts) deadline(h *answers.Hang) []line {
	left := f.Timeout - h.Took
	if !h.Out || h.By != call.ByRelist || left <= 0 || left >= f.untilUnhealthy() || f.relistEndsFirst() {
		return nil
	}
	return []line{lineOf("deadline", Values{"left": age(left)})}
}

// objectSteps returns what to do about one object. The restart of the runtime is the last step.
func (f *Facts) objectSteps(c call.Flight) []Step {
	v := Values{"id": short(c.ID), "ofSandbox": c.Op == call.PodSandboxStatus}
	worst, found := f.worstOf(c.ID)
	if found {
		v["pid"] = pids(worst)
	}
	steps := f.advise("object.hangs", v)
	if shim, ok := f.shimOf(c.ID, f.sandboxOf(c)); ok {
		goOn := f.letGoOn(shim, shim.Container)
		if len(goOn) == 0 && shim.Container == "" && !f.isCRIO() { // ending a conmon ends nothing
			goOn = f.endShim(shim)
		}
		steps = append(steps, goOn...)
		if shim.State == evidence.Traced { // a restart would end its containers, and is not needed
			return steps
		}
	}
	if d := f.doing(&worst, evidence.AsWorkload); found && f.isCRIO() && d.InKernel() && d.What == evidence.OnServer { // after a restart the conmon still holds on to it
		return append(steps, f.freeing(worst)...)
	}
	return f.thenRestart(steps...)
}
