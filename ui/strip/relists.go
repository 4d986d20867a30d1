// Package strip draws along the axis of time what the journal knows: how relists and
// calls went, and what containers went through. It is for all panes and the header
// alike. Nothing in it does I/O or reads a clock. A view and a line belong to the goroutine
// that draws.
package strip

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// Relists draws the last relists in w cells, by how long they took: one in each cell as a rule,
// whatever time other strips show. Each cell is as high as the relist in
// it had been running by the end of the cell, so that one that takes two minutes climbs
// for two minutes; where the last good list is older than the kubelet's threshold it is a
// sign. Where relists failed there is another sign, and a third where they failed in part: some
// inspections did, or fewer than half of a cell's lists. Cells of a pause are marked as such; nothing is before the start.
func Relists(l *text.Line, v *pane.View, w int) {
	w = min(w, l.Left())
	d := relistCells{v: v, pen: v.Pen(), all: v.Journal.Relists()}
	axis := d.axis(w)
	d.perCell = axis.PerCell(w)
	first, _ := axis.Cell(w, 0)
	last := seek(d.all, first)
	for i := range min(last+1, len(d.all)) {
		d.list(&d.all[i], first)
	}
	widget.Strip(l, axis, w, func(from, to time.Time) (string, theme.Style) {
		for last+1 < len(d.all) && !d.all[last+1].At.After(from) {
			last++
		}
		return d.look(last, from, to)
	})
}

// axis returns the time of w cells: the relist's period each, or so many times as much, by twos, that
// half as many relists as there are cells have room. It changes seldom.
func (d *relistCells) axis(w int) *widget.Axis {
	a := &widget.Axis{End: d.v.Axis.End, Width: max(d.v.Period, time.Second) * time.Duration(w)}
	if n := len(d.all); n > 0 {
		for first := d.all[max(n-1-w/2, 0)].At; first.Before(a.End.Add(-a.Width)); {
			a.Width *= 2
		}
	}
	return a
}

// seek returns the last relist that had begun at a time; 0 if none had.
func seek(all []model.Relist, at time.Time) int {
	i, _ := slices.BinarySearchFunc(all, at, func(r model.Relist, at time.Time) int { return r.At.Compare(at) })
	return max(i-1, 0)
}

// relistCells is what the cells of relists are worked out from.
type relistCells struct {
	v       *pane.View
	pen     widget.Pen
	all     []model.Relist
	perCell time.Duration
	listed  time.Time // start of the last relist whose lists had succeeded by then; zero before
}

// list takes notice of a relist, if its lists had succeeded by a time.
func (d *relistCells) list(r *model.Relist, by time.Time) {
	listed := !r.Failed && (!r.On || d.v.Phase.Step == engine.Inspecting)
	if listed && !r.At.Add(r.List).After(by) {
		d.listed = r.At
	}
}

// age returns how old the last good list was at a time, as the kubelet counts it if it
// paused as well; 0 before the first.
func (d *relistCells) age(at time.Time) time.Duration {
	if d.listed.IsZero() {
		return 0
	}
	age := at.Sub(d.listed)
	for _, p := range d.v.Journal.Pauses() {
		from, end := p.From, p.Until(at)
		if from.Before(d.listed) {
			from = d.listed
		}
		age -= max(end.Sub(from), 0)
	}
	return age
}

// look returns what a cell shows. Relist i is the last that had begun before it, or the
// first of all.
func (d *relistCells) look(i int, from, to time.Time) (string, theme.Style) {
	var ran, age time.Duration
	var ended, failed int
	var broken, any bool
	before := i
	for ; i < len(d.all) && d.all[i].At.Before(to); i++ {
		r, end := &d.all[i], d.all[i].End()
		before = i
		if !widget.Meets(r.At, end, from, to) {
			continue
		}
		any = true
		d.list(r, to)
		if end.After(to) {
			end = to
		} else {
			ended++
			if r.Failed {
				failed++
			}
			broken = broken || r.Failures > 0
		}
		ran, age = max(ran, end.Sub(r.At)), d.age(end)
	}
	switch {
	case failed > 0:
		return failures(d.pen, failed, ended), d.pen.Bad
	case broken:
		return d.pen.Symbols.SparkSome, d.pen.Warn
	case any:
		return d.bar(ran, age)
	case d.paused(from, to):
		return d.pen.Symbols.Pause, d.pen.Dim
	case d.brief(before, from):
		return d.bar(d.all[before].Took, 0)
	}
	return "", theme.Style{}
}

// failures returns the sign of a cell in which so many of all failed: one in three does not
// look like each one.
func failures(p widget.Pen, failed, all int) string {
	return theme.When(2*failed >= all, p.Symbols.SparkFailed, p.Symbols.SparkSome)
}

func (d *relistCells) bar(ran, age time.Duration) (string, theme.Style) {
	switch {
	case age >= d.v.Threshold:
		return d.pen.Symbols.Warn, d.pen.Bad
	case diagnose.TookLong(ran):
		return d.pen.Height(ran), d.pen.Warn
	}
	return d.pen.Height(ran), d.pen.Dim
}

func (d *relistCells) paused(from, to time.Time) bool {
	return slices.ContainsFunc(d.v.Journal.Pauses(), func(p model.Pause) bool {
		return widget.Meets(p.From, p.Until(d.v.At), from, to)
	})
}

// brief reports whether a cell without a relist lies in a wait after relist i that is
// too short to be seen at this scale: then the strip goes on as before, or it would be
// full of gaps that say nothing.
func (d *relistCells) brief(i int, from time.Time) bool {
	if i >= len(d.all) || !d.all[i].At.Before(from) {
		return false
	}
	until := d.v.At
	if i+1 < len(d.all) {
		until = d.all[i+1].At
	}
	return !until.Before(from) && until.Sub(d.all[i].End()) < 2*d.perCell
}

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
		if !r.Failed && (!r.On || v.Phase.Step == engine.Inspecting) {
			look(r.At.Add(r.List))
		}
	}
	look(v.At)
	for _, p := range v.Journal.Pauses() {
		mark(p.From, p.Until(v.At), Blind, Paused)
	}
	return cells
}
