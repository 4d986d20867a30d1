package diagnose

import (
	"slices"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/knowledge"
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
		Next:    v.newSocket(),
	}
	last := &f.Next[len(f.Next)-1]
	*last = last.after("the kubelet was not restarted yet")
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
func (v *view) newSocket() []Step {
	values, path := Values{}, socket(v.endpoint)
	switch s := &v.evidence.Socket; {
	case s.Holder.PID != 0:
		values["holderPid"], values["holder"] = pids(s.Holder), one(theProcess(s.Holder))
		values["pid"], values["start"] = pids(s.Holder), one(startOf(s.Holder))
	case s.Kind != "" && s.Kind != "socket":
		values["aside"] = one(path + ".old")
	}
	values["state"] = one(v.evidence.State.Path)
	steps := v.advise("socket.replaced", values)
	if _, stuck := v.stuckDaemon(); stuck {
		return v.runtimeSteps(steps...)
	}
	steps = append(steps, v.makingFit()...)
	for _, again := range v.restart("creates its socket again") {
		if v.program() == knowledge.Containerd.Program && values["state"] != nil {
			again = again.after("the folders of the check are there")
		}
		steps = append(steps, again)
	}
	return steps
}
