package howpleg

import (
	"slices"
	"strings"

	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/story"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

const (
	columns, rows = 4, 3
	leastWidth    = 70 // cells that the picture takes
	frameLines    = 2  // of a box: above and below
	mostLines     = 8  // in a box: more it has not
)

// A picture draws the boxes, in columns of one width, with so many lines in each.
type picture struct {
	*board
	places        []story.Place // whose boxes have a sign in their title
	width, gap, n int
}

// draw returns the lines of the picture, w cells wide, with n lines in each box.
func draw(v *pane.View, places []story.Place, w, n int) (lines [][]text.Span) {
	p := picture{board: newBoard(v), places: places, gap: 2 + min(w/100, 2), n: n}
	p.width = (w - (columns-1)*p.gap) / columns
	for row := range rows {
		drawn := make([][]text.Span, n+frameLines)
		for i := range boxes {
			if of := &boxes[i]; of.row == row {
				p.box(of, drawn)
			}
		}
		lines = append(lines, drawn...)
	}
	return lines
}

// box adds a box to the lines of its row, with the arrow to the next one.
func (p *picture) box(of *box, lines [][]text.Span) {
	s, w := &p.Theme.Symbols, of.wide*(p.width+p.gap)-p.gap
	inner := w - 4 // less its sides, and a blank at each
	says, worst := p.lines(of.place, inner)
	title, about := p.head(of)
	look, edge := p.Theme.Title, p.Theme.Border
	if slices.Contains(p.places, of.place) {
		title, look, edge = s.Mark+" "+title, p.Theme.Focus, p.Theme.Strong
	}
	edge = theme.When(worst == widget.Bad, p.Theme.Bad, edge)
	title = " " + text.Fit(title, min(text.Width(title), w-5), s.Ellipsis) + " "
	lines[0] = append(lines[0], text.Say(edge, s.TopLeft+s.Horizontal), text.Say(look, title),
		text.Say(edge, strings.Repeat(s.Horizontal, max(w-3-text.Width(title), 0))+s.TopRight))
	if about := text.Wrap(about, inner); len(about) < p.n-len(says) {
		says = append(says, text.Span{})
		for _, s := range about {
			says = append(says, text.Say(p.Theme.Dim, s))
		}
	}
	for i, said := range append(says, make([]text.Span, p.n)...)[:p.n] {
		lines[i+1] = append(lines[i+1], text.Say(edge, s.Vertical+" "), said.In(inner+1), text.Say(edge, s.Vertical))
	}
	mid, half := text.Say(edge, s.Horizontal), (w-2)/2
	if way, ok := p.way(of, of.row+1, of.col, s.Down, s.Up); ok {
		mid = way
	}
	lines[p.n+1] = append(lines[p.n+1], text.Say(edge, s.BottomLeft+strings.Repeat(s.Horizontal, half)), mid,
		text.Say(edge, strings.Repeat(s.Horizontal, w-3-half)+s.BottomRight))
	p.between(of, lines)
}

// between adds what stands between a box and the one at its right: in one line the arrow.
func (p *picture) between(of *box, lines [][]text.Span) {
	if of.col+of.wide == columns {
		return
	}
	for y := range lines {
		lines[y] = append(lines[y], text.Span{Width: p.gap})
	}
	s, line := &p.Theme.Symbols, strings.Repeat(p.Theme.Symbols.Horizontal, p.gap-1)
	if way, ok := p.way(of, of.row, of.col+of.wide, line+s.Right, s.Left+line); ok {
		lines[1][len(lines[1])-1] = way
	}
}

// way returns the arrow from a box to the one that stands there, or back from it; false if there
// is none.
func (p *picture) way(of *box, row, col int, there, back string) (text.Span, bool) {
	next := slices.IndexFunc(boxes, func(b box) bool { return b.row == row && b.col <= col && col < b.col+b.wide })
	for _, w := range arrows {
		switch {
		case next < 0 || w.only != nil && !w.only(p.board):
			continue
		case w.from == of.place && w.to == boxes[next].place:
		case w.to == of.place && w.from == boxes[next].place:
			there = back
		default:
			continue
		}
		return text.Say(theme.When(w.blocked != nil && w.blocked(p.board), p.Theme.Bad, p.Theme.Border), there), true
	}
	return text.Span{}, false
}
