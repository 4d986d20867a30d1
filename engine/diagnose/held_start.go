package diagnose

import (
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/waits"
)

const (
	// shimWaited is how long containerd waits at its start for a shim that does not answer, one
	// after the other, while nobody listens at its socket; then it ends that one's containers.
	// (containerd 1.6 to 2.4.)
	shimWaited = 10 * time.Second
	// startLasts is how long a start takes besides, with hundreds of pods.
	startLasts = 15 * time.Second
)

// idleShims returns the shims of this runtime that do nothing, whatever they are asked.
func (v *view) idleShims() (idle []evidence.Process) {
	for _, p := range v.evidence.Processes.Shims {
		if p.Own && p.Sandbox != "" && waits.Idle(&p) { // a conmon is asked for nothing
			idle = append(idle, p)
		}
	}
	return idle
}

// livesOn says what becomes of containers when the runtime begins: they live on, in the words of
// others, but for those of shims that do not answer.
func (v *view) livesOn(others string) string {
	idle := v.idleShims()
	switch len(idle) {
	case 0:
		return others
	case 1:
		pod := "sandbox " + idle[0].Sandbox
		if o, known := v.ours(idle[0].Sandbox); known && o.Pod.Name != "" {
			pod = "pod " + o.Pod.String()
		}
		return fmt.Sprintf("the containers of %s (shim %s) end, other %s", pod, stateWord(idle), others)
	}
	return fmt.Sprintf("the containers of %d pods (shims %s) end, other %s", len(idle), stateWord(idle), others)
}

// stateWord names the state of shims that do nothing in one word.
func stateWord(idle []evidence.Process) string {
	if slices.ContainsFunc(idle, func(p evidence.Process) bool { return p.State != idle[0].State }) {
		return "stuck"
	}
	switch idle[0].State {
	case evidence.Stopped:
		return "stopped"
	case evidence.Frozen:
		return "frozen"
	case evidence.Traced:
		return "traced"
	}
	return "stuck"
}

// shimsGoOn returns the steps that let shims go on which are held from outside.
func (v *view) shimsGoOn(idle []evidence.Process) (steps []Step) {
	var stopped []evidence.Process
	for _, p := range idle {
		if p.State == evidence.Stopped {
			stopped = append(stopped, p)
		} else if p.State != evidence.Frozen || p.Freezer != "" {
			steps = append(steps, v.letGoOn(p, "")...)
		}
	}
	if len(stopped) == 0 {
		return steps
	}
	return append(v.advise("shims.resume", Values{"pid": pids(stopped...)}), steps...)
}

// heldStart returns what keeps the socket shut of a runtime that began a moment ago, beside shims
// that do nothing: another restart would wait for them once more.
func (v *view) heldStart() (s shut, held bool) {
	idle, daemons := v.idleShims(), v.daemons()
	if len(idle) == 0 || len(daemons) == 0 {
		return s, false
	}
	runtime := v.byNow(daemons[0])
	if runtime.Age <= 0 || runtime.Age > startLasts+time.Duration(len(idle))*shimWaited {
		return s, false
	}
	s.why = fmt.Sprintf("%s began %s ago and is still starting, likely held up by %s", runtime.Command, going(runtime.Age), count(len(idle), stateWord(idle)+" shim"))
	values, resumed := Values{"pid": pids(idle[:min(len(idle), orphanTold)]...)}, v.shimsGoOn(idle)
	if slices.ContainsFunc(resumed, Step.acts) {
		values["resumed"] = one("yes")
	}
	s.steps = append(v.advise("shims.held-start", values), resumed...)
	return s, true
}
