package ui

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/finding"
)

// A findingRow is one finding in the pane, below the one that explains it, or one
// that ended lately, below all others.
type findingRow struct {
	finding.Row
	ended *diagnose.Ended // nil while it holds
}

// A findingPlace is what the cursor stands on.
type findingPlace struct {
	key   diagnose.Key
	ended time.Time // zero while it holds
}

func (r findingRow) place() findingPlace {
	if r.ended != nil {
		return findingPlace{r.Key(), r.ended.End}
	}
	return findingPlace{key: r.Key()}
}

// findings is the pane of findings: one row each, of as many lines as its
// summary takes. The cursor counts rows, what is visible counts lines.
type findings struct {
	all   []diagnose.Finding // as they were diagnosed
	past  []diagnose.Ended
	rows  []findingRow
	lines []findingLine
	first []int // of each row, its first line

	cursor, top   int
	width, height int
	at            findingPlace // under the cursor
	since         time.Time    // when the texts that are shown were taken over
	broken        brokenTexts
}

// textsKept is for how long the texts of findings stay as they are while the
// findings are the same: the figures in them change with every snapshot.
const textsKept = time.Second

// observe takes over what was found by b's time. The cursor stays on its finding
// while a person looks at it, and on its row if that finding has gone; while
// nobody looks it is on the worst. With namespaces chosen it is shown what concerns
// these, or the node.
func (f *findings) observe(b pen, u diagnose.Update, namespaces []string, looked bool) {
	all := diagnose.OnlyIn(u.Findings, namespaces)
	past := slices.DeleteFunc(slices.Clone(u.Ended), func(e diagnose.Ended) bool { return !e.Finding.In(namespaces) })
	if age := b.at.Sub(f.since); age > 0 && age < textsKept && slices.EqualFunc(f.all, all, alike) && newest(f.past).Equal(newest(past)) {
		return
	}
	f.all, f.past, f.rows, f.since = all, past, f.rows[:0:0], b.at
	for _, r := range finding.Tree(all) {
		f.rows = append(f.rows, findingRow{r, nil})
	}
	for i := range f.past {
		f.rows = append(f.rows, findingRow{finding.Row{Finding: &f.past[i].Finding}, &f.past[i]})
	}
	f.broken.ellipsis = b.Symbols.Ellipsis
	if i := slices.IndexFunc(f.rows, func(r findingRow) bool { return r.place() == f.at }); !looked {
		f.cursor = 0
	} else if i >= 0 {
		f.cursor = i
	}
	f.lay(f.width)
	f.keepCursor()
}

// newest returns when the last of all ended.
func newest(all []diagnose.Ended) time.Time {
	if len(all) == 0 {
		return time.Time{}
	}
	return all[0].End
}

// alike reports whether two findings differ at most in their texts.
func alike(a, b diagnose.Finding) bool {
	return a.Key() == b.Key() && a.Severity == b.Severity && a.Cause == b.Cause
}

// current returns the row under the cursor; it is of no finding if there is none.
func (f *findings) current() findingRow {
	if f.cursor < 0 || f.cursor >= len(f.rows) {
		return findingRow{}
	}
	return f.rows[f.cursor]
}

// resize gives the pane w cells and h lines below its heads.
func (f *findings) resize(w, h int) {
	f.height = max(h, 1)
	if w != f.width {
		f.lay(w)
	}
	f.keepCursor()
}

// keepCursor keeps the cursor among the rows, and its row visible.
func (f *findings) keepCursor() {
	f.cursor = max(0, min(f.cursor, len(f.rows)-1))
	if now := f.current(); now.Finding != nil {
		f.at = now.place()
		first, end := f.first[f.cursor], len(f.lines)
		if f.cursor+1 < len(f.first) {
			end = f.first[f.cursor+1]
		}
		f.top = min(max(f.top, end-f.height), first)
	}
	f.top = max(0, min(f.top, len(f.lines)-f.height))
}

// move does what a moving key asks for.
func (f *findings) move(a keymap.Action) bool {
	s := scroll{cursor: f.cursor, height: max(1, f.height/3)}
	if !s.move(a, len(f.rows)) {
		return false
	}
	f.cursor = s.cursor
	f.keepCursor()
	return true
}

// need is how many lines the pane can make use of, with its title.
func (f *findings) need() int { return max(2, len(f.lines)+2) }

// count returns how many findings there are of one severity.
func (f *findings) count(s diagnose.Severity) int {
	n := 0
	for i := range f.all {
		if f.all[i].Severity == s {
			n++
		}
	}
	return n
}

// safeCommand returns the command of the first step that is safe to take and has
// one; empty if there is none.
func safeCommand(f *diagnose.Finding) string {
	for _, s := range f.Next {
		if s.Command != "" && !s.Risky {
			return s.Command
		}
	}
	return ""
}
