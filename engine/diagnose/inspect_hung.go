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

// InspectHung is the status of a sandbox or container that does not come.
const InspectHung ID = "inspect-hung"

var inspectHungKind = &kind{
	id: InspectHung, find: inspectHung,
	needs: unpaused, is: delays, because: limits | stands, hangs: true,
	refutedBy: call.Operation.AboutObject,
	critical:  "INSPECTION HANGS",
	pod:       "hung status", state: "hung",
	words: []nodeWord{(*view).callsInFlight, (*view).kernelSaid}, kernel: ofDisk | ofDevice, killed: runtimeKilled,
	severity: "critical", scenario: "`hung-inspect`, `status-lock`",
	when: "the status of one sandbox or container does not come while others do, or of a sandbox with all its containers; without naming any if no status call " +
		"is answered, whichever pod it is for; a warning if it is late",
}

const (
	// fullHung is how many hanging objects get a finding each: more than a
	// handful no person reads one by one, and they have a common reason.
	fullHung = 5
	// membersMost is how many of the others are named in the finding that sums
	// them up.
	membersMost = 50
)

// inspectHung finds the sandboxes and containers whose status does not come
// back.
func inspectHung(v *view) []Finding {
	switch {
	case v.Scope.Whole() || v.Scope == answers.AllSlow:
		return nil
	case v.Scope == answers.NoStatus:
		return []Finding{v.everyStatusFinding()}
	}
	return folded(v, InspectHung, v.gathered(), fullHung, hungObject.name, v.objectsHung, v.restHung)
}

// everyStatusFinding is about calls that hang whatever they ask for.
func (v *view) everyStatusFinding() Finding {
	first := v.Every[0]
	f := Finding{
		ID: InspectHung, Severity: v.everySeverity(), Since: slices.MinFunc(v.Every, answers.BySince).Since,
		Summary: fmt.Sprintf("no status call is answered, for none of the %s that were asked for", count(len(v.Every), "object")),
		Next:    v.runtimeSteps(v.says()...),
	}
	if first.Out {
		f.Summary = fmt.Sprintf("no status call is answered, whichever pod it is for: none has come back for %s", going(v.At.Sub(f.Since)))
	}
	if other := slices.ContainsFunc(v.Every, func(h *answers.Hang) bool { return h.Op != first.Op }); !other && !first.Out {
		f.Subject.Operation = first.Op.String()
		f.Summary = fmt.Sprintf("%v has no answer for any of the %s that it was asked for", first.Op, count(len(v.Every), "object"))
	}
	f.say(v.meanwhile(first), v.countdown(first))
	for _, h := range v.Every[:min(len(v.Every), fullHung)] {
		f.say(v.hangLine(h))
	}
	f.say(v.pressure(), v.daemon())
	f.say(v.lockLines(waits.CallKey(first.Op, first.ID))...)
	return f.withChain(v, waits.CallKey(first.Op, first.ID))
}

// everySeverity is that of status calls of which none is answered. Each may have been asked for only
// once: it is the whole that goes on, and that is critical after the time after which one object is.
func (v *view) everySeverity() Severity {
	if v.At.Sub(slices.MinFunc(v.Every, answers.BySince).Since) >= v.Policy.HungLong() {
		return Critical
	}
	return Warning
}

// A hungObject is a status call that hangs, and with a sandbox those of its
// containers if all of them hang as well: they share a shim, and it is one
// trouble.
type hungObject struct {
	*answers.Hang
	containers []*answers.Hang
}

// gathered returns what hangs by its own fault, in its order, with a whole pod as
// one.
func (v *view) gathered() (all []hungObject) {
	at := make(map[answers.Target]*answers.Hang)
	if slices.ContainsFunc(v.Blamed, func(h *answers.Hang) bool { return h.Op == call.PodSandboxStatus }) {
		for _, h := range v.Blamed {
			at[answers.Target{Op: h.Op, ID: h.ID}] = h
		}
	}
	taken := make(map[*answers.Hang]bool)
	for _, h := range v.Blamed {
		if taken[h] {
			continue
		}
		o := hungObject{Hang: h}
		if len(at) > 0 {
			o = v.wholePod(h, at)
		}
		taken[o.Hang] = len(o.containers) > 0
		for _, c := range o.containers {
			taken[c] = true
		}
		all = append(all, o)
	}
	return all
}

// wholePod returns the sandbox of an object that is blamed with its containers, if it
// hangs with every container in it that has not ended; the object alone if not.
func (v *view) wholePod(h *answers.Hang, at map[answers.Target]*answers.Hang) hungObject {
	alone, id := hungObject{Hang: h}, v.sandbox(h.Flight)
	sandbox := at[answers.Target{Op: call.PodSandboxStatus, ID: id}]
	if sandbox == nil || id == "" {
		return alone
	}
	whole := hungObject{Hang: sandbox}
	for _, c := range v.containersIn(sandbox.Pod) {
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
	if h != sandbox && !slices.Contains(whole.containers, h) { // no list has it
		return alone
	}
	return whole
}

// containersIn returns the containers that are listed for a pod.
func (v *view) containersIn(ref pleg.PodRef) []pleg.Container {
	if p := v.Pod(ref); p != nil {
		return seen(p).Containers
	}
	return nil
}

// sandbox returns the id of the sandbox that an object is or lies in, by the lists or
// else by what the node shows.
func (v *view) sandbox(f call.Flight) string {
	if f.Op == call.PodSandboxStatus {
		return f.ID
	}
	if o, known := v.listed(f.ID); known {
		return o.SandboxID
	}
	if o, known := v.shown(f.ID); known && o.SandboxID != "" {
		return o.SandboxID
	}
	for _, p := range v.evidence.Processes.Containers[f.ID] {
		for _, shim := range v.evidence.Processes.Shims {
			if shim.PID == p.Parent {
				return shim.Sandbox
			}
		}
	}
	return ""
}

// notListed says by what an object is known that no list has.
func (v *view) notListed(f call.Flight) string {
	if p := v.Pod(f.Pod); p != nil {
		return ""
	}
	o, known := v.shown(f.ID)
	if !known || o.From == "" {
		return ""
	}
	return "no list has it; the node shows it by " + o.From
}

// summary says what hangs, and for how long.
func (o hungObject) summary(v *view) string {
	who := v.calledBy(o.Flight)
	switch n := len(o.containers); n {
	case 0:
	case 1:
		who += " and ContainerStatus of its container"
	default:
		who += " and ContainerStatus of its " + count(n, "container")
	}
	return fmt.Sprintf("%v of %s %s", o.Op, who, v.unanswered(o.Hang))
}

// also names the containers that hang with their sandbox.
func (o hungObject) also() string {
	if len(o.containers) == 0 {
		return ""
	}
	var names []string
	for _, c := range o.containers {
		names = append(names, fmt.Sprintf("%s (%s)", c.Container, pleg.ShortID(c.ID)))
	}
	return "hangs as well: ContainerStatus of " + join(names) + "; they share a shim"
}

// name names one trouble: what hangs alike in the pods of one owner.
func (o hungObject) name() group { return groupOf(o.Object(), manner{op: o.Op.String()}) }

func (o hungObject) subject() Subject { return asking(o.Flight) }

// hungLine is what is said of one of several.
func (v *view) hungLine(o hungObject) string { return v.hangLine(o.Hang) }

// objectsHung is about one object, or about those of several pods of one owner, of
// which the first is the worst.
func (v *view) objectsHung(alike []hungObject) Finding {
	o := alike[0]
	h := o.Hang
	f := Finding{
		ID: InspectHung, Severity: v.worstOf(alike), Since: h.Since,
		Summary: o.summary(v),
		Subject: o.subject(),
		Next:    v.objectSteps(h.Flight),
	}
	f.say(v.hangLine(h))
	f.say(v.lockLines(waits.ObjectKey(h.Object()))...)
	f.say(o.also(), v.countdown(h), v.deadline(h), v.meanwhile(h), v.neighbours(), v.notListed(h.Flight))
	f.say(v.processes(h.Flight)...)
	if len(alike) > 1 {
		f.Summary = fmt.Sprintf("%v of %s: no answer, of the first for %s", o.Op, podsOf(alike), going(v.lasted(h)))
		f = about(f, alike, v.hungLine)
	}
	return f.withChain(v, nodesOf(alike)...)
}

// nodesOf returns what findings about objects are about in the graph.
func nodesOf(all []hungObject) (nodes []string) {
	for _, o := range all[:min(len(all), membersMost)] {
		nodes = append(nodes, waits.ObjectKey(o.Object()), waits.CallKey(o.Op, o.ID))
	}
	return nodes
}

func (v *view) worstOf(all []hungObject) (worst Severity) {
	for _, o := range all {
		worst = max(worst, v.severity(o.Hang))
	}
	return worst
}

// neighbours says how many objects a sweep found to be fine.
func (v *view) neighbours() string {
	w := v.FreshSweep()
	if w == nil || w.Done == 0 {
		return ""
	}
	return fmt.Sprintf("%s of %s asked for were answered, each within %s", thousands(answeredIn(w)), count(w.Done, "object"), span(w.Timeout))
}

// countdown says when the kubelet will call PLEG unhealthy because of a call
// that holds up its relist; empty for a call that holds up nothing.
func (v *view) countdown(h *answers.Hang) string {
	if !h.Out && gaveUp(h.Err) {
		return fmt.Sprintf("the runtime itself gives up after %s, and a relist waits for that", span(h.Took))
	}
	if !h.Out || h.By != call.ByRelist {
		return fmt.Sprintf("a relist that asks for it waits up to %s for the answer, and sees nothing else meanwhile", span(v.Timeout))
	}
	if left := v.untilUnhealthy(); left > 0 {
		return fmt.Sprintf("unhealthy in %s if this call does not return", going(left))
	}
	if v.endsInTime() {
		return fmt.Sprintf("this relist ends in %s, at the deadline of its calls; PLEG stays healthy, this pod's events are held back, and all others are late: each relist waits as long",
			going(v.Phase.EndsBy.Sub(v.At)))
	}
	return ""
}

// gaveUp reports whether an error of a call that ran out of time is the runtime's own:
// it waits less long for what is behind it than its client does.
func gaveUp(err error) bool {
	e, ok := errors.AsType[*call.Error](err)
	return ok && e.Why == call.Theirs && e.Text != ""
}

// deadline says what becomes of a call of a relist before PLEG is unhealthy.
func (v *view) deadline(h *answers.Hang) string {
	left := v.Timeout - h.Took
	if !h.Out || h.By != call.ByRelist || left <= 0 || left >= v.untilUnhealthy() || v.endsInTime() {
		return ""
	}
	return fmt.Sprintf("its deadline ends it in %s; the relist then goes on, and the next one asks again", going(left))
}

// objectSteps returns what to do about one object, the runtime's restart last.
func (v *view) objectSteps(f call.Flight) []Step {
	values := Values{"id": short(f.ID)}
	if f.Op == call.PodSandboxStatus {
		values["ofSandbox"] = one("yes")
	}
	worst, found := v.worst(f.ID)
	if found {
		values["pid"] = pids(worst)
	}
	steps := v.advise("object.hangs", values)
	if shim, ok := v.shim(f.ID, v.sandbox(f)); ok {
		goOn := v.letGoOn(shim, shim.Container)
		if len(goOn) == 0 && shim.Container == "" && !v.isCRIO() { // a conmon's end ends nothing
			goOn = v.endShim(shim)
		}
		steps = append(steps, goOn...)
		if shim.State == evidence.Traced { // a restart would end its containers, and is not needed
			return steps
		}
	}
	if found && v.isCRIO() && waits.InKernel(&worst) && waits.ForServer(&worst) { // a conmon does not let go of it for a restart
		return append(steps, stuckProcess{Process: worst}.freed(v)...)
	}
	return v.runtimeSteps(steps...)
}

func (v *view) restHung(rest []hungObject) Finding {
	f := restOf(InspectHung, more(len(rest), "object")+" gave no answer", v.advise("rest.hangs", nil), rest, v.hungLine)
	f.Since, f.Severity, f.Nodes = rest[0].Since, v.worstOf(rest), nodesOf(rest)
	return f
}
