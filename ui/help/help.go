// Package help is what `?` opens: all keys, what symbols and columns mean, and what can
// be written in a filter.
package help

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/filter"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// A Section is a part of the help: words, and what each means.
type Section struct {
	Name string
	Rows [][2]string
}

// A Help is a layer with all of it.
type Help struct {
	layer.Text
	keys     keymap.Map
	sections []Section
}

// New returns the help for these keys, with sections of what else there is to say after
// them: the columns of each pane.
func New(keys keymap.Map, sections []Section) *Help { return &Help{keys: keys, sections: sections} }

// footer is what the footer names, the most useful first.
var footer = []keymap.Action{
	keymap.Back, keymap.Filter, keymap.MatchNext,
}

// Info says what part is seen.
func (h *Help) Info() pane.Info { return h.Titled("Help", keymap.Over|keymap.Matching, footer...) }

// Do scrolls, searches or closes.
func (h *Help) Do(a keymap.Action, host pane.Host) (tea.Cmd, bool) {
	switch a {
	case keymap.Back, keymap.Help, keymap.Detail:
		host.Close(h)
		return nil, true
	}
	return h.Text.Do(a, host)
}

// Observe takes over the size.
func (h *Help) Observe(v *pane.View, w, height int) {
	if h.View == nil || w != h.Width() {
		h.Write(v, w, height, func(d *widget.Doc) { h.write(d, v.Theme, w) })
	}
	h.View = v
	h.Resize(height)
}

// column is how wide a column must be at least for another one to be opened beside it.
const column = 70

// write lays the sections out in columns, none of them split over two.
func (h *Help) write(d *widget.Doc, t *theme.Theme, w int) {
	columns := [][][]text.Span{nil}
	if w >= 2*column {
		columns = append(columns, nil)
	}
	width := w / len(columns)
	blocks, length := make([][][]text.Span, 0, 16), 0
	for _, s := range h.all(t) {
		b := lines(t, s, width)
		blocks, length = append(blocks, b), length+len(b)
	}
	// The left column takes sections until it is half of all.
	at := 0
	for _, b := range blocks {
		if at == 0 && len(columns) > 1 && len(columns[0])+len(b)/2 > length/2 {
			at = 1
		}
		columns[at] = append(columns[at], b...)
	}
	for i := range max(len(columns[0]), len(columns[len(columns)-1])) {
		d.Line(beside(columns, i, width)...)
	}
}

// beside returns line i of all columns, each as wide as its place.
func beside(columns [][][]text.Span, i, width int) (line []text.Span) {
	for c, lines := range columns {
		if i < len(lines) {
			line = append(line, lines[i]...)
		} else if c < len(columns)-1 {
			line = append(line, text.Span{Width: width})
		}
	}
	return line
}

// all returns the sections: keys by group, symbols, the filter, and what the caller adds.
func (h *Help) all(t *theme.Theme) (all []Section) {
	for _, g := range h.keys.Groups() {
		s := Section{Name: g[0].Group.String()}
		for _, e := range g {
			s.Rows = append(s.Rows, [2]string{label(e, t.Symbols.ASCII), e.Binding.Help().Desc + e.Where()})
		}
		all = append(all, s)
	}
	all = append(all, symbols(&t.Symbols), Section{"Filter", filter.Syntax()})
	return append(all, h.sections...)
}

// label names the keys of e with what the terminal can show.
func label(e keymap.Entry, ascii bool) string {
	if !ascii {
		return e.Binding.Help().Key
	}
	var all []string
	for _, k := range e.Binding.Keys() {
		if short := keymap.Label(k); text.PlainASCII(short) == short {
			k = short
		}
		all = append(all, k)
	}
	return strings.Join(all, " ")
}

// words is how wide the left side of a section is at most.
const words = 24

// lines returns a section in lines of w cells, with a blank one after it.
func lines(t *theme.Theme, s Section, w int) [][]text.Span {
	left := 0
	for _, r := range s.Rows {
		left = max(left, text.Width(r[0]))
	}
	left = min(left, words) + 2
	all := [][]text.Span{{text.Say(t.Title, s.Name).In(w)}}
	for _, r := range s.Rows {
		word := r[0]
		for _, said := range text.Wrap(r[1], max(w-left-3, 16)) {
			all = append(all, []text.Span{{Width: 2}, text.Say(t.Key, word).In(left), text.Say(t.Text, said).In(w - left - 2)})
			word = ""
		}
	}
	return append(all, []text.Span{{Width: w}})
}

// symbols says what the signs mean that stand for states.
func symbols(s *theme.Symbols) Section {
	return Section{"Symbols", [][2]string{
		{s.Running, "runs; of a sandbox: ready; an event: started"},
		{s.Exited, "has exited; of a sandbox: not ready; an event: died, with exit code 0"},
		{s.Created, "was created and not started; an event: changed"},
		{s.Gone, "listed no longer; an event: removed"},
		{s.Unseen, "an event that an event source saw and no relist has: the kubelet cannot see it"},
		{s.Unknown, "the runtime says unknown"},
		{s.Good, "good"},
		{s.Warn, "may become a problem, or is over by itself soon"},
		{s.Bad, "a problem; an event: died, with another exit code than 0"},
		{s.Folded + " " + s.Unfolded, "folded, unfolded"},
		{s.Up + " " + s.Down, "the column that sorts, and which way round"},
		{s.Mark, "a marked event"},
		{s.Spark[0] + " " + s.Spark[len(s.Spark)/2] + " " + s.Spark[len(s.Spark)-1], "how long a relist took"},
		{s.SparkFailed, "a relist that failed"},
		{strings.Join(s.Shades, ""), "how long calls took, the shortest first"},
	}}
}
