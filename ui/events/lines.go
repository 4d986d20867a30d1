package events

import (
	"sort"
	"time"

	"github.com/plegtop/plegtop/ui/model"
)

// A kind says what a line is, in the order in which they stand.
type kind uint8

const (
	start kind = iota // a line in the place of all that was there at the start
	rule              // a line before what another relist found
	event             // an event, or a gap
	more              // what the columns have no room for
)

// A line is one line of the pane.
type line struct {
	*model.Row
	kind kind
}

// A place is where a line stands.
type place struct {
	seq  uint64 // of its row
	kind kind
}

func (n line) place() place { return place{n.Seq, n.kind} }

// is reports whether n is an event that is wanted.
func (n line) is(wanted func(r *model.Row) bool) bool { return n.kind == event && wanted(n.Row) }

// lines are those of the rows that the filter shows.
type lines struct {
	relists, wrap bool // whether there are such lines
	starts        bool // what was there at the start has a line for each event

	all     []line
	version int       // of the journal
	at      time.Time // when the relist began that found the newest row of those that one has found
	folded  uint64    // events that the line of the start stands for
	last    uint64    // the Seq of the newest row in all; 0 before the first
	stale   bool      // all are made anew at the next update
}

// update takes over the rows that have come, and drops those that have gone. It reports
// whether there is anything new.
func (s *lines) update(j *model.Journal, untold func(r *model.Row) []string) bool {
	shown := j.Shown()
	was := s.last
	if s.stale || s.version != j.Version {
		s.all, s.last, s.folded, s.at, s.version, s.stale = nil, 0, 0, time.Time{}, j.Version, false
	}
	if len(shown) == 0 {
		s.all, s.last, s.at = nil, 0, time.Time{}
		return was > 0
	}
	s.all = s.all[s.from(shown[0].Seq):]
	for _, r := range shown[model.Place(shown, s.last+1):] {
		if s.fold(r) {
			continue
		}
		if s.another(r) && s.relists {
			s.all = append(s.all, line{r, rule})
		}
		s.all = append(s.all, line{r, event})
		if s.wrap && len(untold(r)) > 0 {
			s.all = append(s.all, line{r, more})
		}
		s.last = r.Seq
	}
	return s.last != was
}

// fold has one line stand for all that was there at the start, and reports whether it does for r.
func (s *lines) fold(r *model.Row) bool {
	if s.starts || !r.AtStart || r.Gap > 0 {
		return false
	}
	if s.folded++; s.folded == 1 {
		s.all = append(s.all, line{r, start})
	}
	s.last = r.Seq
	return true
}

// from returns the place of the first line of that row, or of the next one that is there.
func (s *lines) from(seq uint64) int {
	return sort.Search(len(s.all), func(i int) bool { return s.all[i].Seq >= seq })
}

// another reports whether r was found by another relist than those before it. After a gap
// that is told again; what no relist has seen was found by none.
func (s *lines) another(r *model.Row) bool {
	switch {
	case r.Gap > 0:
		s.at = time.Time{}
		return false
	case !r.ByRelist(), r.At.Equal(s.at):
		return false
	}
	s.at = r.At
	return true
}

// after returns the line of the next event that is there after one that is not.
func (s *lines) after(n place) place {
	for _, m := range s.all[s.from(n.seq):] {
		if m.kind == event || m.kind == start {
			return m.place()
		}
	}
	return n
}
