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
	// helperAge is the age of a child of a runtime or a shim at which a look reads what it does: nearly all end
	// before. For a program with the name of an OCI runtime it is read at once.
	helperAge = time.Second

	// helperWaits is the age of a helper at which a look finds out what it waits for. A look does that for
	// helpersWaited helpers at most: a thousand may hang.
	helperWaits   = 5 * time.Second
	helpersWaited = 30
	// helperThreads is for how many threads of a helper a look reads what they wait for.
	helperThreads = 16

	// commLength is how much of a program's name the kernel keeps.
	commLength = 15
)

// findHelpers adds the helpers to the processes that were seen: those that the runtime and its shims have
// started, those that these have started in turn, and all others with the name of an OCI runtime, unless
// another runtime's shim or daemon has started them.
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

// isHelper reports whether a child of a runtime, a shim or a helper is a helper. It completes the child's
// identity with what is known of the caller.
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

// askHelper returns what a process does, by its arguments and its environment; known is false if they cannot be
// read. The program of an OCI runtime may have any name, such as that of a script around it, so the verb and
// the id in its arguments count. A process that a helper has started is a helper too.
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

// pluginOf returns the identity of a network plugin by its environment, where CNI puts all that belongs to a
// call (CNI spec 1.0, section 2). The identity of a process that is no plugin has no role.
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

// addHelper adds to e what a helper does, and for whom. If the helper is older than helperWaits and its job
// should not take so long, it also says where the helper sleeps: in the first of its threads that does not just
// wait for another thread.
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
