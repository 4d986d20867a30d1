package diagnose

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
)

// wordFor is how long a headline keeps its word if the next one is calmer: two faults that come and go by turns do
// not flicker, and neither does a call that fails now and then.
const wordFor = 15 * time.Second

// A steadyHeadline keeps the word of a headline. The zero value keeps none.
type steadyHeadline struct {
	Headline
	since time.Time
	first string    // the first word of the trouble that is, or was last
	from  time.Time // when that was shown
	worst string    // the worst word of it
	by    ID        // of the finding behind that; empty for none
	until time.Time // when the trouble was last shown
	down  time.Time // when NotReady was first posted in it; zero for never
}

// next returns the headline to show, if h is what holds now and relists failed until a moment, if any did. What gets
// worse, and what is critical, is shown at once, and so is the end of anything but a risk. A word that is kept says
// that it is over.
func (s *steadyHeadline) next(h Headline, held []Finding, at, failed time.Time) Headline {
	calmer := wordRank(h.Word) < wordRank(s.Word) || h.Word == s.Word && h.about != s.about
	if ruleOf(s.about).Turns && calmer && slices.ContainsFunc(held, func(o Finding) bool { return o.ID == s.about }) {
		h.Word, h.Severity, h.Text, h.about, h.ofPart = s.Word, s.Severity, s.Text, s.about, s.ofPart // it may be good by turns
		s.until = at
		return h
	}
	calmer = h.Severity == Warning && wordRank(h.Word) < wordRank(s.Word) || h.Sound() && s.Word == AtRisk
	if s.Severity == Warning && calmer && at.Sub(s.since) < wordFor {
		h.Text = "until a moment ago; now " + h.Word + ": " + h.Text
		h.Word, h.Severity, h.about = s.Word, Warning, s.about
		return h
	}
	if h.Word != s.Word {
		s.since = at
	}
	if h.isTrouble() && !s.isTrouble() {
		s.first, s.from, s.worst, s.by, s.down = h.Word, at, h.Word, "", time.Time{}
	}
	s.Headline = h
	if h.isTrouble() {
		s.note(h, held, at)
		return h
	}
	return s.recovered(h, at, failed)
}

// isTrouble reports whether a headline is about trouble: one call that was late is no news.
func (h Headline) isTrouble() bool {
	return wordRank(h.Word) >= wordRank(Slow) || h.Word == Degraded && h.Severity == Critical
}

// note keeps of trouble what is said when it is over.
func (s *steadyHeadline) note(h Headline, held []Finding, at time.Time) {
	s.until = at
	if h.Node == NodeNotReady && s.down.IsZero() {
		s.down = at
	}
	if wordRank(h.Word) < wordRank(s.worst) {
		return
	}
	s.worst = h.Word
	if s.by = cmp.Or(h.about, s.by); len(held) > 0 && held[0].Severity == Critical {
		s.by = held[0].ID
	}
}

// recovered makes the headline of a node that stays Ready say for a minute what was wrong until when: people come
// because of it.
func (s *steadyHeadline) recovered(h Headline, at, failed time.Time) Headline {
	lately := func(t time.Time) bool { return at.Sub(t) <= answers.FlakyFor }
	switch {
	case !h.Sound() && h.Word != Degraded:
		return h
	case lately(s.until):
		h.parts.was = s.trouble(at)
	case lately(failed):
		h.parts.was = "relists failed until " + clock(failed, at)
	default:
		return h
	}
	if h.parts.ready == staysReady { // it was not Ready all the time
		h.parts.ready = readyNow
	}
	h.Text = h.text()
	return h
}

// trouble says how the last trouble began, how bad it became, and when it was: people who come later ask whether
// NotReady was posted.
func (s *steadyHeadline) trouble(now time.Time) string {
	words := s.worst + " "
	if s.first != s.worst {
		words = s.first + ", then " + s.worst + ", "
	}
	was := "was " + words + clock(s.from, now) + " to " + clock(s.until, now)
	if !s.down.IsZero() && s.worst != NotReady {
		was += ", NotReady from " + clock(s.down, now)
	}
	if s.by != "" && !strings.EqualFold(strings.ReplaceAll(string(s.by), "-", " "), s.worst) {
		was += " (" + string(s.by) + ")"
	}
	return was
}

// failedUntil returns when the last relist ended that failed; zero if none did.
func (f *Facts) failedUntil() time.Time {
	for _, r := range slices.Backward(f.Relists.History) {
		if r.Failed {
			return r.At.Add(r.Took)
		}
	}
	return time.Time{}
}
