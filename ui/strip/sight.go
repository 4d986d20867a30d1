package strip

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/pane"
)

// A Sight says whether anything new could be seen in the time of a cell.
type Sight uint8

const (
	Clear  Sight = iota // lists were answered
	Paused              // the relist was paused
	Blind               // a list hung or failed, or an inspection held up the next list
)

// Sights works out the sight of w cells. It writes them over those of cells, which may be
// nil.
func Sights(v *pane.View, w int, cells []Sight) []Sight {
	cells = slices.Grow(cells[:0], w)[:w]
	clear(cells)
	mark := func(from, to time.Time, was, is Sight) {
		end := w // up to now
		if to.Before(v.At) {
			end = min(v.Axis.Index(w, to), w)
		}
		for i := max(v.Axis.Index(w, from), 0); i < end; i++ {
			if cells[i] == was {
				cells[i] = is
			}
		}
	}
	seen, late := v.Started, diagnose.UnseenAfter(v.Period)
	look := func(at time.Time) {
		if at.Sub(seen) > late {
			mark(seen.Add(late), at, Clear, Blind)
		}
		seen = at
	}
	number := uint64(0)
	for _, r := range v.Journal.Relists() {
		if number++; r.Number != number {
			seen, number = r.At, r.Number // those before it are not kept
		}
		if !r.Failed {
			look(r.At.Add(r.List))
		}
	}
	if p := v.Phase; p.Step == engine.Inspecting && !p.OnDemand {
		look(p.Began.Add(p.ListTook))
	}
	look(v.At)
	for _, p := range v.Journal.Pauses() {
		mark(p.From, p.Until(v.At), Blind, Paused)
	}
	return cells
}
