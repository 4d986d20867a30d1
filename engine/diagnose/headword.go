package diagnose

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
)

// A HeadWord is a word of a [Headline]: a contract of all views, also of the JSON.
type HeadWord struct {
	Word    string
	Meaning string
}

// HeadWords returns all words that a headline can begin with, the calmest first.
func HeadWords() []HeadWord { return headWords }

var headWords = []HeadWord{
	{healthyWord, "nothing is wrong: the runtime answers, lists are fresh, PLEG is healthy"},
	{"STARTING", "plegtop waits for the first list"},
	{"PAUSED", "the relist is paused: the node is not judged"},
	{degradedWord, "the node stays Ready, and something on it is wrong"},
	{"NOT ALL SEEN", "of check, or of lists with entries without an id: not every object was asked for"},
	{"NO LIST", "of check: no list was answered in time"},
	{"SLOW?", "one call is late"},
	{"SLOW", "all calls, or those of the relist, are slow"},
	{"AT RISK", "the node is Ready, and will not be if this goes on"},
	{socketLostWord, "the runtime's socket is gone: only connections that are open already work"},
	{"INSPECTION HANGS", "the status call of one pod hangs: no relist ends before its deadline, and events are late"},
	{"LISTS HANG", "a list call hangs: PLEG becomes unhealthy"},
	{"LISTS FAIL", "a list call fails each time: PLEG becomes unhealthy"},
	{"STATUS HANGS", "the runtime's Status hangs: the node becomes NotReady"},
	{"STATUS FAILS", "the runtime's Status fails: the node becomes NotReady"},
	{"NOT ANSWERING", "the runtime is there and answers nothing"},
	{"RUNTIME DOWN", "nobody answers at the runtime's socket"},
	{"LOOP STOPPED", "the kubelet starts and stops no pod, and has not posted NotReady yet"},
	{"UNHEALTHY", "the kubelet calls its PLEG unhealthy"},
	{notReadyWord, "the kubelet has posted NotReady"},
	{"KUBELET GONE", "the node had a kubelet, and it is not there"},
	{"KUBELET STUCK", "the kubelet is there and does nothing"},
}

// What a headline says of the node's Ready condition.
const (
	NodeReadyNow   = "ready"        // it is Ready, and nothing says that it will not be
	NodeNotReadyIn = "not ready in" // it is Ready, and will not be when the clock has run out
	NodeNotReady   = "not ready"    // NotReady is posted
)

// nodeWord returns what a headline with that clock says of the node's Ready condition; empty
// while that is not known.
func (v *view) nodeWord(c Clock) string {
	switch {
	case v.Paused || !v.Node.Known || v.Policy.Bounds().Starting:
		return ""
	case !v.Node.Ready:
		return NodeNotReady
	case c.What == "PLEG unhealthy" || c.What == "NotReady":
		return NodeNotReadyIn
	}
	return NodeReadyNow
}

// rankOf is the place of a word in the table.
func rankOf(word string) int {
	return slices.IndexFunc(headWords, func(w HeadWord) bool { return w.Word == word })
}

// steadyFor is how long a headline keeps its word where the next one is calmer: two faults that come
// and go by turns do not flicker, and neither does a call that fails now and then.
const steadyFor = 15 * time.Second

// A steady keeps the word of a headline. The zero value keeps none.
type steady struct {
	Headline
	since time.Time
	first string    // the first word of the trouble that is, or was last
	from  time.Time // when that was shown
	worst string    // the worst word of it
	by    ID        // of the finding that this was last put down to; empty if it was to none
	until time.Time // when the trouble was last shown
	down  time.Time // when NotReady was first posted in it; zero for never
}

// headline returns what is to be shown where h is what holds now, with these findings, and relists
// failed until a time, if any did. What gets worse, and what is critical, is shown at once, and so
// is the end of what was more or less than a risk. A word that is kept says that it is over.
func (s *steady) headline(h Headline, held []Finding, at, failed time.Time) Headline {
	calmer := rankOf(h.Word) < rankOf(s.Word) || h.Word == s.Word && h.about != s.about
	if kindOf(s.about).turns && calmer && slices.ContainsFunc(held, func(f Finding) bool { return f.ID == s.about }) {
		h.Word, h.Severity, h.Text, h.about, h.ofPart = s.Word, s.Severity, s.Text, s.about, s.ofPart // it may be good by turns
		s.until = at
		return h
	}
	calmer = h.Severity == Warning && rankOf(h.Word) < rankOf(s.Word) || h.Sound() && s.Word == "AT RISK"
	if s.Severity == Warning && calmer && at.Sub(s.since) < steadyFor {
		h.Word, h.Severity, h.Text, h.about = s.Word, Warning, "until a moment ago; now "+h.Word+": "+h.Text, s.about
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

// note keeps of trouble what is said of it when it is over.
func (s *steady) note(h Headline, held []Finding, at time.Time) {
	s.until = at
	if h.Node == NodeNotReady && s.down.IsZero() {
		s.down = at
	}
	if rankOf(h.Word) < rankOf(s.worst) {
		return
	}
	s.worst = h.Word
	if s.by = cmp.Or(h.about, s.by); len(held) > 0 && held[0].Severity == Critical {
		s.by = held[0].ID
	}
}

// isTrouble reports whether a headline tells of trouble: one call that was late is no news.
func (h Headline) isTrouble() bool {
	return rankOf(h.Word) >= rankOf("SLOW") || h.Word == degradedWord && h.Severity == Critical
}

// recovered has the headline of a node that stays Ready say for a minute what was wrong until
// when: whoever looks then comes because of it. A relist that failed by itself made no word.
func (s *steady) recovered(h Headline, at, failed time.Time) Headline {
	var was string
	switch lately := func(t time.Time) bool { return at.Sub(t) <= answers.FlakyFor }; {
	case !h.Sound() && h.Word != degradedWord:
		return h
	case lately(s.until):
		was = s.trouble(at)
	case lately(failed):
		was = "relists failed until " + clock(failed, at)
	default:
		return h
	}
	if rest, ready := strings.CutPrefix(h.Text, staysReady); ready { // it was not all the time
		h.Text = readyNow + rest
	}
	h.Text = strings.TrimPrefix(h.Text+"; "+was, "; ")
	return h
}

// trouble says how the last trouble began, how bad it became, and when it was: whoever comes later
// asks whether NotReady was posted.
func (s *steady) trouble(now time.Time) string {
	words := s.worst + " "
	if s.first != s.worst {
		words = s.first + ", then " + s.worst + ", "
	}
	was := "was " + words + clock(s.from, now) + " to " + clock(s.until, now)
	if !s.down.IsZero() && s.worst != notReadyWord {
		was += ", NotReady from " + clock(s.down, now)
	}
	if s.by != "" && string(s.by) != strings.ReplaceAll(strings.ToLower(s.worst), " ", "-") {
		was += " (" + string(s.by) + ")"
	}
	return was
}
