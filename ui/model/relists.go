package model

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
)

// relistsKept bounds the relists of a period that is a fraction of a second.
const relistsKept = 4 * int(Reach/time.Second)

// A Relist is a relist of all pods.
type Relist struct {
	engine.Relist
	Number uint64 // 1 for the first
	On     bool   // it is under way, and this is how far it has come; no pause holds it up
}

// End returns when a relist ended, or how far it has come.
func (r *Relist) End() time.Time { return r.At.Add(r.Took) }

func (t *times) observeRelists(s *engine.Snapshot) {
	all, history := t.relists, s.Relists.History
	if n := len(all); n > 0 && all[n-1].On {
		all = all[:n-1]
	}
	first := s.Relists.Count - uint64(len(history)) + 1 // the number of the oldest in it
	for i, r := range history {
		if n := first + uint64(i); len(all) == 0 || n > all[len(all)-1].Number {
			all = append(all, Relist{Relist: r, Number: n})
		}
	}
	old := max(0, len(all)-relistsKept)
	for old < len(all) && s.At.Sub(all[old].At) > Reach+all[old].Took {
		old++
	}
	t.relists = all[old:] // the next one that does not fit copies what is left
	if p := s.Phase; !p.OnDemand && (p.Step == engine.Listing || p.Step == engine.Inspecting) {
		now := engine.Relist{At: p.Began, Took: s.At.Sub(p.Began), List: p.ListTook, Inspected: p.Done}
		t.relists = append(t.relists, Relist{now, s.Relists.Count + 1, true})
	}
}

// Relists returns those within Reach, oldest first, with the one under way: valid until the
// next update, and not to be changed.
func (j *Journal) Relists() []Relist { return j.relists }

// Relist returns the relist that began then, which is how an event names the one that
// found it. It returns false for one that is no longer kept, and one of a single pod.
func (j *Journal) Relist(began time.Time) (Relist, bool) {
	i, found := slices.BinarySearchFunc(j.relists, began, func(r Relist, t time.Time) int { return r.At.Compare(t) })
	if !found {
		return Relist{}, false
	}
	return j.relists[i], true
}

// A Pause is a time in which no relist began, as a person wanted it.
type Pause struct {
	From, To time.Time // To is zero while it lasts
}

// Until returns when a pause ended as it was known at a time: then, while it lasted.
func (p Pause) Until(at time.Time) time.Time {
	if p.To.IsZero() || p.To.After(at) {
		return at
	}
	return p.To
}

// Pauses returns those within Reach, oldest first: valid until the next update, and not
// to be changed.
func (j *Journal) Pauses() []Pause { return j.pauses }

// pause notes that a pause has begun or ended.
func (t *times) pause(s *engine.Snapshot) {
	last := len(t.pauses) - 1
	on := last >= 0 && t.pauses[last].To.IsZero()
	switch {
	case s.Paused && !on:
		t.pauses = append(t.pauses, Pause{From: s.At})
	case !s.Paused && on:
		t.pauses[last].To = s.Resumed
	}
	t.pauses = slices.DeleteFunc(t.pauses, func(p Pause) bool { return !p.To.IsZero() && s.At.Sub(p.To) > Reach })
}

const seconds = int(Reach / time.Second)

// A Sample says how the calls of one operation went that returned in a stretch of time.
type Sample struct {
	Slowest       time.Duration
	Count, Errors uint32
	Out           time.Duration // for which a call had been out at its end, of one that was out for longer than the same take; 0 if none was
}

// A series is a ring of one sample for each second since the start.
type series struct {
	ring   []Sample // made with the first call
	end    int      // the second after the newest one in it
	merged time.Time
}

// at returns the sample of a second, which is the newest or one that is still kept;
// else nil.
func (c *series) at(second int) *Sample {
	if c.ring == nil {
		c.ring = make([]Sample, seconds)
	}
	if second < 0 || second < c.end-seconds {
		return nil
	}
	for c.end = max(c.end, second-seconds); c.end <= second; c.end++ {
		c.ring[c.end%seconds] = Sample{}
	}
	return &c.ring[second%seconds]
}

// observeCalls takes over how the calls went since the last update.
func (t *times) observeCalls(s *engine.Snapshot) {
	if len(t.calls) < len(s.Calls) {
		t.calls = append(t.calls, make([]series, len(s.Calls)-len(t.calls))...)
	}
	for i := range s.Calls {
		c := &t.calls[i]
		for _, n := range s.Calls[i].Seconds {
			if !n.At.After(c.merged) {
				continue
			}
			c.merged = n.At
			if to := c.at(int(n.At.Sub(s.Started) / time.Second)); to != nil {
				to.Slowest, to.Count, to.Errors = n.Slowest, n.Count, n.Errors
			}
		}
	}
	for _, f := range s.InFlight {
		if int(f.Op) < len(s.Calls) {
			t.miss(s, f)
		}
	}
}

// miss marks the seconds in which a call had no answer, once it should have had one.
func (t *times) miss(s *engine.Snapshot, f call.Flight) {
	if !diagnose.Late(s, f) {
		return
	}
	now := int(s.At.Sub(s.Started) / time.Second)
	for n := max(int(f.Since.Sub(s.Started)/time.Second), now-seconds); n <= now; n++ {
		if to := t.calls[f.Op].at(n); to != nil {
			end := s.Started.Add(time.Duration(n+1) * time.Second)
			if end.After(s.At) {
				end = s.At
			}
			to.Out = max(to.Out, f.Elapsed(end))
		}
	}
}

// Calls returns how the calls of an operation went from one moment to the next, in whole
// seconds since the start. The newest second is known when it is over.
func (j *Journal) Calls(op call.Operation, from, to time.Time) Sample {
	var sum Sample
	if j.last == nil || int(op) >= len(j.calls) || !to.After(j.last.Started) {
		return sum
	}
	c := &j.calls[op]
	first := max(int(from.Sub(j.last.Started)/time.Second), c.end-seconds, 0)
	for n := first; n < c.end && j.last.Started.Add(time.Duration(n)*time.Second).Before(to); n++ {
		s := &c.ring[n%seconds]
		sum.Slowest = max(sum.Slowest, s.Slowest)
		sum.Count += s.Count
		sum.Errors += s.Errors
		sum.Out = max(sum.Out, s.Out)
	}
	return sum
}
