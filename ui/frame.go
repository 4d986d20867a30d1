package ui

import (
	"strings"

	"github.com/plegtop/plegtop/ui/text"
)

func (m *Model) brush() brush { return brush{m.theme, m.snap.At} }

// frame returns the whole screen: m.height lines of exactly m.width cells.
func (m *Model) frame() string {
	if m.width <= 0 || m.height <= 0 {
		return ""
	}
	l := text.Line{Ellipsis: m.theme.Symbols.Ellipsis, Buf: make([]byte, 0, m.width*m.height*2)}
	d := m.drawing()
	for y := range m.height {
		if y > 0 {
			l.Buf = append(l.Buf, '\n')
		}
		l.Begin(m.width)
		d.line(&l, y)
		l.Under()
		l.End()
	}
	if m.theme.Symbols.ASCII {
		return text.PlainASCII(string(l.Buf))
	}
	return string(l.Buf)
}

// A drawing is what one frame needs beside the model, worked out once for it.
type drawing struct {
	*Model
	brush
	blank []fact   // in the place of the pods, if any
	facts []fact   // on a small screen
	below []fact   // in the pane of calls, below its table
	over  []string // the lines of what lies over the panes, if drawn so

	sheet      *sheet // if one is open
	sheetTitle string
}

func (m *Model) drawing() *drawing {
	d := &drawing{Model: m, brush: m.brush()}
	d.over = m.overLines()
	d.sheet, d.sheetTitle = m.onTop()
	switch {
	case m.layout.facts && d.over == nil && d.sheet == nil:
		d.facts = m.smallFacts(d.brush)
	case m.layout.visible(podsPane):
		d.blank = m.blank(d.brush)
	}
	if m.layout.visible(callsPane) {
		d.below = m.calls.below(d.brush, m.snap, m.sweepKept(d.brush), m.focus == callsPane)
	}
	return d
}

// line draws line y of the screen.
func (d *drawing) line(l *text.Line, y int) {
	at, small := d.layout, d.facts != nil
	switch {
	case y == d.height-1:
		d.footer(l)
	case y < at.header && !small:
		header{d.cfg.Source, d.frozen, d.gauge}.line(l, d.brush, d.snap, pick(d.small(), 1, y))
	case y < at.body && !small:
		d.alertLine(l, y-at.header)
	case d.over != nil:
		if i := y - at.body; i >= 0 && i < len(d.over) {
			l.Finished(d.over[i], d.width)
		}
	case small:
		if y < len(d.facts) {
			l.Space(1)
			l.Put(d.facts[y].style, d.facts[y].text)
		}
	case d.sheet != nil:
		d.sheetLine(l, y-at.body)
	default:
		d.bodyLine(l, y)
	}
}

func (d *drawing) alertLine(l *text.Line, i int) {
	a := d.alerts[i]
	l.Space(1)
	if more := len(d.alerts) - d.layout.alerts; more > 0 && i == d.layout.alerts-1 {
		note := "  and " + text.Count(uint64(more)) + " more"
		kept := l.Keep(len(note) + 1)
		l.Put(a.style, a.text)
		l.Release(kept)
		l.Put(d.Dim, note)
		return
	}
	l.Put(a.style, a.text)
}

// bodyLine draws line y of the panes, from left to right.
func (d *drawing) bodyLine(l *text.Line, y int) {
	x := 0
	for _, b := range d.layout.shown() {
		if y < b.y || y >= b.y+b.h {
			continue
		}
		if b.x > x {
			l.Sign(d.Border, d.Symbols.Vertical)
		}
		x = b.x + b.w
		kept := l.Keep(l.Left() - b.w)
		d.boxLine(l, b, y-b.y)
		l.Under()
		l.End()
		l.Release(kept)
	}
}

// boxLine draws line y of one pane.
func (d *drawing) boxLine(l *text.Line, b box, y int) {
	if y == 0 {
		d.title(l, b)
		return
	}
	focused := b.pane == d.focus
	margin := l.Keep(1)
	if b.pane == podsPane && d.blank != nil {
		if y >= 2 && y-2 < len(d.blank) {
			l.Space(2)
			l.Put(d.blank[y-2].style, d.blank[y-2].text)
		}
		l.End()
		l.Release(margin)
		return
	}
	if none := d.nothing(d.brush); y == 1 && b.pane == findingsPane && len(d.findings.all) == 0 {
		l.Space(1)
		l.Put(none.style, none.text)
	} else if y == 1 {
		l.Space(1)
		d.heads(l, b)
	} else {
		d.row(l, b, y-2, focused)
	}
	l.End()
	l.Release(margin)
}

func (d *drawing) heads(l *text.Line, b box) {
	switch b.pane {
	case podsPane:
		d.pods.heads(l, d.brush)
	case eventsPane:
		d.events.heads(l, d.brush, b.w-2)
	case callsPane:
		d.calls.heads(l, d.brush, b.w-2)
	case findingsPane:
		d.findings.heads(l, d.brush)
	}
}

// row draws a row with the cell before it, so that the bar of the cursor begins
// at the edge of the pane.
func (d *drawing) row(l *text.Line, b box, y int, focused bool) {
	l.Space(1)
	switch b.pane {
	case podsPane:
		d.pods.row(l, d.brush, y, focused)
	case eventsPane:
		d.events.row(l, d.brush, y, focused)
	case callsPane:
		d.calls.row(l, d.brush, d.snap, d.below, y, focused)
	case findingsPane:
		d.findings.row(l, d.brush, y, focused)
	}
}

// windowTitle is what a terminal emulator shows on its frame or tab. It does not
// change while nothing happens.
func (m *Model) windowTitle() string {
	return text.Clean(strings.TrimSpace("plegtop " + m.cfg.Source.Node + " " + m.headline.Word))
}
