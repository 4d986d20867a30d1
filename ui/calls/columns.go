package calls

import (
	"math"
	"time"

	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/strip"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// columns have the figures that change with each relist side by side: a terminal draws
// a line from the first change to the last. Sorted by one, the largest comes first.
var columns = []widget.Column[*row]{
	{
		Name: "operation", Head: "OPERATION", Help: "the call of CRI", Least: 18, Unsorted: true,
		Value: func(p widget.Pen, r *row) widget.Cell { return widget.Say(p.Text, r.Op.String()) },
	}, {
		Name: "last-ok", Head: "LAST OK", Help: "how long ago one was answered well", Least: 8, Rank: 2, Right: true,
		Value: made(func(p widget.Pen, r *row) widget.Cell {
			if r.LastOK.IsZero() {
				return widget.Say(p.Warn, "never").Sorted(math.MaxInt64)
			}
			return widget.Lately(p.Dim, r.LastOK).Sorted(int64(p.At.Sub(r.LastOK)))
		}),
	}, {
		Name: "p50", Head: "P50", Help: "half of them took no longer", Least: 6, Rank: 2, Right: true,
		Value: took(func(r *row) time.Duration { return r.P50 }),
	}, {
		Name: "p90", Head: "P90", Help: "nine of ten took no longer", Least: 6, Rank: 3, Right: true,
		Value: took(func(r *row) time.Duration { return r.P90 }),
	}, {
		Name: "p99", Head: "P99", Help: "99 of 100 took no longer", Least: 6, Rank: 2, Right: true,
		Value: took(func(r *row) time.Duration { return r.P99 }),
	}, {
		Name: "max", Head: "MAX", Help: "how long the longest took", Least: 6, Rank: 6, Right: true,
		Value: took(func(r *row) time.Duration { return r.Max }),
	}, {
		Name: "out", Head: "OUT", Help: "how many are out, for how long the oldest, and which try in a row it is", Least: 7, Most: 16, Rank: 1, Right: true, Fits: true,
		Value: made(out),
		Draw: func(l *text.Line, p widget.Pen, r *row, w int) {
			c := made(out)(p, r)
			if len(c.Text) > w {
				c.Text = r.out
			}
			c.Draw(l, p, w, true)
		},
	}, {
		Name: "count", Head: "COUNT", Help: "how many returned", Least: 6, Rank: 5, Right: true,
		Value: made(func(p widget.Pen, r *row) widget.Cell { return widget.Count(p.Text, r.Count) }),
	}, {
		Name: "bytes", Head: "BYTES", Help: "received in all answers", Least: 6, Rank: 7, Right: true,
		Value: made(func(p widget.Pen, r *row) widget.Cell { return widget.Bytes(p.Text, coarse(r.ResponseBytes)) }),
	}, {
		Name: "gone", Head: "GONE", Help: "asked for what had gone meanwhile: an answer, not an error", Least: 5, Rank: 8, Right: true,
		Value: made(func(p widget.Pen, r *row) widget.Cell { return widget.Count(p.Dim, r.Gone) }),
	}, {
		Name: "err", Head: "ERR", Help: "how many failed", Least: 6, Rank: 1, Right: true,
		Value: made(func(p widget.Pen, r *row) widget.Cell {
			return widget.Count(theme.When(r.Errors == 0, p.Dim, p.Bad), r.Errors)
		}),
	}, {
		Name: "latency", Head: "LATENCY", Help: "time taken, the newest at the right: the darker, the longer; a sign where one failed or gave no answer",
		Least: 14, Most: 120, Rank: 4,
		Draw: func(l *text.Line, _ widget.Pen, r *row, w int) { strip.Latency(l, r.view, r.Op, w) },
	},
}

// made returns the Value of a figure: "-" for an operation that was never asked for.
func made(value func(widget.Pen, *row) widget.Cell) func(widget.Pen, *row) widget.Cell {
	return func(p widget.Pen, r *row) widget.Cell {
		if r.Count == 0 && r.InFlight == 0 {
			return widget.Say(p.Dim, "-")
		}
		return value(p, r)
	}
}

// took returns the Value of how long calls took.
func took(of func(*row) time.Duration) func(widget.Pen, *row) widget.Cell {
	return made(func(p widget.Pen, r *row) widget.Cell { return say.Took(p, of(r), r.Count > 0) })
}

// out returns how many calls are out.
func out(p widget.Pen, r *row) widget.Cell {
	st := theme.When(r.InFlight == 0, p.Dim, theme.When(r.hangs, p.Bad, p.Text))
	return widget.Say(st, r.out+r.try).Sorted(int64(r.oldest))
}

// coarse rounds n down so that as a size it has no more than two digits.
func coarse(n uint64) uint64 {
	unit := uint64(1)
	for n/unit >= 1024 {
		unit *= 1024
	}
	if n/unit < 10 {
		return n
	}
	return say.Coarse(n/unit) * unit
}
