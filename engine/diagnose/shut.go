package diagnose

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/waits"
)

// A shut is what keeps the runtime's socket shut, as the node shows it, and how to see
// more of that.
type shut struct {
	why   string
	steps []Step // what shows more of it, and what ends it
}

// mayListen begin the names of the programs that may listen at a runtime's socket: the
// runtimes, what has one within, and what listens in the place of one until somebody
// connects.
var mayListen = slices.Concat(knowledge.Programs, []string{"systemd", "init", "plegtop"})

// shut returns what keeps the socket shut; false if nothing is known to, as where a
// runtime has it.
func (v *view) shut() (s shut, known bool) {
	if v.evidence.Socket.Missing != "" || v.endpoint == "" {
		return s, false
	}
	at := &v.evidence.Socket
	held, startHeld := v.heldStart()
	switch {
	case at.Unlinked.PID != 0:
		return shut{v.socketAway() + ", and " + theProcess(at.Unlinked) + onlyConnected, v.newSocket()}, true
	case at.Kind != "" && at.Kind != "socket":
		return shut{v.socketAway(), v.newSocket()}, true
	case v.proxy() != "":
		return shut{v.proxy(), v.proxied(at.Holder)}, true
	case v.heldByOther():
		return shut{"its socket is held by " + theProcess(at.Holder) + ", no runtime that is known", v.newSocket()}, true
	case at.Locked != "":
		return shut{fmt.Sprintf("%s waits for %s, which %s has locked", theProcess(at.Waits), at.Locked, theProcess(at.Locker)), v.unlocking(at.Locked, at.Locker)}, true
	case at.Holder.PID == 0 && startHeld:
		return held, true
	case at.Holder.PID != 0, !v.evidence.Processes.Whole(), len(v.daemons()) > 0:
		return s, false
	case at.Kind == "":
		return shut{"socket missing, process not running", nil}, true
	}
	return shut{"nobody listens at its socket, process not running", nil}, true
}

// unlocking returns the steps about a process that has locked a file of the runtime's. One that
// has ended leaves its lock to a process that it began.
func (v *view) unlocking(file string, locker evidence.Process) []Step {
	values := Values{"file": one(file)}
	if locker.PID != 0 {
		values = v.processValues(locker)
		values["file"] = one(file)
	}
	return v.advise("lock.held", values)
}

// heldByOther reports whether a program that is no runtime listens at the socket, and
// that never answered: one that did stands before the runtime.
func (v *view) heldByOther() bool {
	if slices.ContainsFunc(v.Calls, func(c answers.Calls) bool { return !c.LastOK.IsZero() }) {
		return false
	}
	by := v.evidence.Socket.Holder
	return by.PID != 0 && !beginsAs(by.Command, mayListen) && !knowledge.IsProxy(by.Command)
}

// proxy says that a CRI proxy listens at the socket, and what is wrong with the runtime behind it; empty
// where either is not so.
func (v *view) proxy() string {
	holder, wrong := v.evidence.Socket.Holder, v.behindProxy()
	if !knowledge.IsProxy(holder.Command) || wrong == "" {
		return ""
	}
	return fmt.Sprintf("the CRI proxy %s listens at its socket, and the runtime behind it %s", theProcess(holder), wrong)
}

// behindProxy says what is wrong with the runtime behind a CRI proxy: it is away, or stands still; empty
// where it may be well, or that cannot be seen.
func (v *view) behindProxy() string {
	isRuntime := func(p evidence.Process) bool { return slices.Contains(knowledge.Runtimes, p.Command) }
	i := slices.IndexFunc(v.evidence.Processes.Daemons, isRuntime)
	switch {
	case i < 0 && v.evidence.Processes.Whole():
		return "does not run"
	case i >= 0 && waits.IdleRuntime(&v.evidence.Processes.Daemons[i]):
		return fmt.Sprintf("(%s) is %s", theProcess(v.evidence.Processes.Daemons[i]), v.evidence.Processes.Daemons[i].State)
	}
	return ""
}

// proxied returns the steps about the runtime behind a proxy; nobody is to end the proxy.
func (v *view) proxied(proxy evidence.Process) []Step {
	steps := v.advise("socket.proxy", Values{"holderPid": pids(proxy)})
	for _, p := range v.evidence.Processes.Daemons {
		if slices.Contains(knowledge.Runtimes, p.Command) && waits.IdleRuntime(&p) {
			return append(steps, stuckProcess{Process: p}.next(v)...)
		}
	}
	return distinct(append(steps, v.start()...))
}

func theProcess(p evidence.Process) string {
	if p.PID == 0 {
		return "a process that has ended"
	}
	return fmt.Sprintf("%s (pid %d)", p.Command, p.PID)
}

// refusedBy says in one sentence why calls are refused, given how the first one was: by
// what the node shows, or else in the words of the error.
func (v *view) refusedBy(err error) string {
	s, known := v.shut()
	switch away := answers.IsAway(err); {
	case away && v.killed() != "":
		return "no call reaches the runtime: " + v.killed()
	case away && known:
		return "no call reaches the runtime: " + s.why
	case away:
		return "no call reaches the runtime: " + excerpt(plain(err))
	case errors.Is(err, call.ErrUnimplemented):
		return "the runtime serves no CRI: " + beginning(strings.TrimPrefix(plain(err), "Unimplemented: "), 2*excerptMost)
	}
	return "every call is answered with an error: " + excerpt(plain(err))
}
