package dialog

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// A Viewer shows a long text, such as raw JSON, and searches in it.
type Viewer struct {
	Title string

	source string
	text   []string // cleaned lines
	rows   []span   // of text, as they are shown for width and wrap
	width  int
	wrap   bool

	top, left, page int // first row and cell that are visible; rows that are
	search          string
	match           int // line of the match that was gone to last; -1 for none
}

// A span is a part of a line that takes one row of the screen.
type span struct {
	line, from, to int // to is -1 for the rest of the line
}

// NewViewer returns a viewer of s, from its top. The lines of s may be of any
// length.
func NewViewer(title, s string) *Viewer {
	v := &Viewer{Title: title, source: s, match: -1}
	for l := range strings.Lines(s) {
		v.text = append(v.text, text.CleanLong(strings.TrimRight(l, "\r\n")))
	}
	return v
}

// Source returns the text as it was given, not cleaned.
func (v *Viewer) Source() string { return v.source }

// Key scrolls, wraps, goes to matches, or answers Closed. a is what the key
// means in [keymap.InViewer].
func (v *Viewer) Key(k tea.KeyPressMsg, a keymap.Action) Answer {
	if k.String() == "space" {
		a = keymap.PageDown
	}
	switch a {
	case keymap.Back, keymap.Quit, keymap.Raw:
		return Closed
	case keymap.Wrap:
		v.wrap, v.left = !v.wrap, 0
		v.lay(v.width)
	case keymap.Left:
		v.left = max(0, v.left-8)
	case keymap.Right:
		if !v.wrap {
			v.left += 8
		}
	case keymap.MatchNext:
		v.step(1)
	case keymap.MatchPrev:
		v.step(-1)
	default:
		v.top, _ = Pan(a, v.top, len(v.rows), v.page)
	}
	return Open
}

// Search looks for s without regard to case, goes to the first line from the
// top of the screen that has it, and returns how many lines have it. An empty s
// ends a search.
func (v *Viewer) Search(s string) int {
	v.search, v.match = strings.ToLower(s), -1
	if s == "" {
		return 0
	}
	n := 0
	for _, l := range v.text {
		if v.found(l) {
			n++
		}
	}
	if n > 0 {
		v.match = v.firstLine() - 1
		v.step(1)
	}
	return n
}

func (v *Viewer) found(line string) bool {
	return v.search != "" && strings.Contains(strings.ToLower(line), v.search)
}

func (v *Viewer) firstLine() int {
	if v.top < len(v.rows) {
		return v.rows[v.top].line
	}
	return 0
}

// step goes to the next line that has what is searched for, round the end.
func (v *Viewer) step(by int) {
	n := len(v.text)
	for i := 1; i <= n; i++ {
		at := ((v.match+by*i)%n + n) % n
		if v.found(v.text[at]) {
			v.match = at
			v.show(at)
			return
		}
	}
}

// show scrolls as far as it takes to see a line.
func (v *Viewer) show(line int) {
	if i := v.rowOf(line); i < v.top || i >= v.top+v.page {
		v.top = clamp(i-v.page/2, len(v.rows)-v.page)
	}
}

// lay works out the rows for a width, and keeps the first visible line where
// it is.
func (v *Viewer) lay(w int) {
	first := v.firstLine()
	v.width, v.rows = w, v.rows[:0]
	for i, l := range v.text {
		if !v.wrap {
			v.rows = append(v.rows, span{i, 0, -1})
			continue
		}
		from := 0
		for {
			part, _ := text.Prefix(l[from:], max(w, 2))
			to := from + len(part)
			v.rows = append(v.rows, span{i, from, to})
			if from = to; from >= len(l) {
				break
			}
		}
	}
	v.top = v.rowOf(first)
}

// rowOf returns the first row of a line.
func (v *Viewer) rowOf(line int) int {
	return max(0, slices.IndexFunc(v.rows, func(r span) bool { return r.line == line }))
}

// Lines returns h lines of exactly w cells.
func (v *Viewer) Lines(w, h int, t theme.Theme) []string {
	if room := w - 2; room != v.width || v.rows == nil {
		v.lay(room)
	}
	v.page = max(0, h-1)
	v.top = clamp(v.top, len(v.rows)-v.page)
	g := newPage(w, h, t)
	g.title(v.Title, v.position())
	for _, r := range v.rows[v.top:min(len(v.rows), v.top+v.page)] {
		g.add(func() { v.row(g, r) })
	}
	return g.full()
}

// position says which lines are visible, of how many.
func (v *Viewer) position() string {
	if len(v.rows) == 0 {
		return "empty"
	}
	last := v.rows[min(len(v.rows), v.top+max(v.page, 1))-1].line
	s := "lines " + text.Count(uint64(v.firstLine()+1)) + "-" + text.Count(uint64(last+1)) + " of " + text.Count(uint64(len(v.text)))
	if v.search != "" {
		s = "/" + v.search + "  " + s
	}
	return s
}

func (v *Viewer) row(g *page, r span) {
	l := v.text[r.line]
	if r.to < 0 {
		hidden, _ := text.Prefix(l, v.left)
		l = l[len(hidden):]
	} else {
		l = l[r.from:r.to]
	}
	edge := " "
	if r.line == v.match {
		edge = g.Symbols.Mark
	}
	g.Put(g.Match, edge)
	margin := g.Keep(1)
	lower := strings.ToLower(l)
	if len(lower) != len(l) { // places in one are none in the other
		lower = ""
	}
	for v.search != "" {
		i := strings.Index(lower, v.search)
		if i < 0 || g.Left() == 0 {
			break
		}
		to := i + len(v.search)
		g.Put(g.Text, l[:i])
		g.Put(g.Match, l[i:to])
		l, lower = l[to:], lower[to:]
	}
	g.Put(g.Text, l)
	g.Release(margin)
}
