package diagnose

import (
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
)

// ProcessStuck is a process of the runtime, or of a container, that stands still.
const ProcessStuck ID = "process-stuck"

// stuckMost is how many processes get their own finding.
const stuckMost = 10

// A process of the runtime or of a container is stopped, frozen, traced or in the kernel, and stays like that.
// Processes that wait for one file system share one finding. A process behind a status call that hangs is evidence for
// the finding about that call; but a shim there is the cause.
var processStuck = Rule{
	ID: ProcessStuck, Hangs: true, PodAlone: true, Most: stuckMost, ByOwner: true,
	Find: func(f *Facts, report func(Match)) {
		groups, single := f.byFileSystem(f.stuckProcesses())
		for _, g := range groups {
			report(f.waitTogether(g))
		}
		for i := range single {
			report(f.stuckAlone(&single[i]))
		}
	},
}

// waitTogether returns a match about all processes that wait for one file system.
func (f *Facts) waitTogether(g []stuckProcess) Match {
	first := g[max(0, slices.IndexFunc(g, func(s stuckProcess) bool { return s.Mount.Type != "" }))].Process
	m, _ := f.waits.FileSystem(f.waits.Find(g[0].node.Key))
	found := Match{Variant: "file-system", Alone: true, Group: "file system " + m.Device, Values: Values{"who": whoWaits(g), "mount": fileSystem(m)}}
	longest, runtime := &first, -1
	for i := range g {
		found.Severity = max(found.Severity, g[i].severity)
		found.Nodes = append(found.Nodes, g[i].node.Key)
		found.Members = append(found.Members, Member{Subject{ObjectRef: g[i].owner}, Values{"line": f.say(g[i].line())}})
		if g[i].For > longest.For {
			longest = &g[i].Process
		}
		if g[i].role == "runtime" {
			runtime = i
		}
	}
	found.Values["lasting"], found.Since = lasting(longest), f.at().Add(-longest.For)
	switch frozen := doesAlone(first) == evidence.OnFrozenFS; {
	case frozen && first.Mount.Type == "": // its call named a path, and nobody can see that path
		found.Variant = "frozen-somewhere"
	case frozen:
		found.Values["frozen"] = "yes"
	}
	if runtime >= 0 {
		pod := f.podOfShare(g[runtime].Process)
		found.Values["ofPod"] = f.ofPod(m)
		if found.Severity == Warning && !slices.ContainsFunc(g, func(s stuckProcess) bool { return s.role != "runtime" && s.owner.Pod != pod }) {
			found.Subject.Pod = pod
		}
	}
	found.Chain = f.awaited(g[0])
	found.Nodes = append(found.Nodes, waits.Key(waits.Mount, m.Device)) // other processes that wait for it are an effect
	found.Of = waitedFor{m, first}
	return found
}

// A waitedFor is a file system, and the process that shows it best among those that wait for it.
type waitedFor struct {
	evidence.Mount
	by evidence.Process
}

func (waitedFor) say(*Facts, *Match) {} // all values are set already

func (w waitedFor) draw(f *Facts, m *Match) {
	m.Lines = map[string][]line{"disk": f.diskLines(w.Mount)}
	m.Steps = map[string][]Step{"+free": append(f.advise("process.all", nil), f.freeingMount(w.by, w.Mount)...)}
}

// whoWaits returns the processes that wait, in words: containerd (pid 9), 2 shims, 1 process wait.
func whoWaits(g []stuckProcess) string {
	var who []string
	for _, s := range g {
		if s.role == "runtime" {
			name := theProcess(s.Process)
			if s.severity == Warning {
				name = "a thread of " + name
			}
			who = append(who, name)
			break
		}
	}
	for _, role := range []string{"shim", "conmon", "conmonrs", "helper", "process"} {
		n := 0
		for _, s := range g {
			if s.role == role {
				n++
			}
		}
		if n > 0 {
			who = append(who, count(n, role))
		}
	}
	if len(g) == 1 {
		return join(who) + " waits"
	}
	return join(who) + " wait"
}

// awaited reports whether a relist or a call waits for a process, or the process is a helper, so that there is a chain
// to show.
func (f *Facts) awaited(s stuckProcess) bool {
	path := f.waits.Through(f.waits.Find(s.node.Key))
	kind := f.waits.Nodes[path[0].Place].Kind
	return kind == waits.Relist || kind == waits.Call || s.role == "helper"
}

// stuckAlone returns a match about one process.
func (f *Facts) stuckAlone(s *stuckProcess) Match {
	return Match{
		Severity: s.severity, Subject: Subject{ObjectRef: s.owner}, Alike: alike(s.node, s.word(), s.State.String()), Nodes: []string{s.node.Key}, Of: s,
	}
}

func (s *stuckProcess) say(f *Facts, m *Match) {
	m.Values = Values{"line": f.say(s.line())}
	m.Chain = f.awaited(*s)
}

func (s *stuckProcess) draw(f *Facts, m *Match) {
	m.Values = m.Values.with(s.values(f))
	m.Lines = map[string][]line{"process": {describe("its "+s.word(), s.Process)}, "unseen": f.outOfReach(*s)}
	free := f.freeProcess(s.Process, s.owner.ID, s.Thread)
	if m.Members != nil { // each member has its own line, and the steps free only the first
		delete(m.Lines, "process")
		free = append(f.advise("process.all", nil), free...)
	}
	m.Steps = map[string][]Step{"+free": free}
}

func (s *stuckProcess) values(f *Facts) Values {
	p := s.Process
	v := Values{"process": s.name(), "word": s.word(), "state": p.State, "tracer": tracerOf(p.Tracer), "lasted": lasting(&p)}
	if s.role == "runtime" && s.severity == Warning {
		v["thread"], v["among"] = "a thread of ", amongOf(p.Among, f.ofPod)
	}
	if p.For >= time.Second {
		v["lasting"], v["at"] = lasting(&p), f.at().Add(-p.For)
	}
	if p.Mount.Type == "" && doesAlone(p) == evidence.OnFrozenFS {
		v["frozen"] = "yes"
	}
	if s.role == "helper" && p.Age > 0 {
		v["begun"] = age(p.Age)
	}
	if s.others > 0 {
		v["others"] = s.others
	}
	return v
}

// outOfReach returns a line about what happens to the containers of a shim or a conmon while it does nothing. The
// runtime asks a shim to stop the containers and to run something in them. With a conmon the runtime does that itself.
func (f *Facts) outOfReach(s stuckProcess) []line {
	if s.role != waits.MonitorWord(&s.Process) {
		return nil
	}
	var names []string
	for _, c := range f.containersOf(s.owner.Pod) {
		if c.State == pleg.Running && (c.SandboxID == s.owner.ID || c.SandboxID == "" || c.ID == s.owner.ID) && len(names) < stuckMost {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	v := Values{"containers": names}
	if s.role == "shim" {
		v["asked"] = "yes"
	}
	return []line{lineOf("end-unseen", v)}
}

// line returns a line about a process among others.
func (s stuckProcess) line() line {
	if s.role == "runtime" {
		return describe(s.role, s.Process)
	}
	return describe(s.word()+" of "+called(s.owner), s.Process)
}

// word returns the word for the process: shim, conmon, runc update.
func (s stuckProcess) word() string {
	if s.role == "helper" {
		return waits.HelperName(&s.Process)
	}
	return s.role
}

// name returns in words which process it is, and whose.
func (s stuckProcess) name() string {
	switch {
	case s.role == "runtime":
		return fmt.Sprintf("the runtime, pid %d (%s),", s.PID, s.Command)
	case s.role != "process":
		return fmt.Sprintf("the %s of %s, pid %d,", s.word(), called(s.owner), s.PID)
	case s.owner.Pod == (pleg.PodRef{}):
		return fmt.Sprintf("pid %d (%s) of %s,", s.PID, s.Command, called(s.owner))
	}
	return fmt.Sprintf("pid %d (%s) of %s", s.PID, s.Command, called(s.owner))
}
