package events

import (
	"sort"

	"github.com/plegtop/plegtop/ui/model"
)

// A line is a row of the journal, or stands for all that was there at the start.
type line struct {
	*model.Row
	start bool
}

// A place is where a line stands.
type place struct {
	seq   uint64 // of its row
	start bool
}

func (n line) place() place { return place{n.Seq, n.start} }

// lines are those of the rows that the filter shows.
type lines struct {
	starts bool // what was there at the start has a line for each event

	all     []line
	version int    // of the journal
	folded  uint64 // events that the line of the start stands for
	last    uint64 // the Seq of the newest row in all; 0 before the first
	stale   bool   // all are made anew at the next update
}

// update takes over the rows that have come, and drops those that have gone. It reports
// whether there is anything new.
func (s *lines) update(j *model.Journal) bool {
	shown := j.Shown()
	was := s.last
	if s.stale || s.version != j.Version {
		s.all, s.last, s.folded, s.version, s.stale = nil, 0, 0, j.Version, false
	}
	if len(shown) == 0 {
		s.all, s.last = nil, 0
		return was > 0
	}
	s.all = s.all[s.from(shown[0].Seq):]
	for _, r := range shown[model.Place(shown, s.last+1):] {
		if !s.fold(r) {
			s.all = append(s.all, line{Row: r})
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
		s.all = append(s.all, line{r, true})
	}
	return true
}

// from returns the place of the line of that row, or of the next one that is there.
func (s *lines) from(seq uint64) int {
	return sort.Search(len(s.all), func(i int) bool { return s.all[i].Seq >= seq })
}

// after returns the line of the next row that is there after one that is not.
func (s *lines) after(n place) place {
	if i := s.from(n.seq); i < len(s.all) {
		return s.all[i].place()
	}
	return n
}
