package replay

import (
	"cmp"
	"context"
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
	Events  int // since the mark before

	told int // events of the whole film up to here
}

func markOf(u diagnose.Update, told int) Mark {
	return Mark{
		At: u.Snapshot.At.Round(0), Relists: u.Snapshot.Relists.Count, Word: u.Headline.Word, Level: levelOf(u.Headline),
		Events: len(u.Events), told: told,
	}
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

// Scanned returns the marks that there are now, in their order, and whether the scan has ended;
// with why it could go no further, nil if it came to the end. The marks are not to be changed.
func (f *Film) Scanned() (marks []Mark, all bool, damage error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clip(f.marks), f.scanned, f.damage
}

// await returns the marks once there are enough of them, or all.
func (f *Film) await(ctx context.Context, enough func(marks []Mark) bool) ([]Mark, error) {
	defer context.AfterFunc(ctx, f.news.Broadcast)()
	f.mu.Lock()
	defer f.mu.Unlock()
	for !f.scanned && ctx.Err() == nil && !enough(f.marks) {
		f.news.Wait()
	}
	if len(f.marks) == 0 && ctx.Err() == nil {
		return nil, cmp.Or(f.damage, errEmpty)
	}
	return slices.Clip(f.marks), context.Cause(ctx)
}

// covers reports whether the marks go beyond a moment.
func covers(marks []Mark, at time.Time) bool {
	return len(marks) > 0 && marks[len(marks)-1].At.After(at)
}

// placeOf returns the place of the last mark up to a moment; the first if none is.
func placeOf(marks []Mark, at time.Time) int {
	for i := len(marks) - 1; i > 0; i-- { // the clock may have been set back
		if !marks[i].At.After(at) {
			return i
		}
	}
	return 0
}

// relist returns the place where a relist had just ended: as many before a mark as by is less
// than 0, or after it. Where there are fewer it is the first or the last mark, and there is none.
func relist(marks []Mark, from, by int) (to int, ok bool) {
	way := 1
	if by < 0 {
		way, by = -1, -by
	}
	for i := from + way; by > 0; i += way {
		if i < 0 || i >= len(marks) {
			return i - way, false
		}
		if i > 0 && marks[i].Relists != marks[i-1].Relists {
			by--
		}
		to = i
	}
	return to, true
}
