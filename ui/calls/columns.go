package calls

import (
	"cmp"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/strip"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
	"github.com/plegtop/plegtop/ui/wording"
)

// columns has the figures that change with each relist side by side: a terminal draws
// a line from the first change to the last. Sorted by one, the largest comes first.
func columns() []widget.Column[*row] {
	return []widget.Column[*row]{
		{
			Name: "operation", Head: "OPERATION", Help: "the call of CRI", Least: 18,
			Draw: func(l *text.Line, p widget.Pen, r *row, w int) { l.Cell(p.Text, r.Op.String(), w) },
		},
		figure("last-ok", "LAST OK", "how long ago one was answered well", 8, 2, func(p widget.Pen, r *row) (theme.Style, string) {
			if r.LastOK.IsZero() {
				return p.Warn, "never"
			}
			return p.Dim, lately(r.view.At.Sub(r.LastOK))
		}, func(r *row) time.Duration { return r.view.At.Sub(r.LastOK) }),
		took("p50", "P50", "half of them took no longer", 2, func(r *row) time.Duration { return r.P50 }),
		took("p90", "P90", "nine of ten took no longer", 3, func(r *row) time.Duration { return r.P90 }),
		took("p99", "P99", "99 of 100 took no longer", 2, func(r *row) time.Duration { return r.P99 }),
		took("max", "MAX", "how long the longest took", 6, func(r *row) time.Duration { return r.Max }),
		out(),
		figure("count", "COUNT", "how many returned", 6, 5, func(p widget.Pen, r *row) (theme.Style, string) {
			return p.Text, text.Count(r.Count)
		}, func(r *row) uint64 { return r.Count }),
		figure("bytes", "BYTES", "received in all answers", 6, 7, func(p widget.Pen, r *row) (theme.Style, string) {
			return p.Text, text.Bytes(coarse(r.ResponseBytes))
		}, func(r *row) uint64 { return r.ResponseBytes }),
		figure("gone", "GONE", "asked for what had gone meanwhile: an answer, not an error", 5, 8, func(p widget.Pen, r *row) (theme.Style, string) {
			return p.Dim, text.Count(r.Gone)
		}, func(r *row) uint64 { return r.Gone }),
		figure("err", "ERR", "how many failed", 6, 1, func(p widget.Pen, r *row) (theme.Style, string) {
			if r.Errors == 0 {
				return p.Dim, "0"
			}
			return p.Bad, text.Count(r.Errors)
		}, func(r *row) uint64 { return r.Errors }),
		{
			Name: "latency", Head: "LATENCY", Help: "time taken, the newest at the right: the darker, the longer; a sign where one failed or gave no answer",
			Least: 14, Most: 120, Rank: 4,
			Draw: func(l *text.Line, _ widget.Pen, r *row, w int) { strip.Latency(l, r.view, r.Op, w) },
		},
	}
}

// figure is a column of a figure at the right, "-" for an operation that was never
// asked for.
func figure[T cmp.Ordered](name, head, help string, w, rank int, say func(widget.Pen, *row) (theme.Style, string), by func(*row) T) widget.Column[*row] {
	return widget.Column[*row]{
		Name: name, Head: head, Help: help, Least: w, Rank: rank, Right: true,
		Draw: func(l *text.Line, p widget.Pen, r *row, w int) {
			st, said := p.Dim, "-"
			if r.made() {
				st, said = say(p, r)
			}
			l.Right(st, said, w)
		},
		Compare: func(a, b *row) int { return cmp.Compare(by(b), by(a)) },
	}
}

// took is a column of how long calls took.
func took(name, head, help string, rank int, of func(*row) time.Duration) widget.Column[*row] {
	return figure(name, head, help, 6, rank, func(p widget.Pen, r *row) (theme.Style, string) {
		switch d := of(r); {
		case r.Count == 0:
			return p.Dim, ""
		case diagnose.TookLong(d):
			return p.Warn, text.Took(d)
		default:
			return p.Text, text.Took(d)
		}
	}, of)
}

// out grows with what there is to say: which try of a call it is that is out.
func out() widget.Column[*row] {
	c := figure("out", "OUT", "how many are out, for how long the oldest, and which try in a row it is", 7, 1, nil, func(r *row) time.Duration { return r.oldest })
	c.Most, c.Need = 16, func(r *row) int { return len(r.out) + len(r.try) }
	c.Draw = func(l *text.Line, p widget.Pen, r *row, w int) {
		st, said := p.Text, r.out+r.try
		switch {
		case !r.made():
			st, said = p.Dim, "-"
		case r.InFlight == 0:
			st = p.Dim
		case r.hangs:
			st = p.Bad
		}
		if len(said) > w {
			said = r.out
		}
		l.Right(st, said, w)
	}
	return c
}

// lately is an age that stays the same as long as calls come every few seconds.
func lately(d time.Duration) string {
	if d < 10*time.Second {
		return "now"
	}
	return text.AgeCoarse(d)
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
	return wording.Coarse(n/unit) * unit
}
