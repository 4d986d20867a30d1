package ui

import (
	"fmt"
	"slices"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/dialog"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// A slot is a place of fixed width in a line of a sheet, and its text; 0 for as
// wide as that is.
type slot struct {
	style theme.Style
	text  string
	width int
}

// A sheet is a screen of its own in the place of the panes: a title, and lines
// that scroll.
type sheet struct {
	scroll
	lines  [][]slot
	blocks []block
}

// A block is lines of which there may be so many that each is written only when it
// is drawn.
type block struct {
	before int // the line of the sheet that follows on it
	n      int
	line   func(i int) []slot
}

// labelWidth is how wide labels are, with the gap after them.
const labelWidth = 24

// anew forgets the lines, to write them again.
func (s *sheet) anew() { s.lines, s.blocks = s.lines[:0:0], s.blocks[:0:0] }

func (s *sheet) add(slots ...slot) { s.lines = append(s.lines, slots) }

// many adds n lines that line returns.
func (s *sheet) many(n int, line func(i int) []slot) {
	s.blocks = append(s.blocks, block{len(s.lines), n, line})
}

// size returns how many lines there are.
func (s *sheet) size() int {
	n := len(s.lines)
	for _, b := range s.blocks {
		n += b.n
	}
	return n
}

// line returns line i of all.
func (s *sheet) line(i int) []slot {
	for _, b := range s.blocks {
		switch {
		case i < b.before:
			return s.lines[i]
		case i < b.before+b.n:
			return b.line(i - b.before)
		}
		i -= b.n
	}
	return s.lines[i]
}

func (s *sheet) section(b pen, name string) {
	if len(s.lines) > 0 {
		s.add()
	}
	s.add(slot{b.Title, name, 0})
}

// field adds a line of a label and a text; nothing for an empty text.
func (s *sheet) field(b pen, label string, st theme.Style, text string) {
	if text != "" {
		s.add(slot{b.Dim, "  " + label, labelWidth}, slot{st, text, 0})
	}
}

// paragraph adds a text in as many lines of w cells as it takes, each of them
// indented by as much as the slots before it are wide.
func (s *sheet) paragraph(st theme.Style, what string, w int, before ...slot) {
	indent := 0
	for _, p := range before {
		indent += p.width
	}
	if len(what) > text.Limit {
		what = what[:text.Limit] + "…"
	}
	for i, line := range text.Wrap(what, max(w-indent, 16)) {
		if i > 0 {
			before = []slot{{theme.Style{}, "", indent}}
		}
		s.add(append(slices.Clip(before), slot{st, line, 0})...)
	}
}

func (s *sheet) pan(a keymap.Action) (moved bool) {
	s.top, moved = dialog.Pan(a, s.top, s.size(), s.height)
	s.cursor = s.top
	return moved
}

func (s *sheet) resize(height int) { s.scroll.resize(height, s.size()) }

// row draws line y of those that are visible.
func (s *sheet) row(l *text.Line, y int) {
	i := s.top + y
	if i >= s.size() {
		return
	}
	for _, p := range s.line(i) {
		if p.width == 0 {
			l.Put(p.style, p.text)
			continue
		}
		l.Cell(p.style, p.text, p.width-1)
		l.Space(1)
	}
}

// onTop returns the sheet that has the body of the screen, and its title; nil
// while the panes have it. What was opened last lies above the others.
func (m *Model) onTop() (s *sheet, title string) {
	switch {
	case m.node.open:
		return &m.node.sheet, "Node " + m.cfg.Source.Node
	case m.detail.pod != nil:
		return &m.detail.sheet, m.detail.pod.PodRef.String()
	case m.finding.open:
		return &m.finding.sheet, "Finding: " + m.finding.of.Severity.String() + " " + string(m.finding.of.ID)
	}
	return nil, ""
}

// closeTop closes that sheet, and reports whether there was one.
func (m *Model) closeTop() bool {
	switch {
	case m.node.open:
		m.node.open = false
	case m.detail.pod != nil:
		m.detail.pod = nil
	case m.finding.open:
		m.finding.open = false
	default:
		return false
	}
	return true
}

// sheetLine draws line y of the body while a sheet is open.
func (d *frame) sheetLine(l *text.Line, y int) {
	if y > 0 {
		l.Space(1)
		kept := l.Keep(1)
		d.sheet.row(l, y-1)
		l.End()
		l.Release(kept)
		return
	}
	l.Sign(d.Border, d.Symbols.Horizontal)
	l.Space(1)
	l.Put(d.Focus, d.sheetTitle)
	if more := d.sheet.size() - d.sheet.top - d.sheet.height; more > 0 {
		l.Put(d.Dim, fmt.Sprintf(" %d lines below", more))
	}
	l.Space(1)
	l.Repeat(d.Border, d.Symbols.Horizontal, l.Left())
}

// scroll is a cursor in a list of which a few lines are visible.
type scroll struct {
	cursor int
	top    int // the first line that is visible
	height int // lines that are visible
	slack  int // lines that may stay blank below the last one of a long list
}

func (s *scroll) resize(height, n int) {
	s.height = max(height, 1)
	s.clamp(n)
}

// clamp keeps the cursor in a list of n lines, and visible, and leaves no blank
// lines but the slack below the last one while some are hidden above.
func (s *scroll) clamp(n int) {
	s.cursor = max(0, min(s.cursor, n-1))
	s.height = max(s.height, 1)
	if s.cursor < s.top {
		s.top = s.cursor
	}
	if s.cursor >= s.top+s.height {
		s.top = s.cursor - s.height + 1
	}
	most := n - s.height
	if most > 0 {
		most += min(s.slack, s.height-1)
	}
	s.top = max(0, min(s.top, most))
}

// move moves the cursor in a list of n lines as a moving key asks for, and
// reports whether a was such a key.
func (s *scroll) move(a keymap.Action, n int) bool {
	to, ok := dialog.Move(a, s.cursor, n, s.height)
	if ok {
		s.cursor = to
		s.clamp(n)
	}
	return ok
}
