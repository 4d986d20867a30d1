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
	Since time.Time     // for Status and PLEG the last good answer, for the others the begin of this state; zero if there is none
	Limit time.Duration // how long it may stay in this state from Since on; 0 if no clock runs
	Until time.Time     // when the limit is reached if nothing changes; zero if it will not be reached
	Ends  bool          // the link is well again by Until, before the limit is reached
	Text  string        // the kubelet's or the runtime's own words, not cleaned; empty if there are none
}

// A HealthPart is what a link is about.
type HealthPart uint8

const (
	HealthStatus  HealthPart = iota // the runtime's Status
	HealthPLEG                      // the age of the list
	HealthNetwork                   // what Status says about the network
	HealthLoop                      // the sync loop, which starts and stops pods
	HealthProbe                     // /healthz/syncloop, which liveness checks read
	HealthReady                     // the Ready condition as it was last posted
)

// A HealthLevel says how well a link is; the worst level is last.
type HealthLevel uint8

const (
	HealthUnknown HealthLevel = iota // no answer has come yet
	HealthWell
	HealthLate // several answers are missing, or it waits
	HealthIll
)

// An answer older than lateAge is worth a look: two more answers should have come by then.
const lateAge = 2 * answers.StatusPeriod

// HealthOf returns one of the checks that decide whether the node is Ready. While plegtop is paused it returns the last
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
	case h.ListedAt.IsZero() && s.Node.PLEG == "": // only a kubelet that is starting counts the time without a list
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

// Deadlines returns the times that run out: the age of the list; the age of the last good Status if that is late; and
// the call that a relist waits for if that is late. While plegtop is paused it returns only the age of the list. Before
// the first list it leaves out that age.
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

// These say whose figures [NodeReady] uses.
const (
	ByModel   = "model"   // plegtop's model of a kubelet that started with it
	ByKubelet = "kubelet" // the node's own kubelet reports an unhealthy PLEG that plegtop does not see
)

// NodeReady returns what is known about the node's Ready condition, and from whom: ByModel or ByKubelet. If the node's
// own kubelet reports an unhealthy PLEG, that wins, because the kubelet posts what it sees itself.
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

// KubeletPLEG returns whether a kubelet finds its PLEG healthy, according to the last relist that it reported. It uses
// the threshold of every kubelet, whatever ours is. known is false for a kubelet that uses the runtime's events,
// because that relists too rarely for this threshold.
func KubeletPLEG(k evidence.Kubelet) (healthy, known bool) {
	known = k.Metrics.OK && !k.LastSeen.IsZero() && !k.Alpha() && k.Interval.Mean < pleg.DefaultThreshold
	return known && k.ReadAt.Sub(k.LastSeen) <= pleg.DefaultThreshold, known
}
