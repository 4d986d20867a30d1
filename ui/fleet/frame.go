package fleet

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
)

// around is how many lines there are beside the table: the counts, a rule, the footer.
const around = 3

func (m *model) pen() widget.Pen { return widget.Pen{Theme: &m.Theme, At: m.shown.At} }

// View returns the frame.
func (m *model) View() tea.View {
	v := tea.NewView(m.frame())
	v.AltScreen, v.WindowTitle = true, "kubectl plegtop"
	return v
}

// frame returns the whole screen: lines of exactly the screen's width.
func (m *model) frame() string {
	return text.Frame(m.width, m.height, &m.Theme.Symbols, m.line)
}

// line draws line y of the screen.
func (m *model) line(l *text.Line, y int) {
	switch {
	case y == m.height-1:
		l.Space(1)
		m.footer(l)
	case y == 0:
		l.Space(1)
		m.counts(l)
	case y == 1:
		m.rule(l)
	case m.doc != nil:
		l.Space(1)
		m.doc.Draw(l, m.pen(), y-2, true)
	default:
		l.Margin()
		margin := l.Keep(1)
		m.table.Draw(l, m.pen(), y-2, true)
		l.Release(margin)
	}
}

// counts draws how many nodes there are of which kind, and as of when; or why that is not newer.
func (m *model) counts(l *text.Line) {
	t, right := &m.Theme, ""
	switch {
	case m.asking.Nodes > 0:
		right = fmt.Sprintf("asked %d of %d", m.asking.Nodes-m.asking.asking, m.asking.Nodes)
	case !m.shown.At.IsZero():
		right = "as of " + m.shown.At.Format(time.TimeOnly)
	}
	kept := l.Keep(len(right) + 3)
	switch {
	case m.err != nil:
		l.Put(t.Bad, t.Symbols.Bad+" "+m.err.Error())
	case m.shown.At.IsZero():
		l.Put(t.Dim, "asking the API server for the pods of plegtop")
	default:
		l.Spans(m.shown.counts().spans(t)...)
	}
	l.Release(kept)
	l.Right(t.Dim, right, l.Left()-1)
}

// rule draws the title of the table, with how much of it is seen.
func (m *model) rule(l *text.Line) {
	t := &m.Theme
	l.Sign(t.Border, t.Symbols.Horizontal)
	if m.doc != nil {
		l.Put(t.Focus, " Help ")
	} else {
		l.Put(t.Focus, " Nodes ")
		l.Put(t.Text, widget.Part(m.table.Visible())+" ")
	}
	if m.filter != "" {
		l.Put(t.Info, "/"+m.filter+" ")
	}
	l.Repeat(t.Border, t.Symbols.Horizontal, l.Left())
}

// footer draws the filter that is being typed, the answer to a key, or the keys.
func (m *model) footer(l *text.Line) {
	switch t := &m.Theme; {
	case m.typing:
		l.Put(t.Key, "filter")
		l.Put(t.Dim, ": ")
		l.Put(t.Input, m.filter)
		l.Put(t.Cursor, " ")
	case m.said != "":
		l.Put(t.Flash, m.said)
	default:
		widget.Hints(l, m.pen(), m.keys(), false)
	}
}

// keys returns the keys that mean something here, in words that are true here.
func (m *model) keys() []keymap.Entry {
	all := m.Keys.Entries([]keymap.Action{keymap.Detail, keymap.Filter, keymap.Help, keymap.Quit})
	for i := range all {
		if e := &all[i]; e.Action == keymap.Detail {
			e.Short = "screen there"
			e.Binding.SetHelp(e.Binding.Help().Key, "the screen on the node under the cursor, by kubectl exec; q comes back")
		} else if e.Action == keymap.Filter {
			e.Binding.SetHelp(e.Binding.Help().Key, "show only nodes in whose line a text stands; esc shows all")
		}
	}
	return all
}

// help writes the keys, and what the words mean that no headline has.
func (m *model) help(d *widget.Doc) {
	keys := widget.Section{Title: "Keys"}
	for _, e := range m.keys() {
		keys.Add(widget.Fact(e.Binding.Help().Key, widget.Plain, e.Binding.Help().Desc))
	}
	no := widget.Section{Title: "Nodes that have not answered"}
	for _, s := range states[NoAnswer:] {
		no.Add(widget.Fact(s.word, widget.Plain, s.help))
	}
	rest := widget.Section{Title: "The table"}
	rest.Add(
		widget.Fact("STATE", widget.Plain, "the headline of the node, as plegtop says it there"),
		widget.Fact("CULPRIT", widget.Plain, "who surely holds up what waits, or whom the worst finding is about"),
		widget.Fact("Order", widget.Plain, "critical, the soonest NotReady first; no answer; warnings; no pod; sound"),
	)
	d.Sections(keys, rest, no)
}
