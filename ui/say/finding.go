package say

import (
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine/diagnose"
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

// Worst returns the highest severity among all, Info for none.
func Worst(all []diagnose.Finding) diagnose.Severity {
	worst := diagnose.Info
	for i := range all {
		worst = max(worst, all[i].Severity)
	}
	return worst
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
	Depth int // 0 for a cause, 1 for its effect, and so on
}

// FindingTree returns each of all once, below the one that explains it and otherwise as
// they were diagnosed. What several of a kind explain comes below the last of
// them. The rows point into all.
func FindingTree(all []diagnose.Finding) []FindingRow {
	t := tree{all: all, placed: make([]bool, len(all)), rows: make([]FindingRow, 0, len(all))}
	for i := range all {
		if diagnose.CauseOf(all, &all[i]) < 0 {
			t.place(i, 0)
		}
	}
	for i := range all { // findings that explain each other
		t.place(i, 0)
	}
	return t.rows
}

type tree struct {
	all    []diagnose.Finding
	placed []bool
	rows   []FindingRow
}

func (t *tree) place(i, depth int) {
	if t.placed[i] {
		return
	}
	t.placed[i] = true
	f := &t.all[i]
	t.rows = append(t.rows, FindingRow{f, depth})
	for j := range t.all {
		if o := &t.all[j]; !t.placed[j] && o.ID == f.ID && o.Cause == f.Cause {
			return
		}
	}
	for j := range t.all {
		if t.all[j].Cause == f.ID {
			t.place(j, depth+1)
		}
	}
}
