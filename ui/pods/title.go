package pods

import (
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
)

// entitle says which part of the pods is seen, and what of them is not.
func (p *pods) entitle() {
	v, l := p.View, p.View.Pods
	p.about = append(p.about[:0:0], text.Say(v.Theme.Dim, p.part()))
	p.about = append(p.about, p.problems(p.unseen())...)
	if !l.AsOf.IsZero() {
		p.about = append(p.about, text.Say(v.Theme.Warn, "stale "+text.AgeCoarse(v.At.Sub(l.AsOf))))
	}
	if v.Led && l.ProblemsOnly() {
		p.about = append(p.about, text.Say(v.Theme.Dim, "with a problem; "+v.Keys.Keys(keymap.ProblemsOnly)+" shows all"))
	} else if l.ProblemsOnly() {
		p.about = append(p.about, text.Say(v.Theme.Info, "problems only"))
	}
	if v.Filter.By.OfEvents() {
		p.about = append(p.about, text.Say(v.Theme.Info, "all: the filter is about events"))
	}
	p.about = append(p.about, v.Filtered()...)
}

// part is which of the pods that are shown are in sight, such as "1-20 of 90 pods", and how many
// there are where a filter hides some.
func (p *pods) part() string {
	shown, all := len(p.View.Pods.Shown), p.View.Pods.Len()
	first, last := p.inSight()
	out := widget.Seen(first, last, shown, "pod")
	if shown < all {
		out += " (" + strconv.Itoa(all) + " in all)"
	}
	return out
}

// inSight returns which of the pods that are shown can be seen, counted from 1.
func (p *pods) inSight() (first, last int) {
	from, to, total := p.Visible()
	if total == 0 {
		return 0, 0
	}
	rows := p.Rows()
	return rows[from-1].n, rows[to-1].n
}

// problems says how many pods have a problem, and which of them are out of sight.
func (p *pods) problems(unseen string) []text.Span {
	t, l := p.View.Theme, p.View.Pods
	if l.Troubled == 0 {
		return nil
	}
	symbol, st := t.Symbols.Warn, t.Warn
	if l.Critical {
		symbol, st = t.Symbols.Bad, t.Bad
	}
	out := symbol + strconv.Itoa(l.Troubled)
	if unseen != "" {
		out += " (" + unseen + ")"
	}
	return []text.Span{text.Say(st, out)}
}

// unseen says how many of the pods with a problem are where; empty if all are in sight.
func (p *pods) unseen() string {
	if p.View.Pods.Troubled == 0 {
		return ""
	}
	first, last := p.inSight()
	above, below, hidden := 0, 0, p.View.Pods.Troubled
	for i, of := range p.View.Pods.Shown {
		if of.Problem == "" {
			continue
		}
		hidden--
		if i < first-1 {
			above++
		} else if i >= last {
			below++
		}
	}
	var out []string
	for _, c := range []struct {
		n     int
		where string
	}{{above, "above"}, {below, "below"}, {hidden, "hidden"}} {
		if c.n > 0 {
			out = append(out, strconv.Itoa(c.n)+" "+c.where)
		}
	}
	return strings.Join(out, ", ")
}
