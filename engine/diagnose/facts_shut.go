package diagnose

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// A shut is the reason why nobody can connect to the runtime's socket, as the node shows it, and what to do about that.
type shut struct {
	known bool
	text  string
	steps []Step // none if only a start helps
}

const (
	// shimWait is how long containerd, when it starts, waits for a shim that does not answer. It waits for one shim
	// after the other, and nobody listens at its socket meanwhile. (containerd 1.6 to 2.4)
	shimWait = 10 * time.Second
	// startTakes is how long a start takes without these waits, with hundreds of pods.
	startTakes = 15 * time.Second
)

// shut returns what keeps the socket shut. It returns no reason if a runtime holds the socket.
func (f *Facts) shut() shut {
	at := &f.Look.Socket
	if at.Missing != "" || f.Endpoint == "" {
		return shut{}
	}
	held, startHeld := f.heldStart()
	switch {
	case at.Unlinked.PID != 0:
		return shut{true, f.socketAway() + ", and " + theProcess(at.Unlinked) + " answers no new connection", f.newSocket()}
	case at.Kind != "" && at.Kind != "socket":
		return shut{true, f.socketAway(), f.newSocket()}
	case f.proxy() != "":
		return shut{true, f.proxy(), f.behindProxy()}
	case f.heldByOther():
		return shut{true, "its socket is held by " + theProcess(at.Holder) + ", no runtime that is known", f.newSocket()}
	case at.Locked != "":
		v := Values{"file": at.Locked}
		if at.Locker.PID != 0 { // a process that has ended leaves its lock to a process that it started
			v = processValues(at.Locker).with(v)
		}
		return shut{true, fmt.Sprintf("%s waits for %s, which %s has locked", theProcess(at.Waits), at.Locked, theProcess(at.Locker)), f.advise("lock.held", v)}
	case at.Holder.PID == 0 && startHeld:
		return held
	case at.Holder.PID != 0, !f.Look.Processes.Whole(), len(f.runtimes()) > 0:
		return shut{}
	case at.Kind == "":
		return shut{true, "socket missing, process not running", nil}
	}
	return shut{true, "nobody listens at its socket, process not running", nil}
}

func theProcess(p evidence.Process) string {
	if p.PID == 0 {
		return "a process that has ended"
	}
	return fmt.Sprintf("%s (pid %d)", p.Command, p.PID)
}

// mayListen has the beginnings of the names of programs that may listen at a runtime's socket: runtimes, programs that
// contain a runtime, and programs that listen for a runtime until somebody connects.
var mayListen = slices.Concat(knowledge.Programs, []string{"systemd", "init", "plegtop"})

// heldByOther reports whether a program that is no runtime listens at the socket, and no call was ever answered there.
// A program that answered calls passes them on to the runtime.
func (f *Facts) heldByOther() bool {
	if slices.ContainsFunc(f.Calls, func(c answers.Calls) bool { return !c.LastOK.IsZero() }) {
		return false
	}
	by := f.Look.Socket.Holder
	may := slices.ContainsFunc(mayListen, func(name string) bool { return strings.HasPrefix(by.Command, name) })
	return by.PID != 0 && !may && !knowledge.IsProxy(by.Command)
}

// socketAway returns in words what is in the place of the runtime's socket.
func (f *Facts) socketAway() string {
	switch s := &f.Look.Socket; {
	case s.Kind == "":
		return "its socket is gone"
	case s.Kind != "socket":
		return "there is a " + s.Kind + " in the place of its socket"
	case s.Holder.PID != 0:
		return "its socket was replaced by that of " + theProcess(s.Holder)
	}
	return "nobody listens at the socket that is in the place of its own"
}

// newSocket returns the steps after which the runtime listens at its path again. The runtime makes its socket when it
// starts, even if a file is in that place. A folder, or another program that listens there, must go first.
func (f *Facts) newSocket() []Step {
	v := Values{"state": f.Look.State.Path}
	switch s := &f.Look.Socket; {
	case s.Holder.PID != 0:
		v = processValues(s.Holder).with(v)
		v["holderPid"], v["holder"] = v["pid"], theProcess(s.Holder)
	case s.Kind != "" && s.Kind != "socket":
		v["aside"] = socketPath(f.Endpoint) + ".old"
	}
	steps := f.advise("socket.replaced", v)
	if _, stuck := f.stuckRuntime(); stuck {
		return f.thenRestart(steps...)
	}
	steps = append(steps, f.makingFit()...)
	for _, s := range f.restart("creates its socket again") {
		if f.program() == knowledge.Containerd.Program && f.Look.State.Path != "" { // containerd forgets objects that have no folder
			s = s.after("the folders of the check are there")
		}
		steps = append(steps, s)
	}
	return steps
}

// proxy returns in words that a CRI proxy listens at the socket, and what is wrong with the runtime behind it. It is
// empty if no proxy listens, or if nothing is known to be wrong with the runtime.
func (f *Facts) proxy() string {
	holder := f.Look.Socket.Holder
	if !knowledge.IsProxy(holder.Command) {
		return ""
	}
	text := "the CRI proxy " + theProcess(holder) + " listens at its socket, and the runtime behind it "
	switch p, known := f.proxied(); {
	case !known && f.Look.Processes.Whole():
		return text + "does not run"
	case known && f.doing(&p, evidence.AsRuntime).StandsNow():
		return fmt.Sprintf("%s(%s) is %s", text, theProcess(p), p.State)
	}
	return ""
}

// proxied returns the runtime behind a proxy.
func (f *Facts) proxied() (evidence.Process, bool) {
	for _, p := range f.Look.Processes.Daemons {
		if slices.Contains(knowledge.Runtimes, p.Command) {
			return p, true
		}
	}
	return evidence.Process{}, false
}

// behindProxy returns the steps for the runtime behind a proxy. Nobody should end the proxy.
func (f *Facts) behindProxy() []Step {
	steps := f.advise("socket.proxy", Values{"holderPid": pids(f.Look.Socket.Holder)})
	if p, known := f.proxied(); known && f.doing(&p, evidence.AsRuntime).StandsNow() {
		return append(steps, f.freeProcess(p, "", p.Thread)...)
	}
	return distinct(append(steps, f.start()...))
}

// heldStart returns what keeps the socket shut if the runtime began a moment ago and shims do nothing. Another restart
// would wait for these shims once more.
func (f *Facts) heldStart() (s shut, held bool) {
	idle, runtimes := f.idleShims(), f.runtimes()
	if len(idle) == 0 || len(runtimes) == 0 {
		return s, false
	}
	p := f.byNow(runtimes[0])
	if p.Age <= 0 || p.Age > startTakes+time.Duration(len(idle))*shimWait {
		return s, false
	}
	resumed := f.shimsGoOn(idle)
	v := Values{"pid": pids(idle[:min(len(idle), namedShims)]...), "resumed": slices.ContainsFunc(resumed, Step.acts)}
	text := fmt.Sprintf("%s began %s ago and is still starting, likely held up by %s", p.Command, going(p.Age), count(len(idle), stateWord(idle)+" shim"))
	return shut{true, text, append(f.advise("shims.held-start", v), resumed...)}, true
}

// namedShims is how many shims a command names.
const namedShims = 10

// shimsGoOn returns the steps that let shims continue that were stopped from outside.
func (f *Facts) shimsGoOn(idle []evidence.Process) (steps []Step) {
	var stopped []evidence.Process
	for _, p := range idle {
		if p.State == evidence.Stopped {
			stopped = append(stopped, p)
		} else if p.State != evidence.Frozen || p.Freezer != "" {
			steps = append(steps, f.letGoOn(p, "")...)
		}
	}
	if len(stopped) == 0 {
		return steps
	}
	return append(f.advise("shims.resume", Values{"pid": pids(stopped...)}), steps...)
}

// refusedBy returns one sentence that says why calls are refused: the reason that the node shows, or else the words of
// an error.
func (f *Facts) refusedBy(err error) string {
	away, why, killed := answers.IsAway(err), f.shut(), f.killed()
	switch {
	case away && killed != nil:
		return "no call reaches the runtime: " + f.say(lineOf("killed", killed))
	case away && why.known:
		return "no call reaches the runtime: " + why.text
	case away:
		return "no call reaches the runtime: " + excerpt(plain(err))
	case errors.Is(err, call.ErrUnimplemented):
		return "the runtime serves no CRI: " + beginning(strings.TrimPrefix(plain(err), "Unimplemented: "), 2*excerptMost)
	}
	return "every call is answered with an error: " + excerpt(plain(err))
}

// downSteps returns what to do about a runtime that is down. The steps about what keeps it down come first.
func (f *Facts) downSteps() []Step {
	if p, stuck := f.stuckRuntime(); stuck {
		return f.freeProcess(p, "", p.Thread)
	}
	if f.servesNoCRI() {
		return f.enableCRI()
	}
	why := f.shut()
	switch {
	case len(why.steps) > 0: // a restart alone would meet the same obstacle again
		return slices.Insert(slices.Clone(why.steps), 1, f.logs()...)
	case len(f.runtimes()) > 0:
		return f.thenRestart(append(f.logs(), f.shimsGoOn(f.idleShims())...)...) // the runtime waits for the shims when it ends, too
	case why.known:
		start := f.start()
		at := slices.IndexFunc(start, Step.acts)
		if at < 0 {
			at = len(start)
		}
		return distinct(slices.Insert(start, at, append(f.makingFit(), f.shimsGoOn(f.idleShims())...)...))
	}
	return f.thenRestart(f.advise("runtime.down", Values{"data": f.Look.Disk.Path})...)
}

// distinct leaves out a step that does the same as an earlier step.
func distinct(steps []Step) (all []Step) {
	for _, s := range steps {
		if !slices.ContainsFunc(all, s.Same) {
			all = append(all, s)
		}
	}
	return all
}

// servesNoCRI reports whether calls are answered by a containerd without CRI, as the packages of Docker configure it. A
// restart does not change that.
func (f *Facts) servesNoCRI() bool {
	return len(f.Refusals) > 0 && errors.Is(f.Refusals[0].Err, call.ErrUnimplemented) && f.program() == knowledge.Containerd.Program
}

// pluginFailed is the text between the name of a plugin and the plugin's own error. (package cri)
const pluginFailed = " did not start: "

// enableCRI returns the steps that bring back the CRI of a containerd. They depend on the error of its plugin.
func (f *Facts) enableCRI() []Step {
	text := plain(f.Refusals[0].Err)
	if strings.Contains(text, "fsnotify") && strings.Contains(text, "too many open files") {
		return append(f.advise("runtime.no-inotify", nil), f.restartWhen("the limit is raised", "brings its CRI back")...)
	}
	if _, why, failed := strings.Cut(text, pluginFailed); failed {
		return append(f.advise("runtime.plugin-failed", Values{"error": why}), f.restartWhen("that is done", "reads its configuration again")...)
	}
	return append(f.advise("runtime.no-cri", nil), f.restartWhen("that is done", "reads its configuration again")...)
}

// restartWhen returns the steps that restart the runtime once the condition so is met.
func (f *Facts) restartWhen(so, effect string) []Step {
	steps := f.restart(effect)
	for i := range steps {
		steps[i] = steps[i].after(so)
	}
	return steps
}
