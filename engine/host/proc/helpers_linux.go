package proc

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

const (
	// helperAge is from when on a child of the runtime or of a shim is asked what it
	// does: nearly all have ended by then. Those that bear a runtime's name are at once.
	helperAge = time.Second
	// helperWaits is from when on it is found out what a helper waits for, and of how
	// many in one look: those that hang may be a thousand.
	helperWaits   = 5 * time.Second
	helpersWaited = 30
	// commLength is how much of a program's name the kernel keeps.
	commLength = 15
	// helperThreads is how many threads of a helper are asked what they wait for.
	helperThreads = 16
)

// A child is a process that is in no container and neither stays beside one nor is a
// daemon: it may be a helper.
type child struct {
	*tracked
	proc   procfs.Proc
	parent int
	age    time.Duration // 0 if that is not known
}

// findHelpers adds to what was seen what the runtime and its shims have called, what
// that has called in turn, and all that bears an OCI runtime's name. On a node where
// nothing lasts nobody is asked.
func (l *Look) findHelpers() {
	callers := map[int]sighting{}
	for _, s := range l.seen {
		if r := s.identity.roleIn(without(s.member.ids, l.node)); r == shim || r == daemon && slices.Contains(knowledge.Runtimes, s.comm) {
			callers[s.proc.PID] = s
		}
	}
	before := len(l.seen)
	for open := -1; open != len(l.children); {
		open = len(l.children)
		l.children = slices.DeleteFunc(l.children, func(c child) bool {
			caller, called := callers[c.parent]
			if !called || !l.sendsHelpers(caller) {
				return called && caller.identity.socket != "" // another runtime's
			}
			if l.isHelper(c, caller) {
				if s, there := l.seeHelper(c); there {
					callers[c.proc.PID] = s
				}
			}
			return true
		})
	}
	for _, c := range l.children {
		switch {
		case c.identity.role == runc:
			l.seeHelper(c)
		case c.settled:
			l.bystanders[c.proc.PID] = l.looks
		}
	}
	if len(l.seen) > before {
		slices.SortFunc(l.seen, func(a, b sighting) int { return cmp.Compare(a.proc.PID, b.proc.PID) })
	}
}

// sendsHelpers reports whether what a process has called may serve our runtime.
func (l *Look) sendsHelpers(s sighting) bool {
	switch s.identity.role {
	case daemon:
		return l.ownerOf(s) != another
	case shim:
		return l.isOurs(s.identity.socket) || s.identity.mayServe(l.endpoint)
	}
	return true // a helper itself
}

// seeHelper adds one to what was seen, unless it has ended.
func (l *Look) seeHelper(c child) (sighting, bool) {
	stat, err := Fetch(l, File{PID: c.proc.PID, Name: "stat"}, c.proc.Stat)
	if err != nil {
		return sighting{}, false
	}
	s := sighting{tracked: c.tracked, proc: c.proc, stat: stat, read: time.Now()}
	l.seen = append(l.seen, s)
	return s, true
}

// isHelper reports whether a process that was called by a runtime, a shim or a helper
// is a helper, and completes what is known of it by what its caller knows.
func (l *Look) isHelper(c child, caller sighting) bool {
	if c.identity.role != runc && !c.asked {
		if c.age > 0 && c.age < helperAge && caller.identity.role != runc {
			return false
		}
		id, known := l.askHelper(c, caller.identity.role)
		if !known {
			return false
		}
		c.asked, c.tracked.identity = c.settled, id
	}
	id, from := &c.tracked.identity, caller.identity
	if id.role != runc {
		return false
	}
	id.ours = from.role != runc || from.ours
	id.container, id.sandbox = cmp.Or(id.container, from.container), from.sandbox
	id.pod = id.pod.Or(from.pod)
	return true
}

// askHelper finds out what a process does by its arguments and its environment: CNI has
// all of a call to a plugin in that (CNI spec 1.0, section 2). A runtime's program may
// have any name, such as that of a script around it: then the verb and the id among its
// arguments tell. What a helper calls is one, too. It returns false if that cannot be
// read.
func (l *Look) askHelper(c child, caller role) (id identity, known bool) {
	args, err := Fetch(l, File{c.proc.PID, "cmdline", true}, c.proc.CmdLine)
	if err != nil {
		return id, false
	}
	container, verb, name := idAmong(args), verbAmong(args), ""
	if len(args) > 0 {
		name = path.Base(args[0])
	}
	program := c.comm
	if len(c.comm) == commLength && strings.HasPrefix(name, c.comm) { // which the kernel has cut
		program = name
	}
	switch {
	case container != "" && verb != "":
		return identity{role: runc, container: container, verb: verb, program: program}, true
	case knowledge.ProgramLimit(c.comm) > 0:
		return identity{role: runc, verb: program, program: program}, true
	case knowledge.ProgramLimit(name) > 0: // it has given itself another name
		return identity{role: runc, verb: name, program: program}, true
	case caller == runc:
		return identity{role: runc, verb: program, program: program}, true
	case caller == daemon:
		environ, err := Fetch(l, File{c.proc.PID, "environ", true}, c.proc.Environ)
		return pluginOf(environ), err == nil // else it has ended, or is another user's
	}
	return id, true
}

// pluginOf reads the environment of a network plugin; the verb is empty for what is
// none.
func pluginOf(environ []string) (id identity) {
	for _, line := range environ {
		switch name, value, _ := strings.Cut(line, "="); name {
		case "CNI_COMMAND":
			id.role, id.verb = runc, "CNI "+value
		case "CNI_CONTAINERID":
			id.container = value
		case "CNI_ARGS":
			for arg := range strings.SplitSeq(value, ";") {
				switch name, value, _ := strings.Cut(arg, "="); name {
				case "K8S_POD_NAMESPACE":
					id.pod.Namespace = value
				case "K8S_POD_NAME":
					id.pod.Name = value
				}
			}
		}
	}
	return id
}

// addHelper completes a helper and says where it sleeps if it has lasted for a while,
// unless it may.
func (l *Look) addHelper(p evidence.Process, s sighting) evidence.Process {
	id := s.identity
	p.Container, p.Sandbox, p.Pod, p.Verb, p.Own = id.container, id.sandbox, id.pod, id.verb, id.ours
	p.Command = cmp.Or(id.program, p.Command)
	mayLast := slices.Contains(runcVerbs, p.Verb) && p.HelperLimit() == 0
	if p.Age < helperWaits || mayLast || p.State.Stuck() || l.waited >= helpersWaited {
		return p
	}
	l.waited++
	p.Wchan, p.Stack = l.sleep(s)
	if !waitsForThread(p.Wchan) || s.stat.NumThreads < 2 {
		l.ofServer(&p, s)
		return p
	}
	threads, _ := Fetch(l, File{PID: p.PID, Name: "task"}, func() (procfs.Procs, error) { return l.proc.AllThreads(p.PID) })
	for _, t := range threads[:min(len(threads), helperThreads)] {
		s.now.thread = t.PID
		if wchan, stack := l.sleep(s); wchan != "" && !waitsForThread(wchan) {
			p.Thread, p.Wchan, p.Stack = t.PID, wchan, stack
			l.ofServer(&p, s)
			break
		}
	}
	return p
}

// ofServer completes a helper that sleeps with the mount for whose server it does: for FUSE
// a thread does so like one that waits for input.
func (l *Look) ofServer(p *evidence.Process, s sighting) {
	if evidence.ServerFunction(p.Wchan) || slices.ContainsFunc(p.Stack, evidence.ServerFunction) {
		p.Mount, p.Among = l.findMount(s, p)
		p.Mount = l.onNode(p.Mount, s)
		p.Servers = l.servers(append([]evidence.Mount{p.Mount}, p.Among...))
	}
}

// waitsForThread reports whether a thread that sleeps in that function of the kernel waits for
// another one, or for time to pass.
func waitsForThread(wchan string) bool { return knowledge.WaitsFor("thread", wchan) }
