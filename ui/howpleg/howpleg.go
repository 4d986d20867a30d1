// Package howpleg shows how PLEG works: one picture with the figures of the engine as it runs,
// and the way of one event through it, step by step.
package howpleg

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/story"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// how is the layer. Before the first step the event is the newest one; from then on it stays,
// also when the journal keeps it no more.
type how struct {
	layer.Text
	wanted uint64 // the Seq of the event to begin with; 0 for the newest
	row    *model.Row
	pinned bool
	step   int // of the event's way; 0 for the whole picture
}

// New returns the layer, which shows the way of the event of that Seq; of the last start or death
// if it is 0 or not kept. It is not safe for concurrent use.
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
	about := []text.Span{text.Say(t.Dim, say.EventWord(p.row.Kind)+" "+p.row.Pod.String()+" "+story.Name(p.row))}
	if p.step > 0 {
		about = append([]text.Span{text.Say(t.Strong, fmt.Sprintf("step %d of %d", p.step, story.Stages))}, about...)
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
func (p *how) take(r *model.Row) { p.row, p.pinned = r, true }

// newest takes the last start or death of those that are shown, else the newest event; in both
// cases one that a kubelet has.
func (p *how) newest(v *pane.View) {
	var newest *model.Row
	for _, r := range slices.Backward(v.Journal.Shown()) {
		changes := r.Kind == pleg.Started || r.Kind == pleg.Died
		if r.Gap > 0 || r.Delivery == pleg.Unseen || r.Delivery == pleg.Derived || newest != nil && !changes {
			continue
		}
		if newest = r; changes {
			break
		}
	}
	if newest != nil {
		p.row = newest
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
	p.step = max(step, 0) % (story.Stages + 1)
	p.pinned = step <= story.Stages && (p.pinned || step > 0)
	p.Show(0)
}

// other goes to the next event that is shown in the direction of by.
func (p *how) other(by int, h pane.Host) {
	shown := p.View.Journal.Shown()
	at := len(shown)
	if p.row != nil {
		at = model.Place(shown, p.row.Seq)
		if by > 0 && (at == len(shown) || shown[at].Seq != p.row.Seq) {
			at-- // it is not shown any more: the next one is here
		}
	}
	for i := at + by; i >= 0 && i < len(shown); i += by {
		if r := shown[i]; r.Gap == 0 {
			p.take(r)
			return
		}
	}
	h.Say(map[bool]string{true: "no newer event", false: "no older event"}[by > 0])
}

// write writes the picture, as high for all steps if it is not too small for that, and what there is
// to say below. What goes wrong on real nodes is left out where the picture has no room for it.
func (p *how) write(d *widget.Doc, h int) {
	v := p.View
	way := []story.Stage{overview(v, p.row)}
	if p.row != nil {
		way = append(way, story.Of(v.Snapshot, v.Journal, p.row)...)
	}
	least, most := 0, 0
	for i := range way {
		says, field := said(v.Theme, &way[i], i)
		n := height(says, d.Width())
		least, most = max(least, n), max(most, n+height([]text.Span{field}, d.Width()))
	}
	at := &way[p.step]
	says, field := said(v.Theme, at, p.step)
	lines := theme.When(h-most < looseHeight, h-least, h-most)
	for _, line := range draw(v, at.Places, d.Width(), max(lines, min(tightHeight, h-height(says, d.Width())))) {
		d.Line(line...)
	}
	if d.Len()+height(append(says, field), d.Width()) <= h {
		says = append(says, field)
	}
	for _, p := range says {
		if p.Text != "" {
			d.Paragraph(p.Style, p.Text)
		}
	}
}

// height returns how many lines paragraphs take.
func height(parts []text.Span, w int) (n int) {
	for _, p := range parts {
		if p.Text != "" {
			n += len(text.Wrap(p.Text, max(w, 1)))
		}
	}
	return n
}

// said returns the paragraphs of a stage, of which 0 is the whole picture: title and text, and what
// goes wrong there.
func said(t *theme.Theme, of *story.Stage, step int) (says []text.Span, field text.Span) {
	_, st := of.Level.Look(t)
	if step > 0 {
		says = append(says, text.Say(t.Title, strings.TrimSpace(fmt.Sprintf("%s %d %s  %s", t.Symbols.Mark, step, of.Title, of.At()))))
	}
	return append(says, text.Say(st, of.Says)), text.Say(t.Dim, of.Field)
}

// whole is what is said of the whole picture, by what the kubelet makes of the runtime's events.
var whole = [...]string{
	pleg.Generic: "The Pod Lifecycle Event Generator (PLEG) lists all containers every %s, and inspects the pods that changed. Workers sync those pods.",
	pleg.Evented: "PLEG lists all containers every %s, and inspects the pods that changed. When a container ends, the runtime's stream asks for a relist of its pod.",
}

// overview tells of the whole picture, and which keys follow an event.
func overview(v *pane.View, r *model.Row) story.Stage {
	key := func(a keymap.Action) string {
		first, _, _ := strings.Cut(v.Keys.Keys(a), " ")
		return first
	}
	says, next := fmt.Sprintf(whole[v.Mode.Mode], say.Period(v.Period)), key(keymap.NextStep)
	if r == nil {
		return story.Stage{Says: says, Field: "Nothing has happened yet. " + next + " will follow the first event step by step."}
	}
	return story.Stage{Says: says, Field: fmt.Sprintf("%s: follow this %s step by step; %s, %s: another event.", next, r.Kind, key(keymap.Up), key(keymap.Down))}
}
