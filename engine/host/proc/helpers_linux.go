package proc

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// helperAge is the age from which on a child of a runtime or a shim is asked what it does:
	// nearly all end before. A program with the name of an OCI runtime is asked at once.
	helperAge = time.Second

	// helperWaits is the age from which on it is found out what a helper waits for, of at most
	// helpersWaited in a look: a thousand may hang.
	helperWaits   = 5 * time.Second
	helpersWaited = 30
	// helperThreads is how many threads of a helper are asked what they wait for.
	helperThreads = 16

	// commLength is how much of a program's name the kernel keeps.
	commLength = 15
)

// findHelpers adds to what was seen the processes that the runtime and its shims have called,
// what those have called in turn, and all with the name of an OCI runtime.
func (l *Look) findHelpers() {
	callers, others := map[int]*process{}, map[int]bool{} // others: of another runtime
	for _, p := range l.seen {
		role := p.identity.roleIn(without(p.member.ids, l.w.node))
		if role != shim && !(role == daemon && slices.Contains(knowledge.Runtimes, p.comm)) {
			continue
		}
		if role == daemon && l.ownerOf(p) != another || role == shim && (l.isOurs(p.identity.socket) || p.identity.mayServe(l.w.Endpoint)) {
			callers[p.of] = p
		} else {
			others[p.of] = p.identity.socket != ""
		}
	}
	for open := -1; open != len(l.children); {
		open = len(l.children)
		l.children = slices.DeleteFunc(l.children, func(c *process) bool {
			caller := callers[c.stat.PPID]
			if caller != nil && l.isHelper(c, caller) {
				callers[c.of] = c
				l.seen = append(l.seen, c)
			}
			return caller != nil || others[c.stat.PPID]
		})
	}
	for _, c := range l.children {
		if c.identity.role == helper {
			l.seen = append(l.seen, c)
		} else if c.settled {
			l.w.bystanders[c.of] = l.w.looks
		}
	}
	slices.SortFunc(l.seen, func(a, b *process) int { return cmp.Compare(a.of, b.of) })
}

// isHelper reports whether a child of a runtime, a shim or a helper is a helper. It adds what
// the caller knows to its identity.
func (l *Look) isHelper(c, caller *process) bool {
	id, from := &c.identity, caller.identity
	if id.role != helper && !c.asked {
		if age := l.age(c); age > 0 && age < helperAge && from.role != helper {
			return false
		}
		found, known := l.askHelper(c, from.role)
		if !known {
			return false
		}
		c.asked, *id = c.settled, found
	}
	if id.role != helper {
		return false
	}
	id.ours = from.role != helper || from.ours
	id.container, id.sandbox = cmp.Or(id.container, from.container), from.sandbox
	id.pod = id.pod.Or(from.pod)
	return true
}

// askHelper finds out by its arguments and its environment what a process does; known is
// false if they cannot be read. The program of an OCI runtime may have any name, such as
// that of a script around it: the verb and the id in its arguments count. A process that a
// helper called is a helper too.
func (l *Look) askHelper(c *process, caller role) (id identity, known bool) {
	args, err := ask(l, c.task, "cmdline", c.CmdLine)
	if err != nil {
		return id, false
	}
	container, verb, name := idAmong(args), verbAmong(args), ""
	if len(args) > 0 {
		name = path.Base(args[0])
	}
	program := c.comm
	if len(c.comm) == commLength && strings.HasPrefix(name, c.comm) { // cut by the kernel
		program = name
	}
	switch {
	case container != "" && verb != "":
		return identity{role: helper, container: container, verb: verb, program: program}, true
	case knowledge.ProgramLimit(c.comm) == 0 && knowledge.ProgramLimit(name) > 0: // it has renamed itself
		return identity{role: helper, verb: name, program: program}, true
	case knowledge.ProgramLimit(c.comm) > 0, caller == helper:
		return identity{role: helper, verb: program, program: program}, true
	case caller == daemon:
		environ, err := ask(l, c.task, "environ", c.Environ)
		return pluginOf(environ), err == nil
	}
	return id, true
}

// pluginOf reads the environment of a network plugin, where CNI has all of a call (CNI spec
// 1.0, section 2). Without a role it is none.
func pluginOf(environ []string) (id identity) {
	vars := map[string]string{}
	for _, line := range environ {
		name, value, _ := strings.Cut(line, "=")
		vars[name] = value
	}
	for arg := range strings.SplitSeq(vars["CNI_ARGS"], ";") { // of Kubernetes: K8S_POD_NAME and so on
		name, value, _ := strings.Cut(arg, "=")
		vars["CNI_ARGS "+name] = value
	}
	if vars["CNI_COMMAND"] == "" {
		return id
	}
	pod := pleg.PodRef{Namespace: vars["CNI_ARGS K8S_POD_NAMESPACE"], Name: vars["CNI_ARGS K8S_POD_NAME"]}
	return identity{role: helper, verb: "CNI " + vars["CNI_COMMAND"], container: vars["CNI_CONTAINERID"], pod: pod}
}

// addHelper completes a helper. If it has run for a while and should not, it says where it
// sleeps: of its threads the first counts that does not just wait for another one.
func (l *Look) addHelper(e *evidence.Process, p *process) {
	id := p.identity
	e.Container, e.Sandbox, e.Pod, e.Verb, e.Own = id.container, id.sandbox, id.pod, id.verb, id.ours
	e.Command = cmp.Or(id.program, e.Command)
	mayLast := slices.Contains(ociVerbs, e.Verb) && e.HelperLimit() == 0
	if e.Age < helperWaits || mayLast || e.State.Stuck() || l.helpers >= helpersWaited {
		return
	}
	l.helpers++
	t := l.thread(p.task, p.now.thread)
	e.Wchan, e.Stack = l.sleep(t)
	if waitsForThread(e.Wchan) && p.stat.NumThreads > 1 {
		a := fetchAll(l, []fileAt{l.tasksOf(p)}, readNumbers)[0]
		waits := slices.IndexFunc(a.Value[:min(len(a.Value), helperThreads)], func(number int) bool {
			t = l.thread(p.task, number)
			wchan, stack := l.sleep(t)
			if wchan == "" || waitsForThread(wchan) {
				return false
			}
			e.Thread, e.Wchan, e.Stack = number, wchan, stack
			return true
		})
		if waits < 0 {
			return
		}
	}
	if e.WaitsIn(evidence.ServerFunction) { // with FUSE a thread sleeps as if it waited for input
		w := l.findWait(t, p, e)
		e.Mount, e.Among, e.Servers = w.mount, w.among, w.servers
	}
}

// waitsForThread reports whether a thread that sleeps in a function of the kernel waits for
// another thread, or for time to pass.
func waitsForThread(wchan string) bool { return knowledge.WaitsFor("thread", wchan) }
