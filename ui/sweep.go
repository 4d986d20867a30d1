package ui

import (
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/dialog"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// sweptFor is how long the outcome of a sweep stays below the header. The calls
// pane keeps it.
const sweptFor = 20 * time.Second

// sweep begins a sweep, after a question if that means many calls, or cancels
// the one under way.
func (m *Model) sweep() {
	switch {
	case m.cancelSweep():
	case len(m.latest.Pods) > many:
		c := m.latest.Counts
		m.open.confirm = &dialog.Confirm{Question: fmt.Sprintf("Ask for every one of %d sandboxes and %d containers, 4 at a time?", c.Sandboxes, c.Containers)}
	default:
		m.beginSweep()
	}
}

func (m *Model) beginSweep() {
	m.cfg.Controls.Sweep()
	m.say("sweep: asking for every sandbox and container, 4 at a time; " + m.keys(keymap.Sweep) + " cancels")
}

// cancelSweep cancels the sweep under way, and reports whether there was one.
func (m *Model) cancelSweep() bool {
	if !sweeping(m.latest) {
		return false
	}
	m.cfg.Controls.CancelSweep()
	m.say("sweep cancelled")
	return true
}

// withSweep puts the line of a sweep among the alerts: below the worst one. What
// findings tell of its outcome is not told again, and nothing of one that the
// engine made by itself: the pane of calls has it all.
func (m *Model) withSweep(b brush, all []fact) []fact {
	s, w := m.snap, m.snap.Sweep
	switch {
	case w == nil:
		return all
	case sweeping(s):
		return slices.Insert(all, min(1, len(all)), fact{b.Info, sweepProgress(w) + "; " + m.keys(keymap.Sweep) + " cancels"})
	case s.At.Sub(later(w.Began, w.Ended)) >= sweptFor:
		return all
	}
	names := sweepNames(w)
	if first := foremost(w); first != nil && told(m.findings.all, &first.Flight) {
		if w.Width == 1 {
			return all
		}
		names = ""
	}
	out := sweepOutcome(b, w)
	out.text += names
	return slices.Insert(all, min(1, len(all)), out)
}

// foremost returns the object that a sweep found to be the most in need of a look;
// nil if all is well.
func foremost(w *engine.Sweep) *engine.Swept {
	switch {
	case len(w.Hung) > 0:
		return &w.Hung[0]
	case len(w.Failed) > 0:
		return &w.Failed[0]
	}
	return nil
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// sweepProgress says how far a sweep has come.
func sweepProgress(w *engine.Sweep) string {
	return fmt.Sprintf("SWEEP %d/%d, %d hung, %d failed", w.Done, w.Total, len(w.Hung), len(w.Failed))
}

// sweepOutcome says how many of the objects of a sweep were found to be well;
// [sweepNames] which were not.
func sweepOutcome(b brush, w *engine.Sweep) fact {
	st, out := sweepLook(b, w)
	if w.Refused != "" {
		return fact{st, out + w.Refused}
	}
	out += fmt.Sprintf("%d of %d asked in %s, %d hung, %d failed", w.Done, w.Total, text.Took(w.Ended.Sub(w.Began)), len(w.Hung), len(w.Failed))
	return fact{st, out}
}

func sweepNames(w *engine.Sweep) string {
	switch {
	case w.Refused != "":
	case len(w.Hung) > 0:
		return "; " + flightName(&w.Hung[0].Flight) + " gave no answer in " + text.Took(w.Timeout)
	case len(w.Failed) > 0:
		return "; " + flightName(&w.Failed[0].Flight) + ": " + reason(w.Failed[0].Err)
	case len(w.Slowest) > 0:
		return "; slowest " + flightName(&w.Slowest[0].Flight) + " " + text.Took(w.Slowest[0].Took)
	}
	return ""
}

// sweepLook returns how a sweep ended as a look and the first words about it.
func sweepLook(b brush, w *engine.Sweep) (theme.Style, string) {
	switch {
	case w.Refused != "":
		return b.Warn, b.Symbols.Warn + " SWEEP not begun: "
	case w.Canceled:
		return b.Warn, b.Symbols.Warn + " SWEEP cancelled: "
	case w.GivenUp != "":
		return b.Warn, b.Symbols.Warn + " SWEEP given up, " + w.GivenUp + ": "
	case w.CutOff:
		return b.Warn, b.Symbols.Warn + " SWEEP cut off: "
	case len(w.Hung)+len(w.Failed) > 0:
		return b.Bad, b.Symbols.Bad + " SWEEP done: "
	}
	return b.Good, b.Symbols.Good + " SWEEP done: "
}
