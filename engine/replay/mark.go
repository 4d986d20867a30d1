package replay

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
)

// A Level is how bad a moment was for the node, as the screen colours its headline.
type Level uint8

// The levels, the worst last.
const (
	Unknown  Level = iota // not recorded, not judged yet, or paused
	Sound                 // nothing was wrong
	Warning               // something was, and the node stayed Ready
	Critical              // it was NotReady, or about to be
)

// A Mark is what a [Film] knows of one moment that was shown.
type Mark struct {
	At      time.Time // by the clock on the wall
	Relists uint64    // that had ended in this run
	Word    string    // of the headline
	Level   Level
	Problem bool // a finding of warning or worse began
	Ended   bool // a finding ended
	Events  int  // since the mark before

	told int // events of the whole film up to here
}

func markOf(u diagnose.Update, told int) Mark {
	m := Mark{
		At: u.Snapshot.At.Round(0), Relists: u.Snapshot.Relists.Count, Word: u.Headline.Word, Level: levelOf(u.Headline),
		Events: len(u.Events), told: told,
	}
	for _, t := range u.Turns {
		m.Problem = m.Problem || t.Kind == diagnose.Began && t.Finding.Severity >= diagnose.Warning
		m.Ended = m.Ended || t.Kind == diagnose.Over
	}
	return m
}

func levelOf(h diagnose.Headline) Level {
	switch {
	case h.Sound():
		return Sound
	case h.Severity >= diagnose.Critical:
		return Critical
	case h.Severity >= diagnose.Warning:
		return Warning
	}
	return Unknown
}

// Scanned returns how many marks there are, up to when the scan has come, and whether that is
// the end; with why it could go no further, nil if nothing is wrong.
func (f *Film) Scanned() (marks int, upTo time.Time, all bool, damage error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if marks = len(f.marks); marks > 0 {
		upTo = f.marks[marks-1].At
	}
	return marks, upTo, f.scanned, f.damage
}

// Marks returns the marks that there are now, in their order. They are not to be changed.
func (f *Film) Marks() []Mark {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clip(f.marks)
}

// At returns the place of the last mark up to a moment; the first if none is.
func At(marks []Mark, at time.Time) int {
	for i := len(marks) - 1; i > 0; i-- { // the clock may have been set back
		if !marks[i].At.After(at) {
			return i
		}
	}
	return 0
}

// Relist returns the place of the end of a relist: that before a mark where by is less than 0, as
// many as that; else after it. Where there are fewer it is the first or the last mark.
func Relist(marks []Mark, from, by int) int {
	return step(marks, from, by, func(i int) bool { return i > 0 && marks[i].Relists != marks[i-1].Relists })
}

// Problem returns the place where a problem began: the next one before a mark, or after it; and
// false where there is none.
func Problem(marks []Mark, from, by int) (int, bool) {
	to := step(marks, from, by, func(i int) bool { return marks[i].Problem })
	return to, len(marks) > 0 && marks[to].Problem && to != from
}

// step goes from mark to mark until it has come to so many that are it.
func step(marks []Mark, from, by int, is func(i int) bool) int {
	way := 1
	if by < 0 {
		way, by = -1, -by
	}
	i := from
	for by > 0 && i+way >= 0 && i+way < len(marks) {
		if i += way; is(i) {
			by--
		}
	}
	return i
}
