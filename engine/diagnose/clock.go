package diagnose

import (
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// A Clock says what will happen next without anybody's help.
type Clock struct {
	What string        `line:"what"`                // one of the Clock words; empty if nothing will happen
	In   time.Duration `line:"inSeconds"`           // from the snapshot until the soonest moment; never negative
	To   time.Duration `line:"toSeconds,omitempty"` // until the latest moment; 0 if the moment is known
	Held bool          `line:"-"`                   // it is due, and waits for Version, which hangs
}

// What a [Clock] counts down to.
const (
	ClockUnhealthy  = "PLEG unhealthy"
	ClockRelistEnds = "relist ends"
	ClockNotReady   = "NotReady" // NotReady is posted
	ClockReady      = "Ready"    // Ready is posted
)

const (
	// A change for the worse that is nearer than soon is always shown.
	soon = 30 * time.Second
	// One firstTenth of a limit must have passed before the rest gets a clock. Otherwise the clock would come and go
	// with each call that fails once.
	firstTenth = 10
	// postPeriod is the kubelet's: every 10 s it posts its reading of the last Status. (nodeStatusUpdateFrequency)
	postPeriod = 10 * time.Second
)

// nextClock returns what comes next if nothing changes: the end of a relist that waits in vain, the moment when PLEG
// becomes unhealthy, or the next posting. It returns the nearest of them.
func (f *Facts) nextClock() Clock {
	at, clock := f.at(), Clock{}
	left := f.untilUnhealthy()
	trouble := f.Failure != nil || f.Scope >= answers.ListHangs || f.lateCall() != nil || left < soon
	switch since := f.heldSince(); {
	case left > 0 && left <= f.Threshold-f.Threshold/firstTenth && trouble:
		clock = Clock{What: ClockUnhealthy, In: left}
	case !since.IsZero() && at.Sub(since) < f.Threshold:
		clock = Clock{What: ClockUnhealthy, In: f.Threshold - at.Sub(since)}
	case f.relistEndsFirst():
		clock = Clock{What: ClockRelistEnds, In: f.Phase.EndsBy.Sub(at)}
	}
	if next := f.Node.Next; next.To.After(at) && (clock.What == "" || next.From.Sub(at) < clock.In) {
		clock = Clock{What: ClockNotReady, In: max(next.From.Sub(at), 0), Held: next.Held}
		if to := next.To.Sub(at); to > clock.In {
			clock.To = to
		}
		if next.Ready {
			clock.What = ClockReady
		}
	}
	if clock.What == "" {
		if at := f.postedInCheck(); at > 0 {
			clock = Clock{What: ClockNotReady, To: at}
		}
	}
	return clock
}

// postedInCheck returns when NotReady is posted at the latest, for check. It needs two things: Status gives the reason
// for NotReady, and Version, which comes before each posting, is answered. NotReady may have been posted long ago. It
// returns 0 if nothing will be posted.
func (f *Facts) postedInCheck() time.Duration {
	if !f.once() || f.VersionErr != nil || f.Hangs(call.Version) {
		return 0
	}
	if f.StatusErr != nil || f.General[call.Status].Sure {
		if f.Node.RuntimeDown == "" {
			return 0
		}
		return answers.StatusLasts + postPeriod
	}
	for _, condition := range []string{runtimeReady, networkReady} {
		if _, lacks := f.lacks(condition); lacks {
			return answers.StatusPeriod + postPeriod
		}
	}
	return 0
}

// relistEndsFirst reports whether a relist that waits for an inspection ends before PLEG becomes unhealthy, even
// without an answer.
func (f *Facts) relistEndsFirst() bool {
	return f.Phase.EndsBy.After(f.at()) && f.Health.Healthy && f.untilUnhealthy() == 0
}

// untilUnhealthy returns how long it takes until the kubelet calls PLEG unhealthy, unless a list succeeds before; 0 if
// the moment is not known.
func (f *Facts) untilUnhealthy() time.Duration {
	if f.Health.UnhealthyAt.IsZero() {
		return 0
	}
	return f.Health.UnhealthyAt.Sub(f.at())
}

// heldSince returns the moment since which no list can have succeeded, because a critical finding holds lists up. It is
// for the case that plegtop has seen no good list; zero if the moment is not known.
func (f *Facts) heldSince() time.Time {
	if !f.Health.ListedAt.IsZero() || f.Scope != answers.ListHangs {
		return time.Time{}
	}
	for _, o := range f.holding {
		if o.Cause == "" && o.Severity == Critical && len(o.Nodes) > 0 && !o.Since.IsZero() && o.ID != ListHung {
			return o.Since
		}
	}
	return time.Time{}
}

// lateCall returns the call that a relist waits for and that is late; nil if there is none.
func (f *Facts) lateCall() *call.Flight {
	for i := range f.InFlight {
		if c := &f.InFlight[i]; c.By == call.ByRelist && f.State(*c) != answers.InTime {
			return c
		}
	}
	return nil
}

// postingLine returns a line about the kubelet's next posting: when it comes, what it posts, and what it waits for.
func (f *Facts) postingLine() []line {
	v := Values{}
	if since := f.Node.PostingHeld; !since.IsZero() && f.at().Sub(since) >= answers.Hung {
		v["held"] = age(f.at().Sub(since))
	}
	next := f.Node.Next
	if next.From.IsZero() {
		return []line{lineOf("posting.held", v)}
	}
	v["from"], v["to"], v["what"] = next.From, next.To, ClockNotReady
	if next.Ready {
		v["what"] = ClockReady
	}
	if v["held"] != nil {
		return []line{lineOf("posting.held-until", v)}
	}
	return []line{lineOf("posting", v)}
}
