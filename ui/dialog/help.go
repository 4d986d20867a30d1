package dialog

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// column is how wide a column of the help must be at least for another one to
// be opened beside it.
const column = 70

// A Help shows all keys of a map.
type Help struct {
	groups [][]keymap.Entry
	top    int
	page   int // lines that were visible last
	length int // lines that there were last
}

// NewHelp returns the help for m, from its top.
func NewHelp(m keymap.Map) *Help { return &Help{groups: m.Groups()} }

// Key scrolls, or answers Closed for what closes a help anywhere: esc, ?, q
// and enter. a is what the key means in [keymap.InViewer].
func (h *Help) Key(k tea.KeyPressMsg, a keymap.Action) Answer {
	switch {
	case a == keymap.Help || a == keymap.Back || a == keymap.Quit || k.String() == "enter":
		return Closed
	case k.String() == "space":
		a = keymap.PageDown
	}
	h.top, _ = Pan(a, h.top, h.length, h.page)
	return Open
}

// Lines returns height lines of exactly w cells.
func (h *Help) Lines(w, height int, t theme.Theme) []string {
	g := newPage(w, height, t)
	columns := max(1, w/column)
	width := w / columns
	rows := h.flow(columns)
	h.page, h.length = max(0, height-1), len(rows)
	h.top = clamp(h.top, h.length-h.page)
	note := ""
	if h.length > h.page {
		note = "more below and above: up, down, space"
	}
	g.title("Keys", note)
	for _, row := range rows[h.top:min(h.length, h.top+h.page)] {
		g.add(func() {
			for _, c := range row {
				kept := g.Keep(max(0, g.Left()-width))
				c.draw(g)
				g.Space(g.Left())
				g.Release(kept)
			}
		})
	}
	return g.full()
}

// A cell is a heading, a key or, if it has neither, a gap.
type cell struct {
	heading string
	entry   *keymap.Entry
}

func (c cell) draw(g *page) {
	g.Space(1)
	switch {
	case c.entry != nil:
		g.Space(1)
		g.Cell(g.Key, keys(*c.entry, g.Symbols.ASCII), 10)
		g.Space(1)
		g.Put(g.Text, c.entry.Binding.Help().Desc)
	case c.heading != "":
		g.Put(g.Title, c.heading)
	}
}

// keys names the keys of e with what the terminal can show.
func keys(e keymap.Entry, ascii bool) string {
	if !ascii {
		return e.Binding.Help().Key
	}
	var all []string
	for _, k := range e.Binding.Keys() {
		if label := keymap.Label(k); text.PlainASCII(label) == label {
			k = label
		}
		all = append(all, k)
	}
	return strings.Join(all, " ")
}

// flow lays the groups out in columns, whole groups one below the other, and
// returns the rows.
func (h *Help) flow(columns int) [][]cell {
	var all []cell
	for i, group := range h.groups {
		if i > 0 {
			all = append(all, cell{})
		}
		all = append(all, cell{heading: group[0].Group.String()})
		for j := range group {
			all = append(all, cell{entry: &group[j]})
		}
	}
	length := (len(all) + columns - 1) / columns
	rows := make([][]cell, length)
	for i, c := range all {
		rows[i%length] = append(rows[i%length], c)
	}
	return rows
}
