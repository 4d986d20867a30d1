// Package help is what `?` opens: all keys, what symbols and columns mean, and what can
// be written in a filter.
package help

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/model"
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
	own      string
}

// New returns the help for these keys, with sections of what else there is to say after
// them: the columns of each pane. The section called own comes first of all; empty for none.
func New(keys keymap.Map, sections []Section, own string) *Help {
	return &Help{keys: keys, sections: sections, own: own}
}

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
const column = 49

// write lays the sections out in columns, none of them split over two: the left one takes
// sections until it is half of all.
func (h *Help) write(d *widget.Doc, t *theme.Theme, w int) {
	all, n := h.all(t), 0
	if w < 2*column {
		d.Sections(all...)
		return
	}
	part := func(from, to int) *widget.Doc {
		d := new(widget.Doc)
		d.Write(widget.Pen{Theme: t}, w/2-1, 0, func(d *widget.Doc) { d.Sections(all[from:to]...) })
		return d
	}
	for whole := part(0, len(all)).Len(); part(0, n).Len()+part(0, n+1).Len() <= whole; n++ {
	}
	d.Columns(w/2, part(0, n), part(n, len(all)))
}

// all returns the sections: keys by group, symbols, the filter, and what the caller adds.
func (h *Help) all(t *theme.Theme) (out []widget.Section) {
	var all []Section
	for _, g := range h.keys.Groups() {
		s := Section{Name: g[0].Group.String()}
		for _, e := range g {
			s.Rows = append(s.Rows, [2]string{label(e, t.Symbols.ASCII), e.Binding.Help().Desc + e.Where()})
		}
		all = append(all, s)
	}
	all = append(all, symbols(&t.Symbols), Section{"Filter", model.FilterSyntax()})
	all = append(all, h.sections...)
	if i := slices.IndexFunc(all, func(s Section) bool { return s.Name == h.own }); i >= 0 {
		own := all[i]
		all = slices.Insert(slices.Delete(all, i, i+1), 0, own)
	}
	for _, s := range all {
		out = append(out, s.rows(t))
	}
	return out
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

// rows returns what is printed of a section.
func (s Section) rows(t *theme.Theme) widget.Section {
	left, out := 0, widget.Section{Title: s.Name}
	for _, r := range s.Rows {
		left = max(left, min(words, text.Width(r[0]))+2)
	}
	for _, r := range s.Rows {
		out.Add(widget.Row{Mark: text.Span{Width: 2}, Spans: []text.Span{text.Say(t.Key, r[0]).In(left), text.Say(t.Text, r[1])}})
	}
	return out
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
		{s.Risk, "a step that changes the node"},
		{s.Bad, "a problem; an event: died, with another exit code than 0"},
		{s.Folded + " " + s.Unfolded, "folded, unfolded"},
		{s.Up + " " + s.Down, "the column that sorts, and which way round"},
		{s.Mark, "a marked event"},
		{s.Spark[0] + " " + s.Spark[len(s.Spark)/2] + " " + s.Spark[len(s.Spark)-1], "how long a relist took"},
		{s.SparkFailed + " " + s.SparkSome, "relists or calls failed; failed in part: some inspections, fewer than half of the calls"},
		{strings.Join(s.Shades, ""), "how long calls took, the shortest first"},
		{s.Track[2] + s.Track[4] + s.Track[6], "in the bar of a recording: nothing was wrong, a warning, critical"},
		{s.Track[3] + s.Track[5] + s.Track[7], "the same, and something happened: events"},
	}}
}
