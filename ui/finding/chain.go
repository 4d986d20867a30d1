package finding

import (
	"cmp"
	"strings"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// A Part is some lines of a chain: a text that may be broken, and what stands before
// the first of them, each in a place of its own.
type Part struct {
	Before []text.Span
	text.Span
	Command bool // the text is one, which cuts the chain
}

// Indent returns how many cells there are before the text.
func (p Part) Indent() (n int) {
	for _, s := range p.Before {
		n += s.Width
	}
	return n
}

const (
	deepest = 3 // cells from one link to the next, and of what joins them
	leaning = 4 // the part of the width that all of those from one to the next may take
)

// Chain draws a chain as a tree, each link below the one that waits for it, for w cells;
// 0 for as many as it takes. A link that is only likely is joined by a broken line and
// says so. What proves a link stands beside it where there is room for both, else below.
func Chain(t *theme.Theme, chain []diagnose.Link, w int) []Part {
	deeper := deepest
	if w > 0 && len(chain) > 0 {
		deeper = max(1, min(deepest, w/leaning/len(chain)))
	}
	var all []Part
	for i, l := range chain {
		indent := (i - 1) * deeper
		if w > 0 {
			indent = min(indent, w/leaning)
		}
		all = append(all, link(t, l, indent, w)...)
	}
	return all
}

// link draws one link, joined to the one before so many cells in; -1 or less for the
// first.
func link(t *theme.Theme, l diagnose.Link, indent, w int) []Part {
	head, below := Part{Span: text.Say(t.Text, linked(l))}, []text.Span(nil)
	if indent >= 0 {
		head.Before = joint(t, l, indent)
		below = []text.Span{{Width: indent + deepest}}
	}
	if l.Kind == diagnose.LinkContainer || l.Kind == diagnose.LinkErrand || l.Cut != nil {
		head.Style = t.Strong
	}
	parts := []Part{head}
	if l.Proof != "" {
		proof := text.Say(t.Dim, t.Symbols.Bullet+" "+strings.TrimPrefix(l.Proof, l.Name+" "))
		if used := head.Indent() + text.Width(head.Text) + 1; w == 0 || used+text.Width(proof.Text) <= w {
			parts[0] = Part{Before: append(head.Before, head.In(text.Width(head.Text)+1)), Span: proof}
		} else {
			parts = append(parts, Part{Before: below, Span: proof})
		}
	}
	if l.Cut != nil {
		said, st := Step(t, *l.Cut, "cut here")
		parts = append(parts, Part{Before: below, Span: text.Say(st, said)})
		if l.Cut.Command != "" {
			parts = append(parts, Part{below, text.Say(t.Key, l.Cut.Command), true})
		}
	}
	return parts
}

// joint draws what joins a link to the one before.
func joint(t *theme.Theme, l diagnose.Link, indent int) []text.Span {
	if l.Proof == "" {
		return []text.Span{{Width: indent}, text.Say(t.Warn, t.Symbols.Last+t.Symbols.Made).In(deepest), text.Say(t.Warn, "likely").In(len("likely "))}
	}
	return []text.Span{{Width: indent}, text.Say(t.Border, t.Symbols.Last+t.Symbols.Horizontal).In(deepest)}
}

// Cuts returns the steps that cut a chain.
func Cuts(chain []diagnose.Link) (all []diagnose.Step) {
	for _, l := range chain {
		if l.Cut != nil {
			all = append(all, *l.Cut)
		}
	}
	return all
}

// LastProven returns the last link of a chain that is joined to the first by what is
// proven; the zero Link for no chain.
func LastProven(chain []diagnose.Link) (last diagnose.Link) {
	for i, l := range chain {
		if i > 0 && l.Proof == "" {
			break
		}
		last = l
	}
	return last
}

// linked names a link, with what it is looked up by where its name has that not.
func linked(l diagnose.Link) string {
	name, id := cmp.Or(l.Name, l.Kind), text.ShortID(l.ID)
	switch {
	case id == "" || strings.Contains(name, id):
		return name
	case l.Kind == diagnose.LinkContainer:
		return name + ", id " + id
	case l.Kind == diagnose.LinkShim || l.Kind == diagnose.LinkErrand || l.Kind == diagnose.LinkProcess:
		return name + ", pid " + id
	}
	return name
}

// Step says what a step is for, after a word that may be empty, and how that is shown.
func Step(t *theme.Theme, s diagnose.Step, word string) (string, theme.Style) {
	switch {
	case s.Risky:
		return t.Symbols.Warn + " " + cmp.Or(word, "risky") + ", changes the node: " + s.Text, t.Warn
	case word != "":
		return t.Symbols.Mark + " " + word + ": " + s.Text, t.Strong
	}
	return s.Text, t.Text
}
