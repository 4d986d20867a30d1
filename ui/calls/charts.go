package calls

import (
	"strings"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/strip"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// charts show how the calls of each operation went over time: of the one under the cursor in a
// large chart with a histogram beside it, and of all in small ones where there is room. The
// zero charts take no line.
type charts struct {
	lines  int // of all
	blank  int // of those above the first one
	main   int // of the large one
	large  tile
	bars   []say.Bar
	theme  *theme.Theme // that the legend was made for
	legend strip.Legend
	small  []tile // from left to right, row by row
	across int    // of them in a row
}

// A tile is a chart below its title.
type tile struct {
	title []text.Span
	chart strip.Chart
	w, h  int // of a small one with its title
}

const (
	leastMain, mostMain    = 6, 16 // lines of the large chart: with its title and a legend
	goodMain               = 8     // beside small ones
	leastSmall, mostSmall  = 5, 7
	smallWidth, mostSmalls = 38, 3 // cells of a small one at least, and how many there are in a row
	barsFrom               = 62    // cells from which there is a histogram
	leastBars, mostBars    = 31, 60
	gap                    = 2 // cells between two of them
)

// observe takes over how the calls went, and divides the room among the charts.
func (c *charts) observe(v *pane.View, rows []*row, current *row, w, h int) {
	var all []*row
	for _, r := range rows {
		if r.Op != call.GetContainerEvents { // which is meant to stay out
			all = append(all, r)
		}
	}
	small := c.divide(len(all), w, h)
	if c.observeLarge(v, current, w); small == 0 {
		all = nil
	}
	for len(c.small) < len(all) {
		c.small = append(c.small, tile{})
	}
	c.small = c.small[:len(all)]
	for i, r := range all {
		t := &c.small[i]
		t.w, t.h = w/c.across-gap, small
		name := theme.When(r.Op == current.Op, v.Theme.Focus, v.Theme.Strong)
		t.title = []text.Span{text.Say(name, r.Op.String()), text.Say(v.Theme.Dim, brief(r))}
		t.chart.Read(v, r.Op, t.w, t.h-1)
	}
}

// divide says how high n small charts are, each; 0 where there is no room for all of them.
func (c *charts) divide(n, w, h int) (small int) {
	c.blank, c.across = theme.When(h >= roomy, 1, 0), max(1, min(mostSmalls, w/smallWidth))
	h -= c.blank
	down := (n + c.across - 1) / c.across
	if small = min((h-goodMain)/down, mostSmall); small < leastSmall {
		small = 0
	}
	c.main = min(h-small*down, mostMain)
	c.lines = c.blank + c.main + small*down
	return small
}

// observeLarge takes over the operation under the cursor.
func (c *charts) observeLarge(v *pane.View, r *row, w int) {
	bars := 0
	if w >= barsFrom {
		bars = max(leastBars, min(w/3, mostBars))
	}
	t, name := &c.large, r.Op.String()
	t.title = []text.Span{text.Say(v.Theme.Focus, name), text.Say(v.Theme.Dim, strings.TrimPrefix(beside(r), name))}
	t.w, t.h = w-bars-theme.When(bars > 0, gap, 0), c.main-2
	t.chart.Read(v, r.Op, t.w, t.h)
	c.bars = say.Histogram(v.Theme, &r.Calls, bars-labelCells-1, theme.When(bars > 0, t.h, 0))
	if c.theme != v.Theme {
		c.theme, c.legend = v.Theme, strip.NewLegend(v.Pen())
	}
}

// labelCells is how wide the labels of a histogram are.
const labelCells = 7

// brief says of an operation what a small chart has room for.
func brief(r *row) string {
	if r.Count == 0 {
		return theme.When(r.InFlight > 0, "  no answer yet", "  no call yet")
	}
	return "  p99 " + text.Took(r.P99) + theme.When(r.Errors > 0, "  "+text.Count(r.Errors)+" failed", "  max "+text.Took(r.Max))
}

// draw draws a line of them.
func (c *charts) draw(l *text.Line, p widget.Pen, y int) {
	if y -= c.blank; y < c.main {
		if y >= 0 {
			c.drawLarge(l, p, y)
		}
		return
	}
	y -= c.main
	for i := y / c.small[0].h * c.across; i < min(len(c.small), (y/c.small[0].h+1)*c.across); i++ {
		t := &c.small[i]
		kept := l.Keep(l.Left() - t.w - gap)
		if y%t.h == 0 {
			p.Slots(l, t.title)
		} else {
			t.chart.Draw(l, p, y%t.h-1)
		}
		l.Space(l.Left())
		l.Release(kept)
	}
}

// drawLarge draws a line of the large chart: its title, a row with a bar of the histogram, or
// the legend.
func (c *charts) drawLarge(l *text.Line, p widget.Pen, y int) {
	beside := l.Left() - c.large.w // cells of the histogram
	switch y {
	case 0:
		p.Slots(l, c.large.title)
	case c.main - 1:
		l.Space(labelCells)
		c.legend.Draw(l)
		return
	default:
		kept := l.Keep(beside)
		c.large.chart.Draw(l, p, y-1)
		l.Space(l.Left())
		l.Release(kept)
	}
	if len(c.bars) == 0 || y > len(c.bars) || l.Left() < beside { // a long title takes the place of the heads
		return
	}
	l.Space(l.Left() - beside + gap)
	if y == 0 {
		l.Right(p.Head, "TOOK", labelCells)
		l.Put(p.Head, " CALLS")
		return
	}
	b := &c.bars[y-1]
	l.Right(p.Dim, b.Label, labelCells)
	l.Space(1)
	l.Repeat(b.Style, p.Symbols.Full, b.Cells)
	l.Space(min(b.Cells, 1))
	l.Put(p.Text, b.Count)
}
