package layer

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
)

// A Viewer shows a long text, such as raw JSON.
type Viewer struct {
	Text
	title, source string
	lines         []string // cleaned
	wrap          bool
	rows          []int // the line that each row of the document is of
}

// NewViewer returns a viewer of s, from its top. The lines of s may be of any length.
func NewViewer(title, s string) *Viewer {
	v := &Viewer{title: title, source: s}
	v.Pans = true
	for l := range strings.Lines(s) {
		v.lines = append(v.lines, text.CleanLong(strings.TrimRight(l, "\r\n")))
	}
	return v
}

// viewerFooter is what the footer names below a viewer, the most useful first.
var viewerFooter = []keymap.Action{
	keymap.Help, keymap.Back, keymap.Filter, keymap.MatchNext, keymap.Wrap, keymap.Copy,
}

// Info names the text and says what part of it is seen.
func (v *Viewer) Info() pane.Info {
	return v.Titled(v.title, keymap.Over|keymap.Wrapping, viewerFooter...)
}

// Observe takes over the size.
func (v *Viewer) Observe(view *pane.View, w, h int) {
	if v.View == nil || w != v.Width() {
		v.write(view, w, h)
	}
	v.View = view
	v.Resize(h)
}

func (v *Viewer) write(view *pane.View, w, h int) {
	rows := v.lines
	if v.rows = v.rows[:0]; v.wrap {
		rows = nil
	}
	for i, l := range v.lines {
		n := 1
		if v.wrap {
			parts := broken(l, w)
			n, rows = len(parts), append(rows, parts...)
		}
		for range n {
			v.rows = append(v.rows, i)
		}
	}
	style := view.Theme.Text
	v.Write(view, w, h, func(d *widget.Doc) {
		d.Many(len(rows), func(i int) []text.Span { return []text.Span{text.Say(style, rows[i])} })
	})
}

// turn breaks long lines, or cuts them; the first line that is seen stays.
func (v *Viewer) turn() {
	first := 0
	if top := v.Top(); top < len(v.rows) {
		first = v.rows[top]
	}
	v.wrap = !v.wrap
	v.write(v.View, v.Width(), v.Height())
	v.Show(max(0, slices.Index(v.rows, first)))
}

// broken breaks a line after w cells, wherever that is: what is raw is not rearranged.
func broken(line string, w int) (lines []string) {
	for {
		head, _ := text.Prefix(line, max(w, 2))
		lines = append(lines, head)
		if line = line[len(head):]; line == "" {
			return lines
		}
	}
}

// Do scrolls, searches, wraps, copies or closes.
func (v *Viewer) Do(a keymap.Action, h pane.Host) (tea.Cmd, bool) {
	switch a {
	case keymap.Back, keymap.Raw:
		h.Close(v)
	case keymap.Wrap:
		v.turn()
	case keymap.Copy:
		return pane.CopyText(h, v.source), true
	default:
		return v.Text.Do(a, h)
	}
	return nil, true
}
