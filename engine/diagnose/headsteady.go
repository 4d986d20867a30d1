package diagnose

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
)

// wordFor is how long a headline keeps its word if the next one is calmer. So it does not flicker when two faults come
// and go in turn, or when a call fails now and then.
const wordFor = 15 * time.Second

// A steadyHeadline keeps the word of a headline. The zero value keeps none.
type steadyHeadline struct {
	Headline
	since time.Time
	first string    // the first word of the current trouble, or of the last one
	from  time.Time // when that word was shown first
	worst string    // the worst word of that trouble
	by    ID        // ID of the finding behind the worst word; empty for none
	until time.Time // when the trouble was last shown
	down  time.Time // when NotReady was first posted during the trouble; zero for never
}

// next returns the headline to show. h is the headline that holds now; failed is when the last failed relist ended,
// zero if none failed. Anything worse, and anything critical, is shown at once. The end of a trouble is shown at once
// too, except the end of a risk. While a word is kept, the text says that it is over.
func (s *steadyHeadline) next(h Headline, held []Finding, at, failed time.Time) Headline {
	calmer := wordRank(h.Word) < wordRank(s.Word) || h.Word == s.Word && h.about != s.about
	if ruleOf(s.about).Turns && calmer && slices.ContainsFunc(held, func(o Finding) bool { return o.ID == s.about }) {
		h.Word, h.Severity, h.Text, h.about, h.ofPart = s.Word, s.Severity, s.Text, s.about, s.ofPart // the trouble may be absent from one answer and back in the next
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

// isTrouble reports whether a headline is about trouble. One call that was late is no trouble.
func (h Headline) isTrouble() bool {
	return wordRank(h.Word) >= wordRank(Slow) || h.Word == Degraded && h.Severity == Critical
}

// note remembers what recovered will say about a trouble when it is over.
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

// recovered adds to the headline of a node that stays Ready, for a minute, what was wrong and until when: people look
// because of that trouble.
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
	if h.parts.ready == staysReady { // the node was not Ready all the time
		h.parts.ready = readyNow
	}
	h.Text = h.text()
	return h
}

// trouble returns in words how the last trouble began, how bad it became, and when it was. People who look later ask
// whether NotReady was posted.
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

// failedUntil returns when the last failed relist ended; zero if none failed.
func (f *Facts) failedUntil() time.Time {
	for _, r := range slices.Backward(f.Relists.History) {
		if r.Failed {
			return r.At.Add(r.Took)
		}
	}
	return time.Time{}
}
