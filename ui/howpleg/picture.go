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

// drawing is the picture. A box is drawn with the letter of its place, a way with a letter of its
// own, and it runs through the edges of boxes. The first line marks the columns that grow with the
// width; the first column marks the lines that are repeated, or left out, with the height.
const drawing = `
    **   **    *    **   **    *    **   **   
.RRRRRRRRRRRRR   LLLLLLLLLLLLL   CCCCCCCCCCCCC
.RRRRRRRRRRRRRaaaLLLLLLLLLLLLLbbbCCCCCCCCCCCCC
*RRRRRRRRRRRRR   LLLLLLLLLLLLL   CCCCCCCCCCCCC
.RRRRRRRRRRfRR   LLLLLLLLLLLLL   CCCCCCCCCCCCC
?          f                               c  
.WWWWWWWWWWWWW   KKKKKKKKKKKKK   IIIIIIIIIIcII
.WWWWWWWWWWWWWeeeKKKKKKKKKKKKKdddIIIIIIIIIIIII
*WWWWWWWWWWWWW   KKKKKKKKKKKKK   IIIIIIIIIIIII
.WWWWWWWWWWiWW   KKKKKKKKKKKKK   IIIIIIIIIIIII
?          i                               g  
.SSSSSSSSSSSSS   HHHHHHHHHHHHHHHHHHHHHHHHHHgHH
.SSSSSSSSSSSSShhhHHHHHHHHHHHHHHHHHHHHHHHHHHHHH
+SSSSSSSSSSSSS   HHHHHHHHHHHHHHHHHHHHHHHHHHHHH
.SSSSSSSSSSkSS   HHHHHHHHHHHHHHHHHHHHHHHHHHHHH
?          k                                  
.AAAAAAAAAAAAAAAAAAAAAAAAAAAAA   NNNNNNNNNNNNN
.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAjjjNNNNNNNNNNNNN
+AAAAAAAAAAAAAAAAAAAAAAAAAAAAA   NNNNNNNNNNNNN
.AAAAAAAAAAAAAAAAAAAAAAAAAAAAA   NNNNNNNNNNNNN`

const (
	leastWidth  = 70 // cells that the picture takes
	leastHeight = 12 // lines, with one in each box
	looseHeight = 17 // lines, with two in each box and ways between them
	mostLines   = 7  // in a box, beside the first
)

// stretch returns the drawing in w cells and at most h lines; nil where it has no room.
func stretch(w, h int) (grid []string) {
	if w < leastWidth || h < leastHeight {
		return nil
	}
	lines := strings.Split(drawing[1:], "\n")
	marks := strings.Count(lines[0], "*")
	repeat := map[byte]int{'.': 1}
	for n := range mostLines + 1 {
		for gap := range 2 {
			if more := max(n-3, 0); leastHeight+2*n+2*more+3*gap <= h {
				repeat['*'], repeat['+'], repeat['?'] = n, more, gap
			}
		}
	}
	for _, line := range lines[1:] {
		var b strings.Builder
		for x, seen := 1, 0; x < len(line); x++ {
			n := 1
			if lines[0][x] == '*' {
				extra := w - len(line) + 1
				n += extra*(seen+1)/marks - extra*seen/marks
				seen++
			}
			b.WriteString(strings.Repeat(line[x:x+1], n))
		}
		grid = append(grid, slices.Repeat([]string{b.String()}, repeat[line[0]])...)
	}
	return grid
}

// An area is where a letter stands in the drawing; right and bottom are its last cells.
type area struct{ left, top, right, bottom int }

func areas(grid []string) map[byte]area {
	all := map[byte]area{}
	for y, line := range grid {
		for x := range len(line) {
			a, ok := all[line[x]]
			if !ok {
				a = area{x, y, x, y}
			}
			all[line[x]] = area{min(a.left, x), a.top, max(a.right, x), y}
		}
	}
	return all
}

// A picture draws boxes and ways where their letters stand.
type picture struct {
	*board
	areas  map[byte]area
	frames map[byte]frame
}

// A frame is a box with its figures in lines.
type frame struct {
	edge, look theme.Style
	title      string
	bad        bool // something in it is
	lines      [][]text.Span
}

// draw returns the lines of the picture; places are those whose boxes have a mark in their titles.
func draw(v *pane.View, places []story.Place, w, h int) (lines [][]text.Span) {
	grid := stretch(w, h)
	p := &picture{newBoard(v), areas(grid), map[byte]frame{}}
	for _, of := range p.boxes() {
		if a, ok := p.areas[byte(of.place)]; ok {
			p.frames[byte(of.place)] = p.frame(&of, a, slices.Contains(places, of.place))
		}
	}
	for y, row := range grid {
		var line []text.Span
		for x, end := 0, 0; x < len(row); x = end {
			for end = x; end < len(row) && row[end] == row[x]; end++ {
			}
			switch f, ok := p.frames[row[x]]; {
			case ok:
				line = append(line, p.cells(f, p.areas[row[x]], x, end, y)...)
			case row[x] == ' ':
				line = append(line, text.Span{Width: end - x})
			default:
				line = append(line, p.way(row[x], x, end, y))
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// frame returns a box with its figures: in a wide one as many in a line as it has room for, in
// the others one. What the box is for stands below them if there is room.
func (p *picture) frame(of *box, a area, marked bool) frame {
	t, inner, n := p.Theme, a.right-a.left-3, a.bottom-a.top-1
	f := frame{edge: t.Border, look: t.Title, title: of.title}
	if marked {
		f.title, f.look, f.edge = t.Symbols.Mark+" "+of.title, t.Focus, t.Strong
	}
	room := 0
	for _, fig := range of.figures {
		if fig.says == "" {
			continue
		}
		sign, st := fig.level.Look(t)
		if fig.level == widget.Bad {
			f.edge, f.bad = t.Bad, true
		}
		says := strings.TrimLeft(sign+" "+fig.says, " ")
		if size := text.Width(says) + 2; of.wide && size <= room {
			last := len(f.lines) - 1
			f.lines[last] = append(f.lines[last], text.Say(st, "  "+says))
			room -= size
		} else {
			f.lines, room = append(f.lines, []text.Span{text.Say(st, says)}), inner-size+2
		}
	}
	if of.bar > 0 && len(f.lines) > 0 {
		f.lines[0] = append(f.lines[0], text.Span{Width: 2}, text.Say(f.lines[0][0].Style, p.bar(of.bar, inner-width(f.lines[0])-2)))
	}
	if about := text.Wrap(of.about, inner); len(about) < n-len(f.lines) {
		f.lines = append(f.lines, nil)
		for _, s := range about {
			f.lines = append(f.lines, []text.Span{text.Say(t.Dim, s)})
		}
	}
	return f
}

// bar is full where its part is 1.
func (p *picture) bar(part float64, w int) string {
	w = max(w, 0)
	full := min(max(int(part*float64(w)), 1), w)
	return strings.Repeat(p.Theme.Symbols.Full, full) + strings.Repeat(p.Theme.Symbols.Empty, w-full)
}

// cells returns the cells of a box from x up to end in line y: a part of an edge, or all of a line.
func (p *picture) cells(f frame, a area, x, end, y int) []text.Span {
	s := &p.Theme.Symbols
	if y > a.top && y < a.bottom {
		line, inner := []text.Span{text.Say(f.edge, s.Vertical+" ")}, end-x-3
		if i := y - a.top - 1; i < len(f.lines) {
			line = append(line, f.lines[i]...)
		}
		last := &line[len(line)-1]
		if used := width(line[1:]); len(line) > 1 {
			last.Width = inner - used + text.Width(last.Text)
		} else {
			line = append(line, text.Span{Width: inner})
		}
		return append(line, text.Say(f.edge, s.Vertical))
	}
	edge := []string{s.TopLeft, s.TopRight}
	if y == a.bottom {
		edge = []string{s.BottomLeft, s.BottomRight}
	}
	var line []text.Span
	n := end - x
	if x == a.left {
		line, n = append(line, text.Say(f.edge, edge[0]+s.Horizontal)), n-2
		if y == a.top {
			title := " " + text.Fit(f.title, min(text.Width(f.title), n-3), s.Ellipsis) + " "
			line, n = append(line, text.Say(f.look, title)), n-text.Width(title)
		}
	}
	rest := strings.Repeat(s.Horizontal, max(n-1, 0)) + theme.When(end > a.right, edge[1], s.Horizontal)
	return append(line, text.Say(f.edge, rest))
}

// width returns how many cells spans take.
func width(line []text.Span) (w int) {
	for _, s := range line {
		w += max(s.Width, text.Width(s.Text))
	}
	return w
}

// way returns the cells of a way from x up to end in line y. Its last one is its head, which is a
// cross where a blocked way comes to the box that waits.
func (p *picture) way(letter byte, x, end, y int) text.Span {
	w := ways[letter-'a']
	from, to, at, s := p.areas[byte(w.from)], p.areas[byte(w.to)], p.areas[letter], &p.Theme.Symbols
	blocked, line := w.blocked(p.board), strings.Repeat(s.Horizontal, end-x-1)
	st := theme.When(blocked, p.Theme.Bad, p.Theme.Info)
	head := func(arrow string) string { return theme.When(blocked && p.frames[byte(w.to)].bad, s.Bad, arrow) }
	switch {
	case to.left > from.right:
		return text.Say(st, line+head(s.Right))
	case to.right < from.left:
		return text.Say(st, head(s.Left)+line)
	case to.top > from.bottom && y == at.bottom:
		return text.Say(st, head(s.Down))
	case to.bottom < from.top && y == at.top:
		return text.Say(st, head(s.Up))
	}
	return text.Say(st, s.Vertical)
}
