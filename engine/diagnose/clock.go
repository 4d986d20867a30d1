package diagnose

import (
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// A Clock is what comes next by itself.
type Clock struct {
	What string        `line:"what"`                // "PLEG unhealthy", "relist ends", or what is posted: "NotReady" or "Ready"; empty if nothing is to come
	In   time.Duration `line:"inSeconds"`           // as of the snapshot, at the soonest; never negative
	To   time.Duration `line:"toSeconds,omitempty"` // at the latest; 0 where the moment is known
	Held bool          `line:"-"`                   // it is due, and waits for Version, which hangs
}

// soon is how near a change for the worse may be for a node to be called healthy.
const soon = 30 * time.Second

// nextClock returns what comes next if nothing changes: the end of a relist that waits
// in vain, PLEG's verdict or the next posting, whichever is nearer.
func (v *view) nextClock() Clock {
	clock := Clock{}
	if left := v.untilUnhealthy(); left > 0 && left <= v.Threshold-v.Threshold/firstTenth && (v.Failure != nil || v.Scope >= answers.ListHangs || v.late() != nil || left < soon) {
		clock = Clock{What: "PLEG unhealthy", In: left}
	} else if since := v.heldSince(); !since.IsZero() && v.At.Sub(since) < v.Threshold {
		clock = Clock{What: "PLEG unhealthy", In: v.Threshold - v.At.Sub(since)}
	} else if v.endsInTime() {
		left := v.Phase.EndsBy.Sub(v.At)
		clock = Clock{What: "relist ends", In: left}
	}
	if next := v.Node.Next; next.To.After(v.At) && (clock.What == "" || next.From.Sub(v.At) < clock.In) {
		clock = Clock{What: "NotReady", In: max(next.From.Sub(v.At), 0)}
		if to := next.To.Sub(v.At); to > clock.In {
			clock.To = to
		}
		if next.Ready {
			clock.What = "Ready"
		}
		clock.Held = next.Held
	}
	if clock.What == "" {
		if at := v.postedInCheck(); at > 0 {
			clock = Clock{What: "NotReady", To: at}
		}
	}
	return clock
}

// firstTenth is the part of a limit that has to pass before the time that is left is worth a
// clock: it would come and go with each call that fails once.
const firstTenth = 10

// postPeriod is the kubelet's: in so long there is one update of the node, with which it posts
// what it makes of the last Status.
const postPeriod = 10 * time.Second

// postedInCheck returns when NotReady is posted at the latest, where one look finds the reason
// for it in Status while Version, which comes before each posting, is answered. It may have
// been posted long ago. It is 0 where nothing is to be posted.
func (v *view) postedInCheck() time.Duration {
	if !v.Policy.Bounds().Starting || v.VersionErr != nil || v.Hangs(call.Version) {
		return 0
	}
	if bad := v.StatusErr != nil || v.General[call.Status].Sure; bad {
		if v.Node.RuntimeDown == "" {
			return 0
		}
		return answers.StatusLasts + postPeriod
	}
	for _, condition := range []string{runtimeReady, networkReady} {
		if _, lacks := v.lacks(condition); lacks {
			return answers.StatusPeriod + postPeriod
		}
	}
	return 0
}

// endsInTime reports whether a relist that waits for an inspection ends before PLEG
// becomes unhealthy, even if that gives no answer.
func (v *view) endsInTime() bool {
	return v.Phase.EndsBy.After(v.At) && v.Health.Healthy && v.untilUnhealthy() == 0
}

// posting says when the kubelet posts next what is so now, and what it waits for.
func (v *view) posting() string {
	next, held := v.Node.Next, ""
	if since := v.Node.PostingHeld; !since.IsZero() && v.At.Sub(since) >= answers.Hung {
		held = "the kubelet posts nothing while it waits for Version, which has had no answer for " + going(v.At.Sub(since))
	}
	if next.From.IsZero() {
		return held
	}
	said := "NotReady"
	if next.Ready {
		said = "Ready"
	}
	said += " is posted between " + v.clock(next.From) + " and " + v.clock(next.To)
	if held != "" {
		return held + "; " + said + " at the latest"
	}
	return said + " if all goes on so"
}

// untilUnhealthy returns when the kubelet will call PLEG unhealthy unless a list
// succeeds; 0 if that is not to come.
func (v *view) untilUnhealthy() time.Duration {
	if v.Health.UnhealthyAt.IsZero() {
		return 0
	}
	return v.Health.UnhealthyAt.Sub(v.At)
}
