package ui

import (
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
)

// frame returns the whole screen: m.height lines of exactly m.width cells.
func (m *Model) frame() string {
	if m.width <= 0 || m.height <= 0 {
		return ""
	}
	l := text.Line{Ellipsis: m.view.Theme.Symbols.Ellipsis, Buf: make([]byte, 0, m.width*m.height*2)}
	for y := range m.height {
		if y > 0 {
			l.Buf = append(l.Buf, '\n')
		}
		l.Begin(m.width)
		m.line(&l, y)
		l.Under()
		l.End()
	}
	if m.view.Theme.Symbols.ASCII {
		return text.PlainASCII(string(l.Buf))
	}
	return string(l.Buf)
}

// line draws line y of the screen.
func (m *Model) line(l *text.Line, y int) {
	at := &m.layout
	switch {
	case y == m.height-1:
		m.footer(l)
	case y >= m.height-at.foot:
		m.drawCaption(l)
	case at.tiny:
		m.header.Tiny(l, y, m.height-at.foot)
	case y < at.header:
		m.header.Draw(l, y)
	case y < at.body:
		m.alert(l, y-at.header)
	default:
		m.body(l, y)
	}
}

// alert draws an alert, and with the last one how many there is no room for.
func (m *Model) alert(l *text.Line, i int) {
	all := m.header.Alerts()
	l.Space(1)
	if more := len(all) - m.layout.alerts; more > 0 && i == m.layout.alerts-1 {
		note := "  and " + text.Count(uint64(more)) + " more"
		kept := l.Keep(len(note) + 1)
		l.Put(all[i].Style, all[i].Text)
		l.Release(kept)
		l.Put(m.view.Theme.Dim, note)
		return
	}
	l.Put(all[i].Style, all[i].Text)
}

// body draws line y of the panes, from left to right, or of the layer over them.
func (m *Model) body(l *text.Line, y int) {
	if p := m.top(); p != nil {
		m.pane(l, p, y-m.layout.body, true, func() { m.layerTitle(l, p) })
		return
	}
	x := 0
	for _, b := range m.layout.boxes {
		if y < b.y || y >= b.y+b.h {
			continue
		}
		if b.x > x {
			l.Sign(m.view.Theme.Border, m.view.Theme.Symbols.Vertical)
		}
		x = b.x + b.w
		kept := l.Keep(l.Left() - b.w)
		m.pane(l, m.panes[b.pane], y-b.y, b.pane == m.focus, func() { m.title(l, b) })
		l.Under()
		l.End()
		l.Release(kept)
	}
}

// pane draws line y of one pane, with its title as the first. The margin before a row
// has its look, so that the bar of the cursor begins at the edge of the pane.
func (m *Model) pane(l *text.Line, p pane.Pane, y int, focused bool, title func()) {
	if y == 0 {
		title()
		return
	}
	margin := l.Keep(1)
	l.Space(1)
	p.Draw(l, y-1, focused)
	l.End()
	l.Release(margin)
}

// title draws the title of a pane: the tabs, how much the pane shows of what, and a
// rule. What goes on in panes that are not seen their tabs tell.
func (m *Model) title(l *text.Line, b box) {
	t := m.view.Theme
	l.Sign(t.Border, t.Symbols.Horizontal)
	for i, p := range m.panes {
		here, info := i == b.pane, p.Info()
		if !here && (!b.tabs || m.layout.find(i) != nil) {
			continue
		}
		l.Space(1)
		name := strconv.Itoa(i+1) + " " + info.Name
		switch {
		case here && i == m.focus && m.top() == nil:
			l.Put(t.Focus, name)
		case here:
			l.Put(t.Title, name)
		default:
			l.Put(t.Dim, name)
		}
		told := info.Mark
		if here {
			told = info.About
		}
		for _, s := range told {
			l.Space(1)
			l.Put(s.Style, s.Text)
		}
		l.Space(1)
		l.Sign(t.Border, t.Symbols.Horizontal)
	}
	l.Repeat(t.Border, t.Symbols.Horizontal, l.Left())
}

// layerTitle draws the title of a layer.
func (m *Model) layerTitle(l *text.Line, p pane.Pane) {
	t, info := m.view.Theme, p.Info()
	l.Sign(t.Border, t.Symbols.Horizontal)
	l.Space(1)
	l.Put(t.Focus, info.Name)
	for _, s := range info.About {
		l.Space(1)
		l.Put(s.Style, s.Text)
	}
	l.Space(1)
	l.Repeat(t.Border, t.Symbols.Horizontal, l.Left())
}

// footer draws the last line: a layer that has its place there, the answer to the last
// key, or the keys that are of most use here.
func (m *Model) footer(l *text.Line) {
	l.Space(1)
	kept := l.Keep(1)
	n := len(m.layers)
	switch {
	case n > 0 && m.layers[n-1].Info().Foot && !(m.flash.text != "" && m.layers[n-1].Info().Scope == keymap.InDirector):
		m.layers[n-1].Draw(l, 0, true)
	case m.flash.text != "":
		l.Put(m.view.Theme.Flash, m.flash.text)
	default:
		m.keyHints(l)
	}
	l.End()
	l.Release(kept)
}

// keyHints names as many keys as there is room for, the most useful first.
func (m *Model) keyHints(l *text.Line) {
	for i, e := range m.useful() {
		key, _, _ := strings.Cut(e.Binding.Help().Key, " ")
		need := text.Width(key) + 1 + text.Width(e.Short)
		if i > 0 {
			need += 2
		}
		if need > l.Left() {
			return
		}
		if i > 0 {
			l.Space(2)
		}
		l.Put(m.view.Theme.Key, key)
		l.Space(1)
		l.Put(m.view.Theme.Dim, e.Short)
	}
}

// useful returns the keys that are named here. On the smallest screens those
// come first that lead to the panes.
func (m *Model) useful() []keymap.Entry {
	if !m.layout.tiny {
		return m.cfg.Keys.Footer(m.active().Info().Scope)
	}
	var all []keymap.Entry
	for _, a := range []keymap.Action{keymap.Help, keymap.NextProblem, keymap.NextPane, keymap.FullScreen, keymap.Quit} {
		if e, ok := m.cfg.Keys.Entry(a); ok {
			all = append(all, e)
		}
	}
	return all
}

// caption returns what the script of a demo does now; empty if that is not shown.
func (m *Model) caption() string {
	if !m.captions || m.cfg.Director == nil || m.height < leastBody {
		return ""
	}
	return m.cfg.Director.State().Caption
}

func (m *Model) drawCaption(l *text.Line) {
	l.Space(1)
	l.Put(m.view.Theme.BadgeDemo, " "+m.caption()+" ")
}

// windowTitle is what a terminal emulator shows on its frame or tab. It does not
// change while nothing happens.
func (m *Model) windowTitle() string {
	return text.Clean(strings.TrimSpace("plegtop " + m.cfg.Source.Node + " " + m.view.Headline.Word))
}
