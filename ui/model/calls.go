package model

import (
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
)

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
