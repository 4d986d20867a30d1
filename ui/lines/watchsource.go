package lines

import (
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
)

type sourceLine struct {
	header
	sources.SourceChange
	Lost uint64 `line:"lost,omitempty"` // changes before this one that were too many for this reader
}

type driftLine struct {
	header
	sources.Drift
	LeadP50  *time.Duration `line:"leadP50Seconds"` // null where both saw none
	LeadP99  *time.Duration `line:"leadP99Seconds"`
	Received uint64         `line:"received"` // and looked at: with lost, all that came
	Lost     uint64         `line:"lost"`
}

// A sightingObject says when somebody saw a transition.
type sightingObject struct {
	Source sources.Source `line:"source"`
	Time   time.Time      `line:"time"`
	Lead   *time.Duration `line:"leadSeconds,omitzero"` // absent where no relist had seen it
}

// sightings returns who had seen e when it was told, the first one first. Without an
// event source that is the relist.
func sightings(e engine.Event) []sightingObject {
	if _, at := e.Seen.First(); at.IsZero() {
		return []sightingObject{{sources.FromRelist, e.SeenAt, new(time.Duration)}}
	}
	var all []sightingObject
	for i, at := range e.Seen.At {
		if at.IsZero() {
			continue
		}
		s := sightingObject{Source: sources.Source(i), Time: at}
		if lead, ok := e.Seen.Lead(sources.Source(i)); ok {
			s.Lead = &lead
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b sightingObject) int { return a.Time.Compare(b.Time) })
	return all
}

// seenBy appends who saw e before the relist did, or saw it alone.
func seenBy(b []byte, e engine.Event) []byte {
	first, _ := e.Seen.First()
	lead, both := e.Seen.Lead(first)
	switch {
	case first == sources.FromRelist:
		return b
	case !both:
		return fmt.Appendf(b, " seen by %v, by no relist", first)
	}
	return fmt.Appendf(b, " seen by %v %s before the relist", first, text.Took(lead))
}

// driftDue reports whether it is time to tell of drift, which is once a minute.
func (v *watcher) driftDue(now time.Time) bool {
	due := !v.nextDrift.IsZero() && !now.Before(v.nextDrift)
	if due || v.nextDrift.IsZero() {
		v.nextDrift = now.Add(time.Minute)
	}
	return due
}

// sources appends the changes of event sources that were not written yet.
func (v *watcher) sources(b []byte, s *engine.Snapshot) []byte {
	for _, c := range s.SourceChanges {
		if c.Seq > v.change {
			b = v.source(b, c)
		}
	}
	return b
}

func (v *watcher) source(b []byte, c sources.SourceChange) []byte {
	missing := c.Seq - v.change - 1
	v.change = max(v.change, c.Seq)
	said := fmt.Sprintf("source %v %v", c.Source, c.State)
	if missing > 0 {
		said += fmt.Sprintf(" (after %d changes that were too many for this reader)", missing)
	}
	if c.Reason != "" {
		said += ": " + c.Reason
	}
	return v.line(b, c.At, &sourceLine{newHeader(c.At, "source"), c, missing}, said)
}

// drift appends how far each source agrees with the relist.
func (v *watcher) drift(b []byte, s *engine.Snapshot) []byte {
	for _, d := range s.Drift {
		l := &driftLine{header: newHeader(s.At, "drift"), Drift: d}
		if of := s.Stream(d.Source); of != nil {
			l.Received, l.Lost = of.Received, of.Lost
		}
		said := fmt.Sprintf("drift %v: %d of %d transitions seen by both, %d missed by the relist, %d missed by %[1]v", d.Source, d.Both, d.Transitions, d.MissedByRelist, d.MissedBySource)
		said += fmt.Sprintf(", %d late, %d duplicates", d.Late, d.Duplicates)
		if d.Both > 0 {
			l.LeadP50, l.LeadP99 = &d.LeadP50, &d.LeadP99
			said += fmt.Sprintf("; lead: median %s, worst 1%% %s", say.Lead(d.LeadP50), say.Lead(d.LeadP99))
		}
		b = v.line(b, s.At, l, fmt.Sprintf("%s; %d received, %d lost", said, l.Received, l.Lost))
	}
	return b
}

// end appends what is to be said last: which sources were open until now, and the drift.
func (v *watcher) end() []byte {
	s := v.last
	if s == nil {
		return nil
	}
	var b []byte
	for _, of := range s.Sources {
		if of.State == sources.StreamOpening || of.State == sources.StreamConnected {
			b = v.source(b, sources.SourceChange{Seq: v.change + 1, At: s.At, Source: of.Source, State: sources.StreamEnding, Reason: "plegtop ends"})
		}
	}
	return v.drift(b, s)
}
