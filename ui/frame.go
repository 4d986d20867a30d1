package ui

import (
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/ui/finding"
	"github.com/plegtop/plegtop/ui/text"
)

func (m *Model) pen() pen { return pen{m.theme, m.snap.At} }

// frame returns the whole screen: m.height lines of exactly m.width cells.
func (m *Model) frame() string {
	if m.width <= 0 || m.height <= 0 {
		return ""
	}
	l := text.Line{Ellipsis: m.theme.Symbols.Ellipsis, Buf: make([]byte, 0, m.width*m.height*2)}
	d := m.newFrame()
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

// A frame is what drawing the screen once needs beside the model.
type frame struct {
	*Model
	pen
	blank []span   // in the place of the pods, if any
	tiny  []span   // on a small screen
	below []span   // in the pane of calls, below its table
	over  []string // the lines of what lies over the panes, if drawn so

	sheet      *sheet // if one is open
	sheetTitle string
}

func (m *Model) newFrame() *frame {
	d := &frame{Model: m, pen: m.pen()}
	d.over = m.overLines()
	d.sheet, d.sheetTitle = m.onTop()
	switch {
	case m.layout.tiny && d.over == nil && d.sheet == nil:
		d.tiny = m.smallLines(d.pen)
	case m.layout.visible(podsPane):
		d.blank = m.blank(d.pen)
	}
	if m.layout.visible(callsPane) {
		d.below = m.calls.below(d.pen, m.snap, m.sweepKept(d.pen), m.focus == callsPane)
	}
	return d
}

// line draws line y of the screen.
func (d *frame) line(l *text.Line, y int) {
	at, small := d.layout, d.tiny != nil
	switch {
	case y == d.height-1:
		d.footer(l)
	case y < at.header && !small:
		header{d.cfg.Source, d.frozen, d.gauge}.line(l, d.pen, d.snap, pick(d.small(), 1, y))
	case y < at.body && !small:
		d.alertLine(l, y-at.header)
	case d.over != nil:
		if i := y - at.body; i >= 0 && i < len(d.over) {
			l.Finished(d.over[i], d.width)
		}
	case small:
		if y < len(d.tiny) {
			l.Space(1)
			l.Put(d.tiny[y].style, d.tiny[y].text)
		}
	case d.sheet != nil:
		d.sheetLine(l, y-at.body)
	default:
		d.bodyLine(l, y)
	}
}

func (d *frame) alertLine(l *text.Line, i int) {
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
func (d *frame) bodyLine(l *text.Line, y int) {
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
func (d *frame) boxLine(l *text.Line, b box, y int) {
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
	if none := d.nothing(d.pen); y == 1 && b.pane == findingsPane && len(d.findings.all) == 0 {
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

func (d *frame) heads(l *text.Line, b box) {
	switch b.pane {
	case podsPane:
		d.pods.heads(l, d.pen)
	case eventsPane:
		d.events.heads(l, d.pen, b.w-2)
	case callsPane:
		d.calls.heads(l, d.pen, b.w-2)
	case findingsPane:
		d.findings.heads(l, d.pen)
	}
}

// row draws a row with the cell before it, so that the bar of the cursor begins
// at the edge of the pane.
func (d *frame) row(l *text.Line, b box, y int, focused bool) {
	l.Space(1)
	switch b.pane {
	case podsPane:
		d.pods.row(l, d.pen, y, focused)
	case eventsPane:
		d.events.row(l, d.pen, y, focused)
	case callsPane:
		d.calls.row(l, d.pen, d.snap, d.below, y, focused)
	case findingsPane:
		d.findings.row(l, d.pen, y, focused)
	}
}

// windowTitle is what a terminal emulator shows on its frame or tab. It does not
// change while nothing happens.
func (m *Model) windowTitle() string {
	return text.Clean(strings.TrimSpace("plegtop " + m.cfg.Source.Node + " " + m.headline.Word))
}

// title draws the title of a pane: its name, what it shows, and a rule.
func (d *frame) title(l *text.Line, b box) {
	l.Sign(d.Border, d.Symbols.Horizontal)
	for p := range panes {
		if p != b.pane && (!b.tabs || d.layout.visible(p)) {
			continue
		}
		l.Space(1)
		d.tab(l, p, p == b.pane)
		if p == b.pane {
			l.Space(1)
			d.about(l, p)
		}
		l.Space(1)
		l.Sign(d.Border, d.Symbols.Horizontal)
	}
	l.Repeat(d.Border, d.Symbols.Horizontal, l.Left())
}

// tab names a pane. That pods have problems, and how bad the worst finding is, is
// told also where they are not seen.
func (d *frame) tab(l *text.Line, p pane, here bool) {
	name := strconv.Itoa(int(p)+1) + " " + paneNames[p]
	switch {
	case here && p == d.focus:
		l.Put(d.Focus, name)
	case here:
		l.Put(d.Title, name)
	default:
		l.Put(d.Dim, name)
		if p == podsPane && d.pods.troubled > 0 {
			l.Put(d.Warn, " "+d.Symbols.Warn+" "+strconv.Itoa(d.pods.troubled))
		}
		if p == findingsPane && len(d.findings.all) > 0 {
			worst := finding.Worst(d.findings.all)
			symbol, st := finding.Look(d.Theme, worst)
			l.Put(st, " "+symbol+" "+strconv.Itoa(d.findings.count(worst)))
		}
	}
}

// about says how much of what the pane shows.
func (d *frame) about(l *text.Line, p pane) {
	switch p {
	case podsPane:
		d.aboutPods(l)
	case eventsPane:
		d.events.title(l, d.pen)
	case callsPane:
		l.Put(d.Dim, cost(d.snap))
	case findingsPane:
		d.findings.title(l, d.pen)
	}
}

func (d *frame) aboutPods(l *text.Line) {
	n := strconv.Itoa(len(d.pods.shown))
	if all := len(d.pods.all.Pods); len(d.pods.shown) != all {
		n += "/" + strconv.Itoa(all)
	}
	l.Put(d.Dim, n)
	if d.pods.troubled > 0 {
		l.Put(d.Warn, " "+d.Symbols.Warn+" "+strconv.Itoa(d.pods.troubled)+pick(d.pods.troubled == 1, " with a problem", " with problems"))
	}
	if d.pods.trouble {
		l.Put(d.Info, " problems only")
	}
	if ns := d.filter.namespaces; len(ns) > 0 {
		l.Put(d.Info, " ns:"+strings.Join(ns, ","))
	}
	if d.filter.text != "" {
		l.Put(d.Info, " /"+d.filter.text)
	}
}
