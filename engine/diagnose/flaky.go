package diagnose

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
)

const (
	// flakyBouts is how often within flakyWindow a runtime must have gone away
	// and come back to be called unreliable: a restart is one bout, and no trouble.
	flakyBouts  = 3
	flakyWindow = time.Minute
)

// A flakiness is how many calls of how many found no runtime, since when.
type flakiness struct {
	failed, all uint64
	bouts       int
	since       time.Time
}

// flaky reports whether calls find a runtime only now and then. In one pass one
// such call is enough.
func (in Input) flaky() (flakiness, bool) {
	s := in.Snapshot
	if onePass(s) {
		failed, all := unavailable(s)
		r := reading{Snapshot: s}
		if _, one := r.culprit(); one {
			return flakiness{}, false
		}
		return flakiness{failed: failed, all: all, since: s.Started}, failed > uint64(2*strandedObjects(s))
	}
	f := in.past().outages.within(s)
	return f, f.bouts >= flakyBouts
}

func (in Input) flakyFinding(f flakiness) Finding {
	s := in.Snapshot
	found := Finding{
		ID: RuntimeDown, Severity: Warning,
		Summary: fmt.Sprintf("%s of %s found no runtime, the others were answered", thousands(f.failed), count(f.all, "call")),
		Next: in.runtimeSteps(
			Step{Text: "does it restart again and again", Command: "systemctl status " + in.unit() + " --no-pager"},
			Step{Text: "its last words", Command: in.logs()},
		),
	}
	if f.bouts > 0 {
		found.Evidence = append(found.Evidence, fmt.Sprintf("went away %d times since %s", f.bouts, clock(f.since)))
	}
	for i := range s.Calls {
		if c := &s.Calls[i]; len(c.ByCode) > 0 {
			found.Evidence = append(found.Evidence, fmt.Sprintf("%v: of %s since %s failed %s", c.Op, count(c.Count, "call"), clock(s.Started), codes(c)))
		}
	}
	if away, done := sweptAway(s); away > 0 && 2*away >= done {
		found.Severity = Critical // it went away while it was looked at
	}
	if cut := cutOff(s); len(cut) > 0 && len(cut) <= fullFailing {
		found.Evidence = append(found.Evidence, "failed each time, and the status of one of them may be what ends the connection: "+objects(cut))
	}
	if f := s.Failure; f != nil && errors.Is(f.Err, call.ErrUnavailable) {
		found.Subject.Operation = f.Op.String()
		found.Evidence = append(found.Evidence, refusal(s, *f))
	}
	return found
}

// strandedObjects returns how many objects the runtime was not there for though
// it was for everything else, each of them asked for twice: behind such an
// object is a shim that has died. 0 if calls of other kinds failed so as well, or
// if it is the connection that was lost for several at once: the status of one of
// them may be what ends the runtime, and nothing tells which.
func strandedObjects(s *engine.Snapshot) int {
	away, done := sweptAway(s)
	if away == 0 || s.Failure != nil || s.StatusErr != nil || s.VersionErr != nil || s.Sweep.Flaky > 0 || away > fullFailing || 2*away >= done {
		return 0
	}
	if cut := cutOff(s); away > 1 && len(cut) > 0 {
		return 0
	}
	return away
}

// connectionLost begins or is part of what gRPC says where it was not the runtime
// that answered so: its connection broke.
var connectionLost = []string{"error reading from server", "transport is closing", "closing transport", "connection error", "the connection is draining"}

// cutOff returns the objects of the last sweep that failed with the loss of the
// connection, each time they were asked for.
func cutOff(s *engine.Snapshot) (cut []engine.Swept) {
	if s.Sweep == nil {
		return nil
	}
	for _, o := range s.Sweep.Failed {
		if errors.Is(o.Err, call.ErrUnavailable) && slices.ContainsFunc(connectionLost, func(w string) bool { return strings.Contains(o.Err.Error(), w) }) {
			cut = append(cut, o)
		}
	}
	return cut
}

// culprit returns the one object whose status ends the connection each time it is
// asked for: no more failed with it than can be out at once, and they were
// answered when asked again.
func (r *reading) culprit() (failingPod, bool) {
	cut := cutOff(r.Snapshot)
	if len(cut) != 1 || onlyAway(r.Snapshot) != 1 || r.StatusErr != nil || r.Failure != nil || r.Sweep.Flaky == 0 || r.Sweep.Flaky >= 2*r.Sweep.Width || r.At.Sub(r.Sweep.Began) > sweepHolds {
		return failingPod{}, false
	}
	o := cut[0]
	return failingPod{o.Flight, o.Err, fmt.Sprintf("ended the connection both times in the sweep at %s; %s failed with it and answered when asked again", clock(r.Sweep.Began), count(r.Sweep.Flaky, "other"))}, true
}

func onlyAway(s *engine.Snapshot) int {
	away, _ := sweptAway(s)
	return away
}

// sweptAway returns how many objects of the last sweep the runtime was not there
// for, and of how many.
func sweptAway(s *engine.Snapshot) (away, done int) {
	if s.Sweep == nil {
		return 0, 0
	}
	for _, o := range s.Sweep.Failed {
		if errors.Is(o.Err, call.ErrUnavailable) {
			away++
		}
	}
	return away, s.Sweep.Done
}

// objects names what a sweep asked for.
func objects(swept []engine.Swept) string {
	var names []string
	for _, o := range swept {
		names = append(names, o.Op.String()+" of "+object(o.Flight))
	}
	return strings.Join(names, ", ")
}

// codes says how often each gRPC code came, such as "6 with Unavailable".
func codes(c *engine.Calls) string {
	var each []string
	for _, n := range c.ByCode {
		each = append(each, thousands(n.Count)+" with "+n.Code)
	}
	return strings.Join(each, ", ")
}

// unavailable counts the calls that found no runtime, and all calls.
func unavailable(s *engine.Snapshot) (failed, all uint64) {
	for i := range s.Calls {
		if s.Calls[i].Op != call.GetContainerEvents {
			failed += coded(&s.Calls[i], "Unavailable")
			all += s.Calls[i].Count
		}
	}
	return failed, all
}

func coded(c *engine.Calls, code string) uint64 {
	for _, n := range c.ByCode {
		if n.Code == code {
			return n.Count
		}
	}
	return 0
}
