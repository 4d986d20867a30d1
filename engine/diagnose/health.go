package diagnose

import (
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A HealthLink is one of the checks by which a kubelet decides whether its node is Ready, with
// the result that a kubelet would get from what plegtop sees.
type HealthLink struct {
	Of    HealthPart
	Level HealthLevel
	Since time.Time     // of Status and PLEG the last good answer, of the others the begin of this state; zero if there is none
	Limit time.Duration // how long it may stay as it is since then; 0 where no clock runs
	Until time.Time     // when the limit is reached if nothing changes; zero if it will not be
	Ends  bool          // the link is well again by Until, before the limit is reached
	Text  string        // the kubelet's or the runtime's own words, not cleaned; empty where there are none
}

// A HealthPart is what a link is about.
type HealthPart uint8

const (
	HealthStatus  HealthPart = iota // the runtime's Status
	HealthPLEG                      // the age of the list
	HealthNetwork                   // what Status says of the network
	HealthLoop                      // the sync loop, which starts and stops pods
	HealthProbe                     // /healthz/syncloop, which liveness checks read
	HealthReady                     // the Ready condition, as posted last
)

// A HealthLevel says how a link stands, the worst last.
type HealthLevel uint8

const (
	HealthUnknown HealthLevel = iota // no answer has come yet
	HealthWell
	HealthLate // several answers are missing, or it waits
	HealthIll
)

// lateAge is the age from which on an answer is worth a look: the next one should have come
// twice by then.
const lateAge = 2 * answers.StatusPeriod

// HealthOf returns one link of the chain to Ready. While plegtop is paused it returns the last
// state that was seen.
func HealthOf(s *engine.Snapshot, of HealthPart) HealthLink {
	l := [...]func(*engine.Snapshot) HealthLink{
		HealthStatus: statusHealth, HealthPLEG: plegHealth, HealthNetwork: networkHealth,
		HealthLoop: loopHealth, HealthProbe: probeHealth, HealthReady: readyHealth,
	}[of](s)
	l.Of = of
	return l
}

// Lasts reports whether a link has been in its state for longer than a list of a large node takes.
func (l HealthLink) Lasts(at time.Time) bool { return at.Sub(l.Since) >= answers.Hung }

func statusHealth(s *engine.Snapshot) HealthLink {
	n := &s.Node
	l := HealthLink{Level: HealthLate, Since: n.SyncedAt, Limit: answers.StatusLasts, Until: n.DownAt}
	switch {
	case n.RuntimeDown != "":
		l.Level, l.Text = HealthIll, n.RuntimeDown
	case n.RuntimeErr != "":
		return HealthLink{Level: HealthIll, Text: n.RuntimeErr}
	case n.SyncedAt.IsZero() && s.StatusErr == nil:
		l.Level = HealthUnknown
	case s.At.Sub(n.SyncedAt) < lateAge:
		l.Level = HealthWell
	}
	return l
}

func plegHealth(s *engine.Snapshot) HealthLink {
	h := &s.Health
	l := HealthLink{Level: HealthLate, Since: h.ListedAt, Limit: s.Threshold, Until: h.UnhealthyAt}
	switch {
	case h.ListedAt.IsZero() && s.Node.PLEG == "": // only a kubelet that is starting counts that
		l.Level = HealthUnknown
	case h.Verdict != "":
		l.Level, l.Text = HealthIll, h.Verdict
	case h.ListAge(s.At) < s.Period+lateAge: // an evented mode lists every few minutes
		l.Level = HealthWell
	case h.UnhealthyAt.IsZero():
		l.Until, l.Ends = s.Phase.EndsBy, true
	}
	return l
}

func networkHealth(s *engine.Snapshot) HealthLink {
	switch n := &s.Node; {
	case n.NetworkErr != "":
		return HealthLink{Level: HealthIll, Text: n.NetworkErr}
	case !n.Known:
		return HealthLink{}
	}
	return HealthLink{Level: HealthWell}
}

func loopHealth(s *engine.Snapshot) HealthLink {
	switch n := &s.Node; {
	case !n.LoopHeld.IsZero():
		return HealthLink{Level: HealthLate, Since: n.LoopHeld, Limit: s.Timeout}
	case !n.LoopStopped.IsZero():
		return HealthLink{Level: HealthIll, Since: n.LoopStopped}
	case !n.Known:
		return HealthLink{}
	}
	return HealthLink{Level: HealthWell}
}

func probeHealth(s *engine.Snapshot) HealthLink {
	switch n := &s.Node; {
	case n.HealthzAt.IsZero() && !n.Known:
		return HealthLink{}
	case n.HealthzAt.IsZero():
		return HealthLink{Level: HealthWell}
	case s.At.Before(n.HealthzAt):
		return HealthLink{Level: HealthLate, Since: n.LoopStopped, Limit: n.HealthzAt.Sub(n.LoopStopped), Until: n.HealthzAt}
	default:
		return HealthLink{Level: HealthIll, Since: n.HealthzAt}
	}
}

func readyHealth(s *engine.Snapshot) HealthLink {
	n := &s.Node
	l := HealthLink{Level: HealthIll, Since: n.Since, Text: n.Message}
	switch {
	case !n.Known:
		return HealthLink{}
	case n.Ready:
		l.Level = HealthWell
	}
	return l
}

// A Deadline is a limit, and how much of it has passed.
type Deadline struct {
	Name          string // "list age", "last good Status" or the operation of a call
	Passed, Whole time.Duration
}

// Deadlines returns the times that run out: the age of the list, and where they are late Status
// and the call of the relist that does not come back. While plegtop is paused it is the
// first alone; there is none before the first list.
func Deadlines(s *engine.Snapshot) (all []Deadline) {
	if !s.Health.ListedAt.IsZero() {
		all = append(all, Deadline{"list age", s.Health.ListAge(s.At), s.Threshold})
	}
	if s.Paused {
		return all
	}
	if unanswered := answers.StatusLasts - s.Node.DownAt.Sub(s.At); !s.Node.DownAt.IsZero() && unanswered >= lateAge {
		all = append(all, Deadline{"last good Status", unanswered, answers.StatusLasts})
	}
	if f := RelistCall(s); f != nil && Late(s, *f) {
		all = append(all, Deadline{f.Op.String(), f.Elapsed(s.At), s.Timeout})
	}
	return all
}

// By whose figures a node is said to be ready.
const (
	ByModel   = "model"   // plegtop's model of a kubelet that started with it
	ByKubelet = "kubelet" // the node's own kubelet reports an unhealthy PLEG that plegtop does not see
)

// NodeReady returns what is known of the node's Ready condition, and by whom. The figures of the
// node's own kubelet win: what it sees of its PLEG is what is posted.
func NodeReady(s *engine.Snapshot) (n kubelet.Node, basis string) {
	n = s.Node
	if s.Evidence == nil {
		return n, ByModel
	}
	k := s.Evidence.Kubelet
	if healthy, known := KubeletPLEG(k); known && !healthy && n.Ready {
		n.Ready, n.Reason = false, "KubeletNotReady"
		n.Message = fmt.Sprintf("PLEG is not healthy: pleg was last seen active %v ago; threshold is %v", k.ReadAt.Sub(k.LastSeen), pleg.DefaultThreshold)
		return n, ByKubelet
	}
	return n, ByModel
}

// KubeletPLEG returns what a kubelet says of its PLEG, by the last relist that it reported.
// Its threshold is that of every kubelet, whatever ours is; but for one that goes by the
// runtime's events, and relists so rarely that this would not do.
func KubeletPLEG(k evidence.Kubelet) (healthy, known bool) {
	known = k.Metrics.OK && !k.LastSeen.IsZero() && !k.Alpha() && k.Interval.Mean < pleg.DefaultThreshold
	return known && k.ReadAt.Sub(k.LastSeen) <= pleg.DefaultThreshold, known
}
