package strip

import (
	"math"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// A Chart draws how long the calls of one operation took, along the axis of time: each column
// is as high as the slowest call that returned in it, by a logarithmic scale that stands at
// the left, and has the look of that. One that has no answer climbs for as long as it is out.
// The zero Chart is ready for use.
type Chart struct {
	cells  []chartCell
	labels []string // of the rows, the highest first
	ago    string   // the scale of time below them
	bottom float64  // of the scale, as a logarithm
	span   float64  // from there to its top
}

// A chartCell is two columns side by side, in dots.
type chartCell struct {
	left, right    int
	failed, silent bool
	style          theme.Style
}

const (
	labelCells = 7 // of the scale at the left, with the line that is its edge
	chartFoot  = 1 // lines below the rows
	dots       = 4 // that a cell is high
	shortest   = 100 * time.Microsecond
	leastTop   = 10 * time.Millisecond // so that a chart in which all is well looks like it
)

// Read takes over how the calls of an operation went, for w cells and h lines.
func (c *Chart) Read(v *pane.View, op call.Operation, w, h int) {
	c.labels, c.cells = c.labels[:0], c.cells[:0]
	w, h = w-labelCells, h-chartFoot
	if w <= 0 || h <= 0 {
		return
	}
	c.scale(v, op, h)
	from, to := v.Axis.Cell(2*w, 0)
	for d := to.Sub(from); w > len(c.cells); from = from.Add(2 * d) {
		l, r := v.Journal.Calls(op, from, from.Add(d)), v.Journal.Calls(op, from.Add(d), from.Add(2*d))
		look := say.Graded(v.Theme, max(l.Slowest, r.Slowest))
		c.cells = append(c.cells, chartCell{c.high(l), c.high(r), l.Errors+r.Errors > 0, l.Out+r.Out > 0, look})
	}
	c.ago = v.Axis.Ago(w)
}

// scale works out the scale of h rows: up to the next round time above the slowest call.
func (c *Chart) scale(v *pane.View, op call.Operation, h int) {
	all := v.Journal.Calls(op, v.Axis.End.Add(-v.Axis.Width), v.At.Add(time.Second))
	slowest, decade, top := max(all.Slowest, all.Out), leastTop, leastTop
	for top < slowest {
		if top == decade {
			top = 3 * decade
		} else {
			decade *= 10
			top = decade
		}
	}
	c.bottom = math.Log10(float64(shortest))
	c.span = math.Log10(float64(top)) - c.bottom
	c.labels = append(c.labels, make([]string, h)...)
	for d := shortest; d < top; d *= 10 {
		c.label(d)
	}
	c.label(top)
}

// label names the row that a duration reaches up to. Of two in one row the longer one stays.
func (c *Chart) label(d time.Duration) {
	c.labels[len(c.labels)-1-(c.dots(d)-1)/dots] = text.Round(d)
}

// high returns how high a column is.
func (c *Chart) high(s model.Sample) int {
	if s.Count == 0 && s.Out == 0 {
		return 0
	}
	return c.dots(max(s.Slowest, s.Out))
}

func (c *Chart) dots(d time.Duration) int {
	most := dots * len(c.labels)
	part := (math.Log10(max(float64(d), 1)) - c.bottom) / c.span
	return max(1, min(int(math.Ceil(part*float64(most)-1e-9)), most))
}

// Draw draws a line: a row, or the scale of time below all of them.
func (c *Chart) Draw(l *text.Line, p widget.Pen, y int) {
	if y >= len(c.labels) {
		if y == len(c.labels) {
			l.Space(labelCells)
			l.Put(p.Dim, c.ago)
		}
		return
	}
	base := dots * (len(c.labels) - 1 - y)
	l.Right(p.Dim, c.labels[y], labelCells-1)
	l.Sign(p.Border, p.Symbols.Vertical)
	for i := range c.cells {
		cell := &c.cells[i]
		top := max(cell.left, cell.right, 1)
		switch isTop := top > base && top <= base+dots; {
		case cell.failed && isTop:
			l.Sign(p.Bad, p.Symbols.SparkFailed)
		case cell.silent && top > base:
			l.Sign(p.Bad, p.Symbols.Blind)
		case top <= base || cell.left+cell.right == 0:
			l.Space(1)
		default:
			l.Sign(cell.style, p.Symbols.Pair(cell.left-base, cell.right-base))
		}
	}
}

// A Legend says what charts show, by their signs, and what a latency strip does. It is made
// once for many frames.
type Legend []text.Span

// NewLegend returns the legend in the signs of a theme. A sign is a span of one cell.
func NewLegend(p widget.Pen) (all Legend) {
	say := func(st theme.Style, sign, means string) {
		all = append(all, text.Say(st, sign).In(1), text.Say(p.Dim, " "+means+"  "))
	}
	bar := p.Symbols.Pair(dots-1, dots)
	say(p.Good, bar, "slowest call")
	say(p.Warn, bar, "from "+text.Age(answers.Late))
	say(p.Bad, bar, "from "+text.Age(answers.HungLong))
	say(p.Bad, p.Symbols.SparkFailed, "failed")
	say(p.Bad, p.Symbols.Blind, "no answer yet")
	say(p.Dim, "", "LATENCY")
	for i, shade := range p.Symbols.Shades {
		means := "longer"
		if i < len(widget.ShadeSteps) {
			means = "<" + text.Round(widget.ShadeSteps[i])
		}
		say(p.Dim, shade, means)
	}
	return all
}

// Draw draws as many signs as there is room for, each with what it means.
func (all Legend) Draw(l *text.Line) {
	for i := 0; i < len(all) && l.Left() > len(all[i+1].Text); i += 2 {
		l.Sign(all[i].Style, all[i].Text)
		l.Put(all[i+1].Style, all[i+1].Text)
	}
}

// Latency draws how the calls of one operation went in w cells: the darker a cell, the
// longer the slowest call took that returned in it. There is a sign where calls failed, one for some and
// another where one should have answered and had not; nothing where none was made.
func Latency(l *text.Line, v *pane.View, op call.Operation, w int) {
	p := v.Pen()
	widget.Strip(l, v.Axis, w, func(from, to time.Time) (string, theme.Style) {
		s := v.Journal.Calls(op, from, to)
		switch {
		case s.Errors > 0:
			return failures(p, int(s.Errors), int(s.Count)), p.Bad
		case s.Out > 0:
			return p.Symbols.Blind, p.Bad
		case s.Count == 0:
			return "", theme.Style{}
		case diagnose.TookLong(s.Slowest):
			return p.Shade(s.Slowest), p.Warn
		}
		return p.Shade(s.Slowest), p.Dim
	})
}
