package diagnose

import (
	"fmt"
	"slices"

	"github.com/plegtop/plegtop/engine/answers"
)

// ofSocket is the group of a runtime that answers, and that nobody can connect to any more. Calls that
// fail have another reason, and so has it.
const ofSocket = "socket"

// socketLostWord is the headline's word for it.
const socketLostWord = "SOCKET LOST"

// onlyConnected is what holds of a process whose socket cannot be connected to.
const onlyConnected = " answers no new connection"

// socketLost tells that the runtime's socket is lost, while it answers on connections that
// were made before. It takes an answer of after the look began: what went away with its
// socket answers no more.
func (v *view) socketLost() []Finding {
	s := &v.evidence.Socket
	at, known := v.looked()
	if s.Unlinked.PID == 0 || !known || !slices.ContainsFunc(v.Calls, func(c answers.Calls) bool { return c.LastOK.After(at) }) {
		return nil
	}
	f := Finding{
		ID: RuntimeDown, Severity: Warning, Group: ofSocket, Brief: "socket lost",
		Summary: theProcess(s.Unlinked) + onlyConnected + ": " + v.socketAway(),
		Next:    v.newSocket(v.socketStep()),
	}
	last := &f.Next[len(f.Next)-1]
	*last = last.when("before the kubelet is restarted")
	f.say("do not restart the kubelet before: it would reach no runtime, and the node would become NotReady", "endpoint: "+v.endpoint)
	return []Finding{f}
}

// socketAway says what is in the place of a runtime's socket.
func (v *view) socketAway() string {
	switch s := &v.evidence.Socket; {
	case s.Kind == "":
		return "its socket is gone"
	case s.Kind != "socket":
		return "there is a " + s.Kind + " in the place of its socket"
	case s.Holder.PID != 0:
		return "its socket was replaced by that of " + theProcess(s.Holder)
	}
	return "nobody listens at the socket that is in the place of its own"
}

// newSocket returns the steps that end with the runtime listening at its path again. It makes its
// socket when it starts, also in the place of a file; a folder, and who listens there instead,
// have to go first.
func (v *view) newSocket(first ...Step) []Step {
	if _, stuck := v.stuckDaemon(); stuck {
		return v.runtimeSteps(first...)
	}
	again := v.restart("creates its socket again; " + v.restartRisk())
	path := quote(socket(v.endpoint))
	switch s := &v.evidence.Socket; {
	case s.Holder.PID != 0:
		again.Text = "ends " + theProcess(s.Holder) + ", and creates the socket again; " + v.restartRisk()
		again.Command = fmt.Sprintf("kill %d && %s", s.Holder.PID, again.Command)
	case s.Kind != "" && s.Kind != "socket":
		again.Text = "moves what is there away, and creates the socket again; " + v.restartRisk()
		again.Command = "mv -T " + path + " " + quote(socket(v.endpoint)+".old") + " && " + again.Command
	}
	return append(append(first, v.makingFit()...), again)
}

// socketStep shows what is in the place of the socket.
func (v *view) socketStep() Step {
	if by := v.evidence.Socket.Holder; by.PID != 0 {
		return whose("what that program is", by)
	}
	path := quote(socket(v.endpoint))
	return Step{Text: "what is there, and who listens under that name", Command: "ls -ld " + path + "; ss -xlp | grep -F -e " + path}
}
