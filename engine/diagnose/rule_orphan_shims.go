package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/pleg"
)

// OrphanShims is what goes on without the runtime: shims of which it lists no sandbox, and containers that run though they
// are listed as ended, or not listed.
const OrphanShims ID = "orphan-shims"

const (
	// lostLeast is how many sandboxes a runtime must have lost together, and half of all, for its folders to be what it lost.
	lostLeast = 2
	// leftLasting is how long before a look a container must have ended for what the look found to be left: the runtime kills
	// all of it, and waits for that. It is also how long lists must have shown a container that runs without a ready sandbox:
	// the two lists are not made at the same moment, and a pod that is taken down may look so.
	leftLasting = 10 * time.Second
	// endTakes is how soon CRI-O knows of an end: the conmon writes it into a folder that the runtime watches.
	endTakes = time.Second
)

// Something goes on without the runtime.
var orphanShims = Rule{
	ID: OrphanShims, Needs: Lists, Most: 10, Word: Degraded,
	Find: func(f *Facts, report func(Match)) {
		if f.Look.Processes.Missing == "" && f.listsAreWhole() {
			if orphans, before, listed := f.orphans(); len(orphans) > 0 {
				report(f.orphaned(orphans, before, listed))
			}
		}
		if pods := f.unlistedPods(); len(pods) > 0 {
			report(f.unlistedRun(pods))
		}
		crio := f.isCRIO() && f.seesShims()
		for p := range f.podsWith(func(p *podFacts) bool { return p.exited > 0 || p.orphaned || crio }) {
			l, is := f.endedAlive(p)
			if !is {
				l, is = f.withoutSandbox(p)
			}
			if !is && crio {
				l, is = f.withoutConmon(p)
			}
			if is {
				report(f.leftMatch(p, l))
			}
		}
	},
}

// orphaned is about shims without a sandbox. Lists from which something had to be left out accuse nobody.
func (f *Facts) orphaned(orphans []orphan, before, listed int) Match {
	live := slices.DeleteFunc(slices.Clone(orphans), func(o orphan) bool { return len(o.below) == 0 || o.origin == ofPresent })
	lost := len(live) >= lostLeast && 2*len(live) >= before
	m := Match{Severity: Warning, Alone: true, Group: "shims", Brief: "orphan shims", Lines: map[string][]line{}, Steps: map[string][]Step{}, Values: Values{
		"shims": len(orphans), "sandboxes": f.Counts.Sandboxes, "containers": many{f.Counts.Containers, "container"},
	}}
	if len(orphans) == 1 {
		m.Subject.ObjectRef, m.Variant, m.Values["pid"] = orphans[0].LooksAfter(), "single", pid(orphans[0].PID)
	}
	for i, o := range orphans {
		if i == namedShims {
			m.Lines["shims"] = append(m.Lines["shims"], line{"and {more} more", Values{"more": many{len(orphans) - i, "shim"}}})
			break
		}
		m.Lines["shims"] = append(m.Lines["shims"], lineOf("orphan", Values{
			"process": o.Process, "sandbox": o.Sandbox, "age": o.Age, "state": o.State, "below": o.living(),
		}))
	}
	if lost || slices.ContainsFunc(live, orphan.forgotten) {
		f.forgot(&m, live, before, listed, lost)
	} else {
		m.Steps["+end"] = f.endOrphan(orphans)
	}
	return m
}

// forgot makes a match one about sandboxes that live and that the runtime has forgotten: to end them would end the work of
// the node, and a start that can read them brings them back.
func (f *Facts) forgot(m *Match, live []orphan, before, listed int, lost bool) {
	m.Variant = "forgotten"
	v := Values{"program": f.program(), "before": many{before, "sandbox"}, "lists": "lists none"}
	if listed > 0 {
		v["lists"] = fmt.Sprintf("lists only %d", listed)
	}
	if slices.ContainsFunc(live, orphan.forgotten) {
		v["began"] = age(f.byNow(f.youngRuntime()).Age)
	}
	right, then := "make readable what its log names, as room on its disk", "it can read them"
	if lost {
		m.Severity, v["lost"] = Critical, "yes"
		right, then = "put root and state of its configuration right, or mount the disk that is not there", "its folders are right"
	}
	m.Values = m.Values.with(v)
	data, state := f.folders()
	w := Values{"data": data, "state": state, "shimPid": pids(live[0].Process), "right": right}
	if runtime := f.youngRuntime(); runtime.PID != 0 {
		w["runtimePid"] = pids(runtime)
	}
	steps := f.advise("runtime.other-folders", w)
	if !lost {
		steps = append(steps, f.makingFit()...)
	}
	m.Steps["+end"] = append(steps, f.restartWhen(then, "reads its sandboxes again")...)
}

// folders returns the runtime's own: what it keeps, and what its shims work in.
func (f *Facts) folders() (data, state string) {
	of := f.flavours()[0]
	return cmp.Or(f.Look.Disk.Path, of.Data), cmp.Or(f.Look.State.Path, of.State)
}

// endOrphan returns what to do about shims that are left over. Only one that is known to hold nothing is ended, or what this
// runtime has begun and removed.
func (f *Facts) endOrphan(orphans []orphan) []Step {
	var shims []evidence.Process
	for _, o := range orphans[:min(len(orphans), namedShims)] {
		shims = append(shims, o.Process)
	}
	v := Values{"shims": pids(shims...), "sandbox": short(orphans[0].Sandbox)}
	end := slices.IndexFunc(orphans, func(o orphan) bool { return !o.mayLive })
	if alone := len(orphans) == 1 && orphans[0].origin == ofPresent && len(orphans[0].below) > 0; end < 0 && alone {
		end = 0
		v["below"], v["living"] = pids(orphans[0].below...), orphans[0].living()
	}
	if end >= 0 {
		v["pid"], v["start"] = pids(orphans[end].Process), startOf(orphans[end].Start)
	}
	return f.advise("shim.left-over", v)
}

// living names what lives below an orphan.
func (o orphan) living() string {
	var names []string
	for _, p := range o.below[:min(len(o.below), namedShims)] {
		names = append(names, theProcess(p))
	}
	if n := len(o.below) - len(names); n > 0 {
		names = append(names, fmt.Sprintf("%d more", n))
	}
	switch {
	case len(names) > 0:
		return join(names)
	case o.mayLive:
		return "whatever could not be seen"
	}
	return "nothing lives"
}

// unlistedRun is about containers that live and that no list has, below the shim of a sandbox that is listed as ready. A
// runtime that begins while its disk is full drops those whose state it cannot read.
func (f *Facts) unlistedRun(pods []unlisted) Match {
	n := 0
	m := Match{Variant: "unlisted", Severity: Warning, Alone: true, Group: "unlisted"}
	for _, u := range pods {
		n += len(u.containers)
		m.Members = append(m.Members, Member{Subject{ObjectRef: u.sandbox.ObjectRef}, Values{"line": u.text()}})
	}
	m.Count = len(pods)
	m.Values = Values{"containers": many{n, "container"}, "pods": many{len(pods), "pod"}, "live": "live", "program": f.program()}
	if n == 1 {
		m.Values["live"] = "lives"
	}
	if len(pods) == 1 {
		m.Subject.ObjectRef = pods[0].sandbox.ObjectRef
	}
	if slices.ContainsFunc(pods, unlisted.forgotten) {
		m.Values["at"] = f.Look.At.Add(-f.youngRuntime().Age)
	}
	m.Steps = map[string][]Step{"+end": f.unlistedSteps(pods)}
	return m
}

// unlistedSteps returns what to do about such containers. Only what the runtime as it runs now has begun is ended: a start
// that can read the others brings them back.
func (f *Facts) unlistedSteps(pods []unlisted) []Step {
	data, _ := f.folders()
	v := Values{"data": data}
	begun := slices.ContainsFunc(pods, unlisted.forgotten)
	if !begun && !slices.ContainsFunc(pods, func(u unlisted) bool { return u.origin == ofUnknown }) {
		v["pid"], v["pod"] = pids(pods[0].containers...), pods[0].sandbox.Path()
		if len(pods[0].containers) == 1 { // a command compares one number
			v["start"] = startOf(pods[0].containers[0].Start)
		}
		return f.advise("container.forgotten", v)
	}
	steps := append(f.advise("container.forgotten", v), f.makingFit()...)
	for _, s := range f.restart("reads them again") {
		if !begun {
			s = s.after("it began after them, by the times of ps -o lstart")
		}
		steps = append(steps, s)
	}
	return steps
}

// A left is what of a pod runs on.
type left struct {
	variant    string
	sandbox    string // that is not ready, or not listed; empty if that is not the matter
	containers []pleg.Container
	processes  []evidence.Process // of those, if they live
	since      time.Duration      // for how long, if lists show that
}

// endedAlive returns the containers of a pod that are listed as exited, and of which the last look found processes that live.
func (f *Facts) endedAlive(p *engine.Pod) (l left, is bool) {
	l.variant = "left"
	for _, c := range byName(seenOf(p).Containers) {
		if c.State != pleg.Exited || !f.Look.Processes.Live(c.ID) {
			continue
		}
		status := p.Status.Lookup().Container(c.ID)
		if status == nil || status.FinishedAt.IsZero() || f.endedFor(status.FinishedAt) < leftLasting {
			continue
		}
		found := f.Look.Processes.Containers[c.ID]
		l.containers, is = append(l.containers, c), true
		l.processes = append(l.processes, found[slices.IndexFunc(found, evidence.Process.Lives)])
	}
	return l, is
}

// endedFor returns for how long before the look a container had ended, at the least: the clock may have been set between.
func (f *Facts) endedFor(at time.Time) time.Duration {
	ended := min(f.Look.At.Sub(at), f.at().Sub(at))
	if c := f.Look.Clock; c.Steps > 0 {
		ended = min(ended, c.StepAge)
	}
	return ended
}

// withoutSandbox returns the containers of a pod that run in a sandbox that has ended, or that the runtime has lost. While an
// engine runs, lists show for how long. For check the runtime must have said that a container runs after the lists.
func (f *Facts) withoutSandbox(p *engine.Pod) (l left, is bool) {
	l.variant = "not-ready"
	for _, c := range byName(seenOf(p).Orphans()) {
		if f.Look.Processes.Missing != "" || f.Look.Processes.Live(c.ID) { // else it is a ghost, or elsewhere
			l.containers = append(l.containers, c)
		}
	}
	if len(l.containers) == 0 {
		return l, false
	}
	l.sandbox = l.containers[0].SandboxID
	since := answers.Later(p.Orphaned, f.Resumed)
	if !seenOf(p).HasSandbox(l.sandbox) {
		_, listed := f.listed(l.sandbox)  // with another pod
		made := l.containers[0].CreatedAt // zero if the runtime does not say: it may be from between the two lists
		if listed || !f.listsAreWhole() || made.IsZero() || f.Health.ListedAt.Sub(made) < leftLasting {
			return l, false
		}
		l.variant = "no-sandbox"
	}
	if f.once() {
		return l, !slices.ContainsFunc(l.containers, func(c pleg.Container) bool {
			status := p.Status.Lookup().Container(c.ID)
			return status == nil || status.State != pleg.Running // the pod is being taken down
		})
	}
	l.since = f.at().Sub(since)
	return l, !p.Orphaned.IsZero() && l.since >= leftLasting
}

// withoutConmon returns the containers of a pod of CRI-O that live and have no conmon, while others have one: nobody would see
// their end.
func (f *Facts) withoutConmon(p *engine.Pod) (l left, is bool) {
	l.variant = "no-conmon"
	for _, c := range byName(seenOf(p).Containers) {
		if c.State != pleg.Running || f.hasConmon(c.ID) || len(f.conmons) == 0 {
			continue
		}
		if process, found := f.worstOf(c.ID); found && process.Lives() && (process.Age > orphanGrown || f.runsOn(p, c.ID)) {
			l.containers, is = append(l.containers, c), true
		}
	}
	return l, is
}

// runsOn reports whether the runtime said some time after the last look that a container runs: it does not say so of what is
// left when a conmon ends.
func (f *Facts) runsOn(p *engine.Pod, id string) bool {
	if !f.once() {
		return f.Health.ListedAt.After(f.Look.At.Add(endTakes))
	}
	status := p.Status.Lookup().Container(id)
	return status != nil && status.State == pleg.Running && p.InspectedAt.After(f.Look.At.Add(-f.Look.Took))
}

// byName returns containers by name: a runtime lists them in another order each time.
func byName(all []pleg.Container) []pleg.Container {
	return slices.SortedFunc(slices.Values(all), func(a, b pleg.Container) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
}

func (f *Facts) leftMatch(p *engine.Pod, l left) Match {
	o := evidence.ContainerOf(p.PodRef, &l.containers[0]).ObjectRef
	m := Match{Variant: l.variant, Severity: Warning, Subject: Subject{ObjectRef: o}}
	m.Say = func(m *Match) {
		m.Values = f.leftValues(o, l)
		m.Values["line"] = f.say(line{knowledge.FindingOf(string(OrphanShims)).Variant(l.variant).Summary, m.Values})
	}
	m.Draw = func(m *Match) { f.drawLeft(m, l) }
	return m
}

// isNot says what a sandbox is whose containers run on.
func (l left) isNot() string {
	return map[string]string{"not-ready": "not ready", "no-sandbox": "not listed"}[l.variant]
}

func (f *Facts) leftValues(o pleg.ObjectRef, l left) Values {
	v := Values{"object": o.Path(), "id": short(l.containers[0].ID), "sandbox": short(l.sandbox), "pid": pids(l.processes...)}
	if l.since > 0 {
		v["since"] = age(l.since)
	} else if l.sandbox != "" {
		v["inSandbox"] = "in a sandbox that is " + l.isNot()
	}
	if n := len(l.containers) - 1; n == 1 {
		v["more"] = ", and so is 1 more container of it"
	} else if n > 1 {
		v["more"] = fmt.Sprintf(", and so are %d more containers of it", n)
	}
	if len(l.processes) == 1 { // a command compares one number
		v["start"] = startOf(l.processes[0].Start)
	}
	return v
}

func (f *Facts) drawLeft(m *Match, l left) {
	m.Lines = map[string][]line{}
	for _, c := range l.containers {
		name := fmt.Sprintf("%s (%s)", cmp.Or(c.Name, "a container"), pleg.ShortID(c.ID))
		if l.sandbox != "" {
			m.Lines["containers"] = append(m.Lines["containers"], lineOf("in-sandbox", Values{"name": name, "sandbox": pleg.ShortID(l.sandbox), "is": l.isNot()}))
		} else if process, found := f.worstOf(c.ID); found {
			m.Lines["containers"] = append(m.Lines["containers"], f.describe(name+" has a process", process))
		}
	}
	if shim, found := f.shimOf(l.containers[0].SandboxID); found && l.variant != "not-ready" {
		m.Lines["shim"] = []line{f.describe("its shim", shim)}
		m.Values["inLog"] = shim.Sandbox
	}
}
