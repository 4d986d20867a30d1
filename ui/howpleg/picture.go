package howpleg

import (
	"maps"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// A part is one box of the picture.
type part uint8

const (
	runtime part = iota
	lists
	records
	inspection
	sources
	health
	cache
	settle
	kubelet
	workers
	loop
	channel
)

// grid is where the boxes stand: the relist from left to right, and what becomes of an event
// back from right to left.
var grid = [][]part{
	{runtime, lists, records, inspection},
	{health, sources, cache, settle},
	{kubelet, workers, loop, channel},
}

const (
	leastWidth = 70 // cells that the picture takes
	frameLines = 2  // of a box: above and below
	mostLines  = 8  // in a box: more it has not
)

// across says which way it goes from a box to the one at its right: 1 to that one, -1 from it.
var across = map[part]int{runtime: 1, lists: 1, records: 1, cache: -1, workers: -1, loop: -1}

// below says which way it goes from a box to the one below, likewise.
var below = map[part]int{inspection: 1, settle: 1, health: 1}

// A box is what stands in one of them: figures, the most telling first, and what it is for.
type box struct {
	title string
	lines []text.Span
	about string
}

// picture returns the lines of the picture, w cells wide, with n lines in each box. Those of
// the parts that are told of have a sign in their title.
func picture(v *pane.View, told []part, w, n int) (lines [][]text.Span) {
	f := frame{Theme: v.Theme, told: told, across: across, below: below}
	switch useOf(v) {
	case writes:
		f.across = maps.Clone(across)
		f.across[sources] = 1
	case asks:
		f.below = maps.Clone(below)
		f.below[lists] = -1
	}
	columns := len(grid[0])
	f.gap = 2 + min(w/100, 2)
	f.width = (w - (columns-1)*f.gap) / columns
	for _, row := range grid {
		boxes := make([]box, len(row))
		for i, p := range row {
			boxes[i] = boxOf(v, p)
			boxes[i].lines = append(boxes[i].lines, wrapped(v.Theme, boxes[i].about, f.inner(), n-len(boxes[i].lines)-1)...)
		}
		for y := -1; y <= n; y++ {
			var line []text.Span
			for i, p := range row {
				line = append(line, f.line(p, &boxes[i], y, n)...)
				if i+1 < len(row) {
					line = append(line, f.between(p, y))
				}
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// wrapped returns what a box is for after a blank line, where there is room for all of it.
func wrapped(t *theme.Theme, about string, w, room int) (lines []text.Span) {
	all := text.Wrap(about, w)
	if len(all) > room {
		return nil
	}
	lines = append(lines, text.Span{})
	for _, s := range all {
		lines = append(lines, text.Say(t.Dim, s))
	}
	return lines
}

// A frame draws boxes of one width.
type frame struct {
	*theme.Theme
	told          []part
	across, below map[part]int
	width, gap    int
}

// inner is how many cells a box has for its text: less its sides, and a blank at each.
func (f *frame) inner() int { return f.width - 4 }

// line returns line y of a box with n lines: -1 is above them, n below.
func (f *frame) line(p part, b *box, y, n int) []text.Span {
	s, st := &f.Symbols, f.Border
	told := slices.Contains(f.told, p)
	if told {
		st = f.Strong
	}
	switch {
	case y < 0:
		title, look := b.title, f.Title
		if told {
			title, look = s.Mark+" "+title, f.Focus
		}
		title = " " + text.Fit(title, min(text.Width(title), f.width-5), s.Ellipsis) + " "
		rest := strings.Repeat(s.Horizontal, max(f.width-3-text.Width(title), 0))
		return []text.Span{text.Say(st, s.TopLeft+s.Horizontal), text.Say(look, title), text.Say(st, rest+s.TopRight)}
	case y == n:
		half := (f.width - 2) / 2
		way := map[int]string{0: s.Horizontal, 1: s.Down, -1: s.Up}[f.below[p]]
		return []text.Span{text.Say(st, s.BottomLeft+strings.Repeat(s.Horizontal, half)+way+strings.Repeat(s.Horizontal, f.width-3-half)+s.BottomRight)}
	}
	var said text.Span
	if y < len(b.lines) {
		said = b.lines[y]
	}
	return []text.Span{text.Say(st, s.Vertical+" "), said.In(f.inner() + 1), text.Say(st, s.Vertical)}
}

// between returns what stands between a box and the one at its right: the way, in the first
// line of a box.
func (f *frame) between(p part, y int) text.Span {
	s, way := &f.Symbols, strings.Repeat(f.Symbols.Horizontal, f.gap-1)
	switch {
	case y == 0 && f.across[p] > 0:
		return text.Say(f.Border, way+s.Right)
	case y == 0 && f.across[p] < 0:
		return text.Say(f.Border, s.Left+way)
	}
	return text.Span{Width: f.gap}
}
