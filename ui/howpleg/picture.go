package howpleg

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
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
	tightHeight = 14 // with two
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
			if more := max(n-3, 0); leastHeight+2*n+2*more+3*gap <= h && (gap > 0 || n < 2) {
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

// A picture is what stands in each cell; a text stands in its first, and the others have no text.
type picture struct {
	*theme.Theme
	areas map[byte]area
	cells [][]text.Span
}

// draw returns the lines of the picture.
func draw(v *pane.View, w, h int) [][]text.Span {
	grid := stretch(w, h)
	p := &picture{v.Theme, areas(grid), make([][]text.Span, len(grid))}
	for y := range p.cells {
		p.cells[y] = slices.Repeat([]text.Span{{Text: " "}}, w)
	}
	boxes, ways := board(v)
	for i := range boxes {
		if len(grid) > 0 {
			p.box(&boxes[i])
		}
	}
	for y, line := range grid {
		for x := range len(line) {
			if i := int(line[x]) - 'a'; i >= 0 {
				p.way(&ways[i], p.areas[line[x]], x, y)
			}
		}
	}
	for y, cells := range p.cells { // those of one look become one span
		p.cells[y] = cells[:1]
		for _, c := range cells[1:] {
			if last := &p.cells[y][len(p.cells[y])-1]; last.Style == c.Style || c.Text == "" {
				last.Text += c.Text
			} else {
				p.cells[y] = append(p.cells[y], c)
			}
		}
	}
	return p.cells
}

// put puts a text, cut to so many cells, and returns the cell after it.
func (p *picture) put(x, y, room int, st theme.Style, s string) int {
	s = text.Clean(s)
	s = text.Fit(s, min(text.Width(s), room), p.Symbols.Ellipsis)
	for i := range text.Width(s) {
		p.cells[y][x+i] = text.Say(st, theme.When(i == 0, s, ""))
	}
	return x + text.Width(s)
}

// box draws a box: in a wide one as many figures in a line as it has room for, in the others one.
// What it is for stands below them if there is room.
func (p *picture) box(of *box) {
	s, a := &p.Symbols, p.areas[byte(of.place)]
	edge := theme.When(of.bad(), p.Bad, p.Border)
	for x := a.left; x <= a.right; x++ {
		p.cells[a.top][x], p.cells[a.bottom][x] = text.Say(edge, s.Horizontal), text.Say(edge, s.Horizontal)
	}
	for y := a.top; y <= a.bottom; y++ {
		p.cells[y][a.left], p.cells[y][a.right] = text.Say(edge, s.Vertical), text.Say(edge, s.Vertical)
	}
	p.cells[a.top][a.left], p.cells[a.top][a.right] = text.Say(edge, s.TopLeft), text.Say(edge, s.TopRight)
	p.cells[a.bottom][a.left], p.cells[a.bottom][a.right] = text.Say(edge, s.BottomLeft), text.Say(edge, s.BottomRight)
	p.put(a.left+2, a.top, a.right-a.left-4, p.Title, " "+of.title+" ")

	x, y, end, st := a.left+2, a.top, a.right-1, theme.Style{}
	for _, f := range of.figures {
		var sign string
		sign, st = f.level.Look(p.Theme)
		says := strings.TrimLeft(sign+" "+f.says, " ")
		if x += 2; !of.wide || y == a.top || x+text.Width(says) > end {
			x, y = a.left+2, y+1
		}
		if y < a.bottom {
			x = p.put(x, y, end-x, st, says)
		}
	}
	if room := end - x - 2; of.bar > 0 && room > 0 {
		full := min(max(int(of.bar*float64(room)), 1), room)
		p.put(x+2, y, room, st, strings.Repeat(s.Full, full)+strings.Repeat(s.Empty, room-full))
	}
	about := text.Wrap(of.about, end-a.left-2)
	if free := a.bottom - y - 1 - len(about); free >= 0 {
		for i, says := range about {
			p.put(a.left+2, y+1+min(free, 1)+i, end, p.Dim, says)
		}
	}
}

// way draws a cell of a way. The last cell is its head, which is a cross where a blocked way comes to
// the box that waits.
func (p *picture) way(of *way, at area, x, y int) {
	from, to, s := p.areas[byte(of.from)], p.areas[byte(of.to)], &p.Symbols
	sign, head := s.Vertical, ""
	switch {
	case from.right < to.left:
		sign, head = s.Horizontal, theme.When(x == at.right, s.Right, "")
	case to.right < from.left:
		sign, head = s.Horizontal, theme.When(x == at.left, s.Left, "")
	case from.bottom < to.top && y == at.bottom:
		head = s.Down
	case to.bottom < from.top && y == at.top:
		head = s.Up
	}
	if of.waits && head != "" {
		head = s.Bad
	}
	p.put(x, y, 1, theme.When(of.blocked, p.Bad, p.Info), cmp.Or(head, sign))
}
