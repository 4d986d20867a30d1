package diagnose

import (
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
)

// probesBegin is how long after a call is late the first probe is out at the
// latest: until then nobody has asked whether anything else is answered.
const probesBegin = late + 300*time.Millisecond

// doubtful reports whether a call may hang because nothing at all is answered: it
// is out for so short a time that the probes, which tell, are out themselves. One
// look at a runtime has no probes, and asks for everything else anyway.
func (r *reading) doubtful(h hang) bool {
	if !h.out || h.err != nil || onePass(r.Snapshot) || r.worksSince(h.Since) || r.answered(call.Status, h.Since) {
		return false
	}
	return h.took < probesBegin || h.took < hung+late && r.probing()
}

// probing reports whether a call is out that tells whether the runtime answers.
func (r *reading) probing() bool {
	for _, f := range r.InFlight {
		if f.By == engine.ByProbe || f.By == engine.ByVitals && f.Op != call.GetContainerEvents {
			return true
		}
	}
	return false
}

// noStatus reports whether a status call of a relist hangs and probes of other
// pods hang with it, none having been answered since: then it is not the object.
func (r *reading) noStatus() bool {
	if len(r.objects) == 0 || r.objects[0].By != engine.ByRelist || !r.objects[0].out || onePass(r.Snapshot) {
		return false
	}
	return r.probedInVain() && !r.objectsAnswered(r.objects[0].Since)
}

// probedInVain reports whether a probe of a pod that the relist does not wait for
// hangs.
func (r *reading) probedInVain() bool {
	for _, h := range r.objects {
		if h.By == engine.ByProbe && h.Pod != r.objects[0].Pod {
			return true
		}
	}
	return false
}

func (in Input) noStatusFinding(r *reading) Finding {
	h := r.objects[0]
	f := Finding{
		ID: InspectHung, Severity: severity(h),
		Summary: fmt.Sprintf("no status call has come back for %s, whichever pod it was for", going(h.took)),
		Next:    in.runtimeSteps(Step{Text: "what the runtime does; thousands of blocked goroutines mean a lock", Command: in.logs()}),
	}
	for _, h := range r.objects[:min(len(r.objects), fullHung)] {
		f.Evidence = append(f.Evidence, hangs(r, h))
	}
	f.Evidence = append(f.Evidence, lines(r.countdown(h), r.meanwhile(h), in.pressure(), in.daemon())...)
	return f
}
