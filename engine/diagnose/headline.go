package diagnose

import (
	"fmt"
	"strings"
	"time"
)

// A Headline is the one sentence about a node: what a kubelet on that node would report now, for what reason, and when
// that changes. It is at the top of every view.
type Headline struct {
	Word     string   `line:"word"`     // one of [HeadWords]
	Severity Severity `line:"severity"` // Info while nothing is wrong
	Text     string   `line:"text"`     // the effect, then its cause; on a healthy node, what is on it; not cleaned
	Clock    Clock    `line:"clock,omitzero"`
	Node     string   `line:"node,omitempty"` // what the trouble means for the node: [NodeReadyNow], [NodeNotReadyIn] or [NodeNotReady]; empty while that is not known

	about  ID   // ID of the finding that says more, which may have ended; empty if that is the worst one
	ofPart bool // it is about the runtime, the lists, PLEG or Status, and not about the findings
	parts  parts
}

// made returns a headline for views, without its parts, which views do not need.
func (h Headline) made() Headline {
	h.parts = parts{}
	return h
}

// parts are what the text of a headline is made of, in this order.
type parts struct {
	since  string // since when the node has been NotReady
	ready  string // that the node is Ready, because a person first fears the opposite
	effect string
	by     string // what blocks it
	likely bool   // it is not proven that by blocks it
	end    string // the end of the chain
	more   int    // how many others also hold something up
	lacks  string // what the runtime lacks
	also   string // what else is wrong
	was    string // what was wrong a moment ago
}

// text joins the parts of a headline.
func (h *Headline) text() string {
	p := &h.parts
	effect := p.effect
	if p.by != "" {
		by := "blocked by " + p.by
		if p.likely {
			by = "likely " + by
		}
		if p.since != "" && strings.EqualFold(effect, h.Word) { // the word says it already
			effect = by
		} else {
			effect += ", " + by
		}
	}
	text := p.since + p.ready + effect
	if p.end != "" {
		text += " -> " + p.end
	}
	if p.more > 0 {
		text += fmt.Sprintf(" and %d more", p.more)
	}
	if p.lacks != "" {
		text += ": " + p.lacks
	}
	text += p.also
	if p.was != "" {
		text = strings.TrimPrefix(text+"; "+p.was, "; ")
	}
	return text
}

// Sound reports whether nothing is wrong.
func (h Headline) Sound() bool { return h.Word == Healthy && h.Severity == Info }

// YetToPost reports whether all is well again, but the kubelet has not posted Ready yet.
func (h Headline) YetToPost() bool { return h.Word == NotReady && h.Severity == Warning }

// StaysReady reports whether something critical does not make the node NotReady, as far as is known: a risk, or an
// inspection of one pod that hangs while the lists succeed.
func (h Headline) StaysReady() bool {
	risk := (h.Word == AtRisk || h.Word == Degraded) && h.Clock == (Clock{})
	return (risk || h.Word == InspectionHangs) && h.Severity == Critical && h.Node == NodeReadyNow
}

// NotReadySoon reports whether NotReady is posted within a minute if nothing changes. Then a reader has no time to see
// whether the trouble ends by itself.
func (h Headline) NotReadySoon() bool { return h.Node == NodeNotReadyIn && h.Clock.In <= time.Minute }

const readyNow, staysReady = "node Ready, ", "node stays Ready, "

// headline returns the headline for a moment and the findings that hold.
func (f *Facts) headline(held []Finding) Headline {
	f.holding = held
	h := f.worst()
	h.Text = h.text()
	h.Node = f.nodeWord(h.Clock)
	return h
}

// worst returns the headline about the worst of runtime, PLEG, lists, Status and conditions.
func (f *Facts) worst() Headline {
	if f.Paused {
		return Headline{Word: PausedWord, parts: parts{effect: f.lastList()}}
	}
	h := f.worstPart()
	if h.Severity < Critical && f.failsByTurns() {
		// It has no clock: each success stops the clock, and calls that fail for long are critical.
		text, about := f.turnsText()
		turns := Headline{Word: AtRisk, Severity: Warning, about: about}
		turns.parts = parts{since: f.standing(h.Word), effect: text}
		if turns.parts.since == "" {
			turns.parts.ready = readyNow
		}
		return turns
	}
	return h
}

// worstPart returns the headline about the first part that is not in order.
func (f *Facts) worstPart() Headline {
	for _, part := range []func() (Headline, bool){f.runtimePart, f.plegPart, f.listPart, f.statusPart, f.conditionPart, f.relistPart} {
		if h, wrong := part(); wrong {
			h.parts.since, h.Clock, h.ofPart = f.standing(h.Word), f.nextClock(), true
			return h
		}
	}
	if f.standsNotReady() {
		text := "recovered; the kubelet has yet to post Ready"
		if !f.Node.Next.From.After(f.at()) { // nobody can see whether it has posted
			text = "recovered; the kubelet may have yet to post Ready"
		}
		if aside := f.aside(); aside != "" {
			text += "; " + aside
		}
		return Headline{Word: NotReady, Severity: Warning, parts: parts{effect: text}, Clock: f.nextClock()}
	}
	return f.byFindings()
}

// standing returns in words since when the node has been NotReady, for a headline with that word. It is empty if the
// node is not NotReady, as far as is known.
func (f *Facts) standing(word string) string {
	switch {
	case f.standsNotReady() && word == NotReady:
		return "since " + f.clock(f.Node.Since) + ": "
	case f.standsNotReady():
		return "NotReady since " + f.clock(f.Node.Since) + ": "
	case word == ListsHang: // plegtop has seen no good list, and the kubelet has had none for longer than its threshold
		if since := f.heldSince(); !since.IsZero() && f.at().Sub(since) >= f.Threshold {
			return "NotReady since " + f.clock(since.Add(f.Threshold)) + ", no list since " + f.clock(since) + ": "
		}
	}
	return ""
}

// standsNotReady reports whether the kubelet's last post was NotReady.
func (f *Facts) standsNotReady() bool { return !f.once() && f.Node.Known && !f.Node.Ready }

func (f *Facts) clock(t time.Time) string { return clock(t, f.at()) }

func (f *Facts) lastList() string {
	if f.Health.ListedAt.IsZero() {
		return "nothing was listed yet"
	}
	return "the last look was " + going(f.Health.ListAge(f.at())) + " ago"
}
