package say

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// SeverityLook returns how a severity is shown, never by colour alone. Its word is the
// severity's own.
func SeverityLook(t *theme.Theme, s diagnose.Severity) (symbol string, st theme.Style) {
	switch s {
	case diagnose.Critical:
		return t.Symbols.Bad, t.Bad
	case diagnose.Warning:
		return t.Symbols.Warn, t.Warn
	}
	return t.Symbols.Bullet, t.Info
}

// Summary returns the summary of f without the words of its id, for where that
// stands before it.
func Summary(f *diagnose.Finding) string {
	return strings.TrimPrefix(f.Summary, strings.ReplaceAll(string(f.ID), "-", " ")+": ")
}

// Subject names what a finding is about, in the parts that a person looks for;
// empty if that is nothing in particular.
func Subject(s diagnose.Subject) string { return Words(s.Operation, s.Path()) }

// Words joins those of all that are not empty with a space.
func Words(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(w string) bool { return w == "" }), " ")
}

// A FindingRow is a finding in its place below the one that explains it.
type FindingRow struct {
	*diagnose.Finding
	Effect bool // of the one above; else it is a cause
}

// FindingTree returns each of all once, below the one that explains it and otherwise as
// they were diagnosed. What several of a kind explain comes below the last of
// them. The rows point into all.
func FindingTree(all []diagnose.Finding) []FindingRow {
	rows := make([]FindingRow, 0, len(all))
	explains := func(id diagnose.ID, some []diagnose.Finding) bool {
		return slices.ContainsFunc(some, func(c diagnose.Finding) bool { return c.ID == id && c.Cause == "" })
	}
	for i := range all {
		f := &all[i]
		if f.Cause != "" && explains(f.Cause, all) {
			continue
		}
		if rows = append(rows, FindingRow{f, false}); f.Cause != "" || explains(f.ID, all[i+1:]) {
			continue
		}
		for j := range all {
			if all[j].Cause == f.ID {
				rows = append(rows, FindingRow{&all[j], true})
			}
		}
	}
	return rows
}

const (
	deepest = 3 // cells from one link to the next, and of what joins them
	leaning = 4 // the part of the width that all of those from one to the next may take
)

// Chain draws a chain as a tree, each link below the one that waits for it, for w cells;
// 0 for as many as it takes. One link alone waits for nothing, and is not drawn. A link that is only likely is joined by a broken line and
// says so. What proves a link stands beside it where there is room for both, else below. The last
// span of each line may be broken; those before it have places of their own.
func Chain(t *theme.Theme, chain []diagnose.Link, w int) [][]text.Span {
	if len(chain) < 2 {
		return nil
	}
	deeper := deepest
	if w > 0 {
		deeper = max(1, min(deepest, w/leaning/len(chain)))
	}
	var all [][]text.Span
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
// first. Where it is to be cut a mark says so; with what is told elsewhere.
func link(t *theme.Theme, l diagnose.Link, indent, w int) [][]text.Span {
	name, before, below := text.Say(t.Text, named(l)), []text.Span(nil), []text.Span(nil)
	if indent >= 0 {
		before = joint(t, l, indent)
		below = []text.Span{{Width: indent + deepest}}
	}
	if l.Kind == waits.Container || l.Kind == waits.Helper || l.Cut != nil {
		name.Style = t.Strong
	}
	lines := [][]text.Span{append(before, name)}
	if l.Cut != nil {
		mark, st := t.Symbols.Mark, t.Strong
		if l.Cut.Risky() {
			mark, st = t.Symbols.Risk, t.Warn
		}
		lines = beside(lines, below, text.Say(st, mark+" act here"), w)
	}
	if l.Proof != "" {
		lines = beside(lines, below, text.Say(t.Dim, t.Symbols.Bullet+" "+strings.TrimLeft(strings.TrimPrefix(l.Proof, l.Name), ": ")), w)
	}
	return lines
}

// beside adds a text after the last line where there is room for both, else below it.
func beside(lines [][]text.Span, below []text.Span, s text.Span, w int) [][]text.Span {
	last := lines[len(lines)-1]
	end, used := len(last)-1, text.Width(s.Text)
	own := text.Width(last[end].Text) + 1
	for _, before := range last[:end] {
		used += before.Width
	}
	if w > 0 && used+own > w {
		return append(lines, append(slices.Clip(below), s))
	}
	last[end].Width = own
	lines[len(lines)-1] = append(last, s)
	return lines
}

// joint draws what joins a link to the one before.
func joint(t *theme.Theme, l diagnose.Link, indent int) []text.Span {
	if l.Proof == "" {
		return []text.Span{{Width: indent}, text.Say(t.Warn, t.Symbols.Last+t.Symbols.Made).In(deepest), text.Say(t.Warn, "likely").In(len("likely "))}
	}
	return []text.Span{{Width: indent}, text.Say(t.Border, t.Symbols.Last+t.Symbols.Horizontal).In(deepest)}
}

// Cuts returns the links at which a chain is to be cut.
func Cuts(chain []diagnose.Link) []diagnose.Link {
	return slices.DeleteFunc(slices.Clone(chain), func(l diagnose.Link) bool { return l.Cut == nil })
}

// named names a link, with what it is looked up by where its name has that not.
func named(l diagnose.Link) string {
	name, id := cmp.Or(l.Name, string(l.Kind)), pleg.ShortID(l.ID)
	switch {
	case id == "" || strings.Contains(name, id):
		return name
	case l.Kind == waits.Container:
		return name + ", id " + id
	case l.Kind == waits.Shim || l.Kind == waits.Helper || l.Kind == waits.Process:
		return name + ", pid " + id
	}
	return name
}

// Step says what a step is for, and how that is shown.
func Step(t *theme.Theme, s diagnose.Step) (string, theme.Style) {
	if s.Risky() {
		return s.Says() + " " + t.Symbols.Risk + " RISK: " + s.Risk, t.Warn
	}
	return s.Says(), t.Text
}
