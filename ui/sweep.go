package ui

import (
	"fmt"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/dialog"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// The outcome of a sweep stays below the header for sweptFor, and in the pane of
// calls for sweptKept: later it says little of the node as it is.
const (
	sweptFor  = 20 * time.Second
	sweptKept = 10 * time.Minute
)

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

// sweepAlert is the line of a sweep: how far it is, or for a while its outcome,
// unless the headline names what it found.
func (m *Model) sweepAlert(b pen) []span {
	w := m.snap.Sweep
	switch {
	case w == nil:
		return nil
	case sweeping(m.snap):
		return []span{{b.Info, sweepProgress(w) + "; " + m.keys(keymap.Sweep) + " cancels"}}
	case m.snap.At.Sub(sweepEnd(w)) >= sweptFor, m.refuted(w):
		return nil
	}
	if first := foremost(w); first != nil && strings.Contains(m.headline.Text, first.Pod.Name) {
		return nil
	}
	return []span{sweepOutcome(b, m.snap)}
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

// sweepKept is the line of the last sweep in the pane of calls; empty if there is
// none to speak of.
func (m *Model) sweepKept(b pen) span {
	switch s := m.snap; {
	case s.Sweep == nil:
	case sweeping(s):
		return span{b.Info, sweepProgress(s.Sweep)}
	case s.At.Sub(sweepEnd(s.Sweep)) < sweptKept && !m.refuted(s.Sweep):
		return sweepOutcome(b, s)
	}
	return span{}
}

// refuted reports whether a sweep found all to be well that is known not to be.
func (m *Model) refuted(w *engine.Sweep) bool {
	return m.headline.Severity > diagnose.Info && w.Refused == "" && len(w.Hung)+len(w.Failed) == 0
}

// sweepEnd returns when a sweep ended, or was refused.
func sweepEnd(w *engine.Sweep) time.Time {
	if w.Ended.After(w.Began) {
		return w.Ended
	}
	return w.Began
}

// sweepProgress says how far a sweep has come.
func sweepProgress(w *engine.Sweep) string {
	return fmt.Sprintf("SWEEP %d/%d, %d hung, %d failed", w.Done, w.Total, len(w.Hung), len(w.Failed))
}

// sweepOutcome says how and when a sweep ended, what it found, and what it did not
// ask for.
func sweepOutcome(b pen, s *engine.Snapshot) span {
	w := s.Sweep
	st, how := sweepLook(b, w)
	out := how + " " + text.AgeCoarse(s.At.Sub(sweepEnd(w))) + " ago: "
	if w.Refused != "" {
		return span{st, out + w.Refused}
	}
	out += fmt.Sprintf("%d of %d asked in %s, %d hung, %d failed", w.Done, w.Total, text.Took(w.Ended.Sub(w.Began)), len(w.Hung), len(w.Failed))
	if n := s.Anomalies.NoID; n > 0 {
		out += fmt.Sprintf(", %d without an id not asked", n)
	}
	switch first := foremost(w); {
	case first != nil && len(w.Hung) > 0:
		out += "; " + flightName(&first.Flight) + " gave no answer in " + text.Took(w.Timeout)
	case first != nil:
		out += "; " + flightName(&first.Flight) + ": " + reason(first.Err)
	case len(w.Slowest) > 0:
		out += "; slowest " + flightName(&w.Slowest[0].Flight) + " " + text.Took(w.Slowest[0].Took)
	}
	return span{st, out}
}

// sweepLook returns how a sweep ended as a look and the first words about it.
func sweepLook(b pen, w *engine.Sweep) (theme.Style, string) {
	switch {
	case w.Refused != "":
		return b.Warn, b.Symbols.Warn + " SWEEP not begun"
	case w.Canceled:
		return b.Warn, b.Symbols.Warn + " SWEEP cancelled"
	case w.GivenUp != "":
		return b.Warn, b.Symbols.Warn + " SWEEP given up, " + w.GivenUp + ","
	case w.CutOff:
		return b.Warn, b.Symbols.Warn + " SWEEP cut off"
	case len(w.Hung)+len(w.Failed) > 0:
		return b.Bad, b.Symbols.Bad + " SWEEP done"
	}
	return b.Good, b.Symbols.Good + " SWEEP done"
}
