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

// What a duration means to people where nothing need be wrong: what is late, slow or old. What
// it means for a call is in engine/answers.
const (
	// named is how long a call is out before it is shown: so that its name is seen
	// before a second has passed. While a call is out for long, a snapshot comes every quarter
	// of a second only.
	named = 500 * time.Millisecond
	// asOfLeast is how old a list must be for that to be told: younger ones may be so
	// between two relists that succeed.
	asOfLeast = 5 * time.Second
	// lagLate is the detection lag from which relists lag behind: with a period of one
	// second, anything below two is as it should be.
	lagLate = 3 * time.Second
	// workerLate is how long a pod worker may wait beyond a period of a second before that is
	// worth a look: a relist that is well brings what it waits for within two of them.
	workerLate = 3 * time.Second
	// listLate is how much longer than a period it may be from one answered list to the next
	// before what is between them counts as not seen.
	listLate = 2 * time.Second
	// inspectLate is by how much the last relist whose inspections all succeeded may be older
	// than the last list: one pod that is inspected slowly is no reason to look.
	inspectLate = 10 * time.Second
	// skew is how far a stamp of the runtime may lie in the future: clocks are read at
	// different moments.
	skew = 2 * time.Second
	// idleLong is from when on the time is shown for which a pod worker has been idle.
	idleLong = 10 * time.Second
)

// A Lateness says whether a call that is out is late.
type Lateness uint8

const (
	Unnamed Lateness = iota // it has just been made: nothing is worth a word
	Named                   // it is shown as being out
	Overdue                 // it is late: see [Late]
)

// LatenessOf returns how late a call is that is in flight.
func LatenessOf(s *engine.Snapshot, f call.Flight) Lateness {
	switch {
	case f.Elapsed(s.At) < named:
		return Unnamed
	case Late(s, f):
		return Overdue
	}
	return Named
}

// Late reports whether a call in flight is out for longer than a second, and for
// longer than the same usually takes there.
func Late(s *engine.Snapshot, f call.Flight) bool {
	facts := Facts{Snapshot: s, Look: cmp.Or(s.Evidence, &noLook)} // of all facts the moment needs no more
	m := facts.moment()
	return m.State(f) != answers.InTime
}

// RelistCall returns the call that the relist has been waiting for longest, or nil.
// Version and Status, probes and sweeps go their own way and hold nothing up.
func RelistCall(s *engine.Snapshot) *call.Flight {
	i := slices.IndexFunc(s.InFlight, func(f call.Flight) bool {
		return f.By == call.ByRelist && f.Op != call.Version && f.Op != call.Status
	})
	if i < 0 {
		return nil
	}
	return &s.InFlight[i]
}

// TookLong reports whether a call or a relist took longer than it does where all is well.
func TookLong(d time.Duration) bool { return d >= answers.Late }

// TookTooLong reports whether it took as long as what hangs to be critical.
func TookTooLong(d time.Duration) bool { return d >= answers.HungLong }

// LagsBehind reports whether an event was detected late.
func LagsBehind(lag time.Duration) bool { return lag >= lagLate }

// InFuture reports whether a stamp of the runtime lies further ahead of now than its clock may be.
func InFuture(at, now time.Time) bool { return at.After(now.Add(skew)) }

// UnseenAfter returns how long after an answered list, with such a period of the relist, what
// happens counts as not seen.
func UnseenAfter(period time.Duration) time.Duration { return period + listLate }

// AsOf returns when the pods of a snapshot were listed, if that is old because a relist
// hangs or fails; else zero.
func AsOf(s *engine.Snapshot) time.Time {
	hangs := slices.ContainsFunc(s.InFlight, func(f call.Flight) bool { return f.By == call.ByRelist && Late(s, f) })
	if !hangs && s.Failure == nil || s.Health.ListAge(s.At) < asOfLeast {
		return time.Time{}
	}
	return s.Health.ListedAt
}

// InspectionsLag reports whether no relist has lately come to its end with all inspections
// answered, though lists are; also if none ever has.
func InspectionsLag(s *engine.Snapshot) bool {
	return s.Health.SettledAt.IsZero() || s.Health.InspectAge(s.At) > s.Health.ListAge(s.At)+inspectLate
}

// ChannelFills reports whether the kubelet's event channel, as it is modelled, is nearly full.
func ChannelFills(c *engine.Channel) bool { return c.Capacity > 0 && c.Len*10 >= c.Capacity*8 }

// WorkerHeld reports whether a pod worker has been waiting for long. Those of a kubelet that acts
// have its own PLEG; the others wait for our relist.
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
