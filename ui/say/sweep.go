package say

import (
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// Sweeping reports whether a sweep is under way.
func Sweeping(s *engine.Snapshot) bool {
	return s.Sweep != nil && s.Sweep.Refused == "" && s.Sweep.Ended.IsZero()
}

// SweepProgress says how far a sweep has come.
func SweepProgress(w *answers.Sweep) string {
	return fmt.Sprintf("CHECK ALL %d/%d, %d hung, %d failed", w.Done, w.Total, len(w.Hung), len(w.Failed))
}

// Swept says how and when the last sweep ended, what it found, and what it did not ask
// for. It is empty while none is over, when that is longer ago than kept, and where the
// sweep found all to be well that the headline knows not to be.
func Swept(t *theme.Theme, s *engine.Snapshot, h diagnose.Headline, kept time.Duration) text.Span {
	w := s.Sweep
	refuted := func() bool { return h.Severity > diagnose.Info && w.Refused == "" && len(w.Hung)+len(w.Failed) == 0 }
	if w == nil || Sweeping(s) || s.At.Sub(sweepEnd(w)) >= kept || refuted() {
		return text.Span{}
	}
	st, how := sweepLook(t, w)
	out := how + " " + text.AgeCoarse(s.At.Sub(sweepEnd(w))) + " ago: "
	if w.Refused != "" {
		return text.Say(st, out+w.Refused)
	}
	out += fmt.Sprintf("%d of %d asked in %s, %d hung, %d failed", w.Done, w.Total, text.Took(w.Ended.Sub(w.Began)), len(w.Hung), len(w.Failed))
	if n := s.Anomalies.NoID; n > 0 {
		out += fmt.Sprintf(", %d without an id not asked", n)
	}
	switch first := Foremost(w); {
	case first != nil && len(w.Hung) > 0:
		out += "; " + Flight(&first.Flight) + " gave no answer in " + text.Took(w.Timeout)
	case first != nil:
		out += "; " + Flight(&first.Flight) + ": " + Reason(first.Err)
	case len(w.Slowest) > 0:
		out += "; slowest " + Flight(&w.Slowest[0].Flight) + " " + text.Took(w.Slowest[0].Took)
	}
	return text.Say(st, out)
}

// Foremost returns the object that a sweep found to be the most in need of a look;
// nil if all is well.
func Foremost(w *answers.Sweep) *answers.Outcome {
	switch {
	case len(w.Hung) > 0:
		return &w.Hung[0]
	case len(w.Failed) > 0:
		return &w.Failed[0]
	}
	return nil
}

// sweepEnd returns when a sweep ended, or was refused.
func sweepEnd(w *answers.Sweep) time.Time {
	return theme.When(w.Ended.After(w.Began), w.Ended, w.Began)
}

// sweepLook returns how a sweep ended as a look and the first words about it.
func sweepLook(t *theme.Theme, w *answers.Sweep) (theme.Style, string) {
	switch {
	case w.Refused != "":
		return t.Warn, t.Symbols.Warn + " CHECK ALL not begun"
	case w.Canceled:
		return t.Warn, t.Symbols.Warn + " CHECK ALL cancelled"
	case w.GivenUp != "":
		return t.Warn, t.Symbols.Warn + " CHECK ALL given up, " + w.GivenUp + ","
	case w.CutOff:
		return t.Warn, t.Symbols.Warn + " CHECK ALL cut off"
	case len(w.Hung)+len(w.Failed) > 0:
		return t.Bad, t.Symbols.Bad + " CHECK ALL done"
	}
	return t.Good, t.Symbols.Good + " CHECK ALL done"
}
