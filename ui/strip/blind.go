package strip

import (
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/ui/pane"
)

// patience is how much longer than a period it may be from one answered list to the next
// before what is between them counts as not seen.
const patience = 2 * time.Second

// Blind works out in which of w cells nothing new could be seen, since no list was
// answered: one hung or failed, an inspection held up the next, or the relist was paused.
// It appends to cells, which may be nil.
func Blind(v *pane.View, w int, cells []bool) []bool {
	for range w {
		cells = append(cells, false)
	}
	cells = cells[len(cells)-w:]
	seen, late := v.Started, v.Period+patience
	upTo := func(at time.Time, end int) {
		if at.Sub(seen) > late {
			for i := max(v.Axis.Index(w, seen.Add(late)), 0); i < min(end, w); i++ {
				cells[i] = true
			}
		}
		seen = at
	}
	look := func(at time.Time) { upTo(at, v.Axis.Index(w, at)) }
	for i, r := range v.Journal.Relists() {
		switch answered := r.At.Add(r.List); {
		case r.Failed || answered.After(v.At):
		case i == 0 && r.Number > 1:
			seen = answered // what was before is kept no more
		default:
			look(answered)
		}
	}
	if p := v.Phase; p.Step == engine.Inspecting && !p.OnDemand {
		look(p.Began.Add(p.ListTook))
	}
	upTo(v.At, w)
	return cells
}
