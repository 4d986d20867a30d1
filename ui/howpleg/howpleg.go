// Package howpleg shows how PLEG works: one picture with the figures of the engine as it runs,
// and the way of one event through it, step by step.
package howpleg

import (
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/journal"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/look"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
)

// how is the layer. Before the first step the event is the newest one; from then on it stays,
// also when the journal keeps it no more.
type how struct {
	layer.Text
	wanted uint64 // the Seq of the event to begin with; 0 for the newest
	row    *journal.Row
	pinned bool
	step   int // of the event's way; 0 for the whole picture
}

// New returns the layer, which shows the way of the event of that Seq; of the newest one if it
// is 0 or not kept. It is not safe for concurrent use.
func New(event uint64) pane.Pane { return &how{wanted: event} }

// footer is what the footer names, the most useful first.
var footer = []keymap.Action{
	keymap.NextStep, keymap.PrevStep, keymap.Up, keymap.Down, keymap.Detail, keymap.Back, keymap.Director, keymap.PauseRelist, keymap.Freeze, keymap.Help,
}

// Info says which event it is, and which step of its way.
func (p *how) Info() pane.Info {
	i := p.Titled("How PLEG works", keymap.Over|keymap.Stepping, footer...)
	i.Beside = true
	if p.View == nil || p.row == nil {
		return i
	}
	t := p.View.Theme
	about := []text.Span{text.Say(t.Dim, look.EventWord(p.row.Kind)+" "+p.row.Pod.String()+" "+name(p.row))}
	if p.step > 0 {
		about = append([]text.Span{text.Say(t.Strong, "step "+strconv.Itoa(p.step)+" of "+strconv.Itoa(steps))}, about...)
	}
	i.About = append(about, i.About...)
	return i
}

// Subject returns the event.
func (p *how) Subject() pane.Subject {
	if p.row == nil {
		return pane.Subject{}
	}
	return pane.Subject{ObjectRef: p.row.ObjectRef, Event: p.row.Seq}
}

// Observe draws the picture as the engine stands now.
func (p *how) Observe(v *pane.View, w, h int) {
	if r := v.Journal.Row(p.wanted); p.wanted > 0 && r != nil && r.Gap == 0 {
		p.take(r)
	}
	p.wanted = 0
	if !p.pinned {
		p.newest(v)
	}
	p.Write(v, w, h, func(d *widget.Doc) { p.write(d, h) })
}

// take shows the way of another event.
func (p *how) take(r *journal.Row) {
	of := *r
	p.row, p.pinned = &of, true
}

// newest takes the newest event of those that are shown that is one of the kubelet's.
func (p *how) newest(v *pane.View) {
	for _, seq := range slices.Backward(v.Journal.Shown()) {
		r := v.Journal.Row(seq)
		if r.Gap == 0 && r.Delivery != pleg.Unseen && r.Delivery != pleg.Derived {
			of := *r
			p.row = &of
			return
		}
	}
}

// Do goes on, or back, on the way of the event, and from event to event.
func (p *how) Do(a keymap.Action, h pane.Host) (tea.Cmd, bool) {
	switch a {
	case keymap.NextStep, keymap.Right:
		p.to(p.step+1, h)
	case keymap.PrevStep, keymap.Left:
		p.to(p.step-1, h)
	case keymap.Up:
		p.other(-1, h)
	case keymap.Down:
		p.other(1, h)
	case keymap.HowPLEG, keymap.Back:
		h.Close(p)
	default:
		return p.Text.Do(a, h)
	}
	return nil, true
}

// to goes to a step; after the last one to the whole picture again, and to the newest event.
func (p *how) to(step int, h pane.Host) {
	if p.row == nil {
		h.Say("nothing has happened yet")
		return
	}
	p.step = max(step, 0) % (steps + 1)
	p.pinned = step <= steps && (p.pinned || step > 0)
	p.Show(0)
}

// other goes to the next event that is shown in the direction of by.
func (p *how) other(by int, h pane.Host) {
	j := p.View.Journal
	shown := j.Shown()
	at := len(shown)
	if p.row != nil {
		at, _ = slices.BinarySearch(shown, p.row.Seq)
		if by > 0 && (at == len(shown) || shown[at] != p.row.Seq) {
			at-- // it is not shown any more: the next one is here
		}
	}
	for i := at + by; i >= 0 && i < len(shown); i += by {
		if r := j.Row(shown[i]); r.Gap == 0 {
			p.take(r)
			return
		}
	}
	h.Say(map[bool]string{true: "no newer event", false: "no older event"}[by > 0])
}

// write writes the picture, if there is room for it, and what there is to say below.
func (p *how) write(d *widget.Doc, h int) {
	v := p.View
	way := chapters(v, p.row)
	at := way[p.step]
	longest := 0
	for _, c := range way {
		longest = max(longest, len(c.lines(v.Theme, d.Width())))
	}
	if rows := (h - longest) / len(grid); d.Width() >= leastWidth && rows >= frameLines+1 {
		for _, line := range picture(v, at.parts, d.Width(), min(rows-frameLines, mostLines)) {
			d.Line(line...)
		}
	}
	for _, line := range at.lines(v.Theme, d.Width()) {
		d.Line(line...)
	}
}
