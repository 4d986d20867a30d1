package ui

import (
	"cmp"
	"strconv"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// frame returns the whole screen: m.height lines of exactly m.width cells.
func (m *Model) frame() string {
	return text.Frame(m.width, m.height, &m.view.Theme.Symbols, m.line)
}

// line draws line y of the screen.
func (m *Model) line(l *text.Line, y int) {
	at := &m.layout
	switch {
	case y == m.height-1:
		m.footer(l)
	case y == m.height-1-at.bar:
		m.timeBar(l)
	case y >= at.header && y < at.header+at.said:
		m.says(l, y-at.header)
	case at.tiny:
		m.header.Tiny(l, theme.When(y < at.header, y, y-at.said), m.height-1-at.said-at.bar)
	case y < at.header:
		m.header.Draw(l, y)
	case y < at.body:
		m.alert(l, y-at.header-at.said)
	default:
		m.body(l, y)
	}
}

// says draws line i of a caption. It is read from the last row of a room: it has the terminal's own
// colours, the strongest contrast there is.
func (m *Model) says(l *text.Line, i int) {
	of, t := &m.layout.caption, m.view.Theme
	l.Put(t.BadgeDemo, " ")
	l.Space(1)
	if m.layout.said == 1 {
		l.Put(t.Strong, of.Line())
		return
	}
	l.Cell(t.Strong, [...]string{"Now", "Watch", "Press"}[i], 7)
	l.Put(theme.When(i == 0, t.Strong, t.Text), [...]string{of.What, of.Watch, of.Press}[i])
}

// alert draws an alert, and with the last one how many there is no room for.
func (m *Model) alert(l *text.Line, i int) {
	all, note := m.header.Alerts(), ""
	if more := len(all) - m.layout.alerts; more > 0 && i == m.layout.alerts-1 {
		note = "  and " + text.Count(uint64(more)) + " more"
	}
	l.Space(1)
	kept := l.Keep(len(note) + 1)
	l.Put(all[i].Style, all[i].Text)
	l.Release(kept)
	l.Put(m.view.Theme.Dim, note)
}

// body draws line y of the panes, from left to right, or of the layer over them.
func (m *Model) body(l *text.Line, y int) {
	if p := m.top(); p != nil {
		m.pane(l, p, y-m.layout.body, true, func() { m.heading(l, m.view.Theme.Focus, p.Info().Name, p.Info().About) })
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
		m.pane(l, m.in(b), y-b.y, b.pane == m.focus, func() { m.tabs(l, b) })
		l.Under()
		l.End()
		l.Release(kept)
	}
}

// pane draws line y of one pane, with its title in a rule as the first. The row under the
// cursor reaches from edge to edge.
func (m *Model) pane(l *text.Line, p pane.Pane, y int, focused bool, title func()) {
	if th := m.view.Theme; y == 0 {
		rule := theme.When(focused && len(m.layout.boxes) > 1, th.Focus, th.Border)
		l.Sign(rule, th.Symbols.Horizontal)
		title()
		l.Space(1)
		l.Repeat(rule, th.Symbols.Horizontal, l.Left())
		return
	}
	l.Margin()
	margin := l.Keep(1)
	p.Draw(l, y-1, focused)
	l.Release(margin)
	l.End()
}

// tabs draws the tabs: the pane's own with how much it shows of what. What goes on in
// panes that are not seen their tabs tell.
//
// How much the pane shows or that it is filtered stays: of what it tells besides the rest is left
// out. Where there is no room for the names the other tabs have their first letters; where there is
// none for these, what they tell goes, and then they do, those first that are the farthest from the
// pane's own.
func (m *Model) tabs(l *text.Line, b box) {
	if b.pane == previewed {
		is := m.preview.sheet.Info()
		m.heading(l, m.view.Theme.Title, is.Name, is.About)
		return
	}
	all, own := m.headings(b)
	about := all[own].told
	least := len(about)
	if len(m.view.Filtered()) == 0 {
		least = min(least, 1)
	}
	room := func(told int) (w int) {
		all[own].told = about[:told]
		for _, t := range all {
			w += 1 + t.width()
		}
		return w
	}
	if room(least) > l.Left() {
		for i := range all {
			if i != own {
				all[i].name = all[i].name[:2] + all[i].short
			}
		}
	}
	if len(m.view.Filtered()) == 0 {
		least = 0
	}
	for first, last := 0, len(all)-1; room(least) > l.Left() && first < last; {
		far := &all[first]
		if own-first < last-own {
			far = &all[last]
			last--
		} else {
			first++
		}
		far.told = nil
	}
	for room(least) > l.Left() && len(all) > 1 {
		all, own = withoutFarthest(all, own)
	}
	for told := len(about); room(told) > l.Left() && told > least; {
		told--
	}
	th := m.view.Theme
	for i, t := range all {
		l.Space(min(i, 1))
		m.heading(l, theme.When(i != own, th.Dim, theme.When(b.pane == m.focus, th.Focus, th.Title)), t.name, t.told)
	}
}

// withoutFarthest leaves out the tab that is the farthest from the pane's own.
func withoutFarthest(all []tab, own int) (left []tab, at int) {
	if last := len(all) - 1; own <= last-own {
		return all[:last], own
	}
	return all[1:], own - 1
}

// A tab is the number and the name of a pane, and what is told of it.
type tab struct {
	name, short string // with its number, and without it
	told        []text.Span
}

// headings returns the tabs of a title, until the next is drawn: the pane's own, and those of the
// panes that are not on the screen if it names them.
func (m *Model) headings(b box) (all []tab, own int) {
	all = m.tabbed[:0]
	for i, p := range m.panes {
		if i != b.pane && (!b.tabs || m.layout.find(i) != nil) {
			continue
		}
		info := p.Info()
		told := info.Mark
		if i == b.pane {
			told, own = info.About, len(all)
		}
		all = append(all, tab{strconv.Itoa(i+1) + " " + info.Name, cmp.Or(info.Short, info.Name[:min(4, len(info.Name))]), told})
	}
	m.tabbed = all
	return all, own
}

// width is how many cells the heading takes.
func (t tab) width() int {
	w := 1 + text.Width(t.name)
	for i, s := range t.told {
		w += 1 + 2*min(i, 1) + text.Width(s.Text)
	}
	return w
}

// heading draws a name in a rule, and what is told of it.
func (m *Model) heading(l *text.Line, st theme.Style, name string, told []text.Span) {
	l.Space(1)
	l.Put(st, name)
	for i, s := range told {
		if i > 0 {
			l.Space(1)
			l.Sign(m.view.Theme.Dim, m.view.Theme.Symbols.Bullet)
		}
		l.Space(1)
		l.Put(s.Style, s.Text)
	}
}

// footer draws the last line: a layer that has its place there, the answer to the last
// key, or the keys that are of most use here. Before the keys stands that the recording has ended,
// for as long as that is so. An answer does not cover what is being typed,
// and of a layer no more than what there is no room for.
func (m *Model) footer(l *text.Line) {
	l.Space(1)
	kept := l.Keep(1)
	at := m.foot()
	switch {
	case at != nil && (m.typing() || m.flash.text == ""):
		at.Draw(l, 0, true)
	case at != nil:
		room := l.Keep(min(text.Width(m.flash.text)+2, l.Left()/2))
		at.Draw(l, 0, true)
		l.Release(room)
		l.Space(2)
		l.Put(m.view.Theme.Flash, m.flash.text)
	case m.flash.text != "":
		l.Put(m.view.Theme.Flash, m.flash.text)
	default:
		if m.view.Recording.Ended != "" {
			l.Put(m.view.Theme.Warn, m.view.Theme.Symbols.Warn+" "+say.RecordingEnded(m.view.Recording))
			l.Space(2)
		}
		widget.Hints(l, m.view.Pen(), m.useful(), false)
	}
	l.End()
	l.Release(kept)
}

// foot returns the layer that has the last line; nil if none has it.
func (m *Model) foot() pane.Pane {
	if n := len(m.layers); n > 0 && m.layers[n-1].Info().Foot {
		return m.layers[n-1]
	}
	return nil
}

// useful returns the keys that are named here. On the smallest screens those
// come first that lead to the panes.
func (m *Model) useful() []keymap.Entry {
	if m.past.film != nil {
		return m.pastKeys()
	}
	if !m.layout.tiny {
		return m.cfg.Keys.Entries(m.active().Info().Footer)
	}
	return m.cfg.Keys.Entries([]keymap.Action{keymap.Help, keymap.NextProblem, keymap.NextPane, keymap.FullScreen, keymap.Quit})
}
