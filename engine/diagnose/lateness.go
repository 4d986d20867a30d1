package diagnose

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/podworker"
)

// What a duration means to people when nothing may be wrong: whether something is late, slow or old. What a duration
// means for a call is in engine/answers.
const (
	// named is how long a call is out before it is shown, so that its name is visible before a second has passed. While
	// a call is out for long, a snapshot comes only every quarter of a second.
	named = 500 * time.Millisecond
	// asOfLeast is how old a list must be before its age is shown. Between two relists that succeed a list may be
	// younger than that.
	asOfLeast = 5 * time.Second
	// lagLate is the detection lag from which relists lag behind. With a period of one second, anything below two
	// seconds is normal.
	lagLate = 3 * time.Second
	// workerLate is how long a pod worker may wait, beyond a period of a second, before that is worth a look. A relist
	// that is well brings what the worker waits for within two periods.
	workerLate = 3 * time.Second
	// listLate is how much more than a period may pass from one answered list to the next before changes between them
	// count as not seen.
	listLate = 2 * time.Second
	// inspectLate is how much older than the last list the last relist with all inspections answered may be. One pod
	// whose inspection is slow is no reason to look.
	inspectLate = 10 * time.Second
	// skew is how far a time from the runtime may lie in the future: the clocks are read at different moments.
	skew = 2 * time.Second
	// After idleLong, the time for which a pod worker has been idle is shown.
	idleLong = 10 * time.Second
)

// A Lateness says whether a call that is out is late.
type Lateness uint8

const (
	Unnamed Lateness = iota // it has just been made, and is not shown
	Named                   // it is shown as being out
	Overdue                 // it is late: see [Late]
)

// LatenessOf returns how late a call in flight is.
func LatenessOf(s *engine.Snapshot, f call.Flight) Lateness {
	switch {
	case f.Elapsed(s.At) < named:
		return Unnamed
	case Late(s, f):
		return Overdue
	}
	return Named
}

// Late reports whether a call in flight has been out for longer than a second, and for longer than the same call
// usually takes on this node.
func Late(s *engine.Snapshot, f call.Flight) bool {
	facts := Facts{Snapshot: s, Look: cmp.Or(s.Evidence, &noLook)} // moment needs no other facts
	m := facts.moment()
	return m.State(f) != answers.InTime
}

// RelistCall returns the call that the relist has been waiting for longest; nil if it waits for none. Version, Status,
// probes and sweeps run separately and hold nothing up.
func RelistCall(s *engine.Snapshot) *call.Flight {
	i := slices.IndexFunc(s.InFlight, func(f call.Flight) bool {
		return f.By == call.ByRelist && f.Op != call.Version && f.Op != call.Status
	})
	if i < 0 {
		return nil
	}
	return &s.InFlight[i]
}

// TookLong reports whether a call or a relist took longer than on a healthy node.
func TookLong(d time.Duration) bool { return d >= answers.Late }

// TookTooLong reports whether a call or a relist took as long as a hang must last to be critical.
func TookTooLong(d time.Duration) bool { return d >= answers.HungLong }

// LagsBehind reports whether an event was detected late.
func LagsBehind(lag time.Duration) bool { return lag >= lagLate }

// InFuture reports whether a time from the runtime lies further ahead of now than its clock may be.
func InFuture(at, now time.Time) bool { return at.After(now.Add(skew)) }

// UnseenAfter returns how long after an answered list changes count as not seen, for a relist with this period.
func UnseenAfter(period time.Duration) time.Duration { return period + listLate }

// AsOf returns when the pods of a snapshot were listed, if that is long ago because a relist hangs or fails; otherwise
// zero.
func AsOf(s *engine.Snapshot) time.Time {
	hangs := slices.ContainsFunc(s.InFlight, func(f call.Flight) bool { return f.By == call.ByRelist && Late(s, f) })
	if !hangs && s.Failure == nil || s.Health.ListAge(s.At) < asOfLeast {
		return time.Time{}
	}
	return s.Health.ListedAt
}

// InspectionsLag reports whether the last relist with all inspections answered is much older than the last list. It is
// also true if there never was such a relist.
func InspectionsLag(s *engine.Snapshot) bool {
	return s.Health.SettledAt.IsZero() || s.Health.InspectAge(s.At) > s.Health.ListAge(s.At)+inspectLate
}

// ChannelFills reports whether the kubelet's event channel, as plegtop models it, is nearly full.
func ChannelFills(c *engine.Channel) bool { return c.Capacity > 0 && c.Len*10 >= c.Capacity*8 }

// WorkerHeld reports whether a pod worker has been waiting for long. The workers of a kubelet that acts have their own
// PLEG; all others wait for our relist.
func WorkerHeld(s *engine.Snapshot, w *podworker.Worker) bool {
	late := workerLate
	if !s.Workers.Acting {
		late += max(s.Period-time.Second, 0)
	}
	waits := w.State == podworker.WaitsForStatus || w.State == podworker.WaitsForExpected
	return waits && s.At.Sub(w.Since) >= late
}

// WorkersHeld counts the pod workers that have been waiting for long.
func WorkersHeld(s *engine.Snapshot) (n int) {
	for _, w := range s.Workers.All {
		if WorkerHeld(s, w) {
			n++
		}
	}
	return n
}

// WorkerIdle reports whether a pod worker has had nothing to do for long.
func WorkerIdle(s *engine.Snapshot, w *podworker.Worker) bool {
	return w.State == podworker.Idle && s.At.Sub(w.Since) >= idleLong
}
