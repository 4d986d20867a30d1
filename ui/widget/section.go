package widget

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// A Section is rows about one thing. On the screen it has a heading; in text its word
// stands beside its first row, where labels stand. One without rows is not printed.
type Section struct {
	Title string // the heading; none if empty
	Word  string // for text; none if empty
	Rows  []Row
}

// A Row is what is said of one thing: a label, and beside it a text in as many lines as it
// takes.
type Row struct {
	Label string
	Mark  text.Span // in the place of a label under a heading, such as a bullet; the gap after it is part of its width
	Level Level
	// Spans stand side by side, each in its place. The last is broken into lines if it has
	// no place of its own; one that has makes the row a line of a table.
	Spans []text.Span
	// Command is below them, or in their place. It can be copied: on the screen the row is
	// an item of this value, in text it stands in one line however long it is.
	Command string
	Note    string // what the command is for; on the screen behind its end, where there is room for all of it
	Hang    int    // where further lines begin; 0 for below the text
}

// A Level says how well a thing stands, or how much it says: as a sign before the last span, and as
// its look if it has none of its own. The worst is the greatest.
type Level uint8

// The levels.
const (
	Plain  Level = iota
	Quiet        // matters less, or is not known; without a sign
	Strong       // says most; without a sign
	Good
	Warn
	Bad
)

// Look returns the sign of a level, empty if it has none, and its look.
func (of Level) Look(t *theme.Theme) (sign string, st theme.Style) {
	switch of {
	case Quiet:
		return "", t.Dim
	case Strong:
		return "", t.Strong
	case Good:
		return t.Symbols.Good, t.Good
	case Warn:
		return t.Symbols.Warn, t.Warn
	case Bad:
		return t.Symbols.Bad, t.Bad
	}
	return "", t.Text
}

// Fact returns a row of a label and a text.
func Fact(label string, level Level, s string) Row { return Styled(label, level, theme.Style{}, s) }

// Styled is [Fact] for a text with a look of its own.
func Styled(label string, level Level, st theme.Style, s string) Row {
	return Row{Label: label, Level: level, Spans: []text.Span{text.Say(st, s)}}
}

// Add adds rows, but for those of an empty text.
func (s *Section) Add(rows ...Row) {
	for _, r := range rows {
		if r.Command != "" || slices.ContainsFunc(r.Spans, func(s text.Span) bool { return s.Text != "" }) {
			s.Rows = append(s.Rows, r)
		}
	}
}

// Lines adds the lines of a table, as [text.Figures] returns them.
func (s *Section) Lines(table [][]text.Span) {
	for _, line := range table {
		s.Rows = append(s.Rows, Row{Mark: text.Span{Width: 2}, Spans: line})
	}
}

// Sections adds sections.
func (d *Doc) Sections(all ...Section) {
	for _, s := range all {
		word := ""
		if len(s.Rows) > 0 && d.Beside {
			word = s.Word
		} else if len(s.Rows) > 0 && s.Title != "" {
			d.Section(s.Title)
		}
		for i := range s.Rows {
			d.row(&s.Rows[i], word)
			word = ""
		}
		d.End()
	}
}

// row adds a row, with a word before it where it has no label.
func (d *Doc) row(r *Row, word string) {
	if d.End(); r.Command != "" {
		d.Item(r.Command)
	}
	place := text.Say(d.pen.Dim, r.Label).In(cmp.Or(d.Labels, LabelWidth(d.width)))
	if d.Beside {
		place.Text = cmp.Or(r.Label, word)
	} else if r.Label != "" {
		place.Text = "  " + r.Label
	}
	if r.Mark != (text.Span{}) && (r.Hang > 0 || !d.Beside) {
		place = r.Mark
	}
	before := func() []text.Span { return []text.Span{{Width: d.Indent}, place} }
	if n := len(r.Spans); n > 0 {
		d.spans(r, append(before(), r.Spans[:n-1]...), r.Spans[n-1])
		place.Text = ""
	}
	if r.Command != "" {
		d.command(r, before())
	}
}

// spans adds the text of a row behind what stands before it.
func (d *Doc) spans(r *Row, before []text.Span, last text.Span) {
	if last.Width > 0 {
		d.Line(append(before, last)...)
		return
	}
	sign, st := r.Level.Look(d.pen.Theme)
	if sign != "" {
		last.Text = sign + " " + last.Text
	}
	if last.Style == (theme.Style{}) {
		last.Style = st
	}
	d.hanging(last.Style, last.Text, d.Indent+r.Hang, r.Hang > 0, before)
}

func (d *Doc) command(r *Row, before []text.Span) {
	if d.Beside {
		d.Line(append(before, text.Say(d.pen.Strong, "$ "+text.Clean(r.Command)))...)
		return
	}
	d.Paragraph(d.pen.Key, r.Command, before...)
	last := &d.lines[len(d.lines)-1]
	left := d.width - len(noteSign)
	for _, s := range *last {
		left -= cmp.Or(s.Width, text.Width(s.Text))
	}
	if r.Note != "" && text.Width(r.Note) <= left {
		*last = append(*last, text.Say(d.pen.Dim, noteSign+r.Note))
	}
}

// noteSign stands before a note, which a shell leaves out.
const noteSign = "  # "

// Columns adds documents side by side, each in w cells.
func (d *Doc) Columns(w int, all ...*Doc) {
	n := 0
	for _, c := range all {
		n = max(n, c.Len())
	}
	for i := range n {
		var line []text.Span
		for _, c := range all {
			left := w
			if i < c.Len() {
				line = append(line, c.Made(i)...)
				for _, s := range c.Made(i) {
					left -= cmp.Or(s.Width, text.Width(s.Text))
				}
			}
			line = append(line, text.Span{Width: max(0, left)})
		}
		d.Line(line...)
	}
}

// Append appends all lines to b as text, each with a line feed and without the spaces that
// it would end with. Nothing is cut: what is wider than its place takes more.
func (d *Doc) Append(b []byte) []byte {
	l := text.Line{Buf: b}
	for i := range d.Len() {
		gap := 0
		l.Begin(endless)
		for _, s := range d.Made(i) {
			said := text.Clean(s.Text)
			if d.pen.Symbols.ASCII {
				said = text.PlainASCII(said)
			}
			if said != "" {
				trimmed := strings.TrimRight(said, " ")
				l.Space(gap)
				l.Put(s.Style, trimmed)
				gap = len(said) - len(trimmed)
			}
			if s.Width > 0 {
				gap += max(1, s.Width-text.Width(said))
			}
		}
		l.Buf = append(l.Buf, '\n')
	}
	return l.Buf
}

// endless is more cells than any line takes.
const endless = 1 << 30
