package diagnose

import (
	"fmt"
	"strings"
	"time"
)

// A Headline is the one sentence about a node: what a kubelet on it would say now, for what reason, and when that
// changes. It is the first thing of every view.
type Headline struct {
	Word     string   `line:"word"`     // one of [HeadWords]
	Severity Severity `line:"severity"` // Info while nothing is wrong
	Text     string   `line:"text"`     // the effect, then its cause; on a healthy node what there is on it; not cleaned
	Clock    Clock    `line:"clock,omitzero"`
	Node     string   `line:"node,omitempty"` // what that makes of the node: [NodeReadyNow], [NodeNotReadyIn] or [NodeNotReady]; empty while that is not known

	about  ID   // of the finding that says more of it, which may have ended; empty if the worst one does
	ofPart bool // it is about the runtime, the lists, PLEG or Status, and not about the findings
	parts  parts
}

// made returns a headline as views get it: they have no use for its parts.
func (h Headline) made() Headline {
	h.parts = parts{}
	return h
}

// parts are what the text of a headline is made of, in this order.
type parts struct {
	since  string // since when NotReady stands
	ready  string // that the node is Ready: a person fears the opposite first
	effect string
	by     string // what the effect is blocked by
	likely bool   // that is not proven
	end    string // the end of the chain
	more   int    // how many others hold something up as well
	lacks  string // what the runtime lacks
	also   string // what else is wrong
	was    string // what was wrong a moment ago
}

// text puts the parts of a headline together.
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

// YetToPost reports whether all is well again, but for what the kubelet has posted last.
func (h Headline) YetToPost() bool { return h.Word == NotReady && h.Severity == Warning }

// StaysReady reports whether something critical makes no node NotReady, as far as is known: a risk, or the inspection
// of one pod that hangs while the lists succeed.
func (h Headline) StaysReady() bool {
	risk := (h.Word == AtRisk || h.Word == Degraded) && h.Clock == (Clock{})
	return (risk || h.Word == InspectionHangs) && h.Severity == Critical && h.Node == NodeReadyNow
}

// NotReadySoon reports whether NotReady is posted within a minute if nothing changes: a reader has no time to see
// whether it passes by.
func (h Headline) NotReadySoon() bool { return h.Node == NodeNotReadyIn && h.Clock.In <= time.Minute }

const readyNow, staysReady = "node Ready, ", "node stays Ready, "

// headline returns the headline of a moment with the findings that hold.
func (f *Facts) headline(held []Finding) Headline {
	f.holding = held
	h := f.worst()
	h.Text = h.text()
	h.Node = f.nodeWord(h.Clock)
	return h
}

// worst returns the headline by the worst of runtime, PLEG, lists, Status and conditions.
func (f *Facts) worst() Headline {
	if f.Paused {
		return Headline{Word: PausedWord, parts: parts{effect: f.lastList()}}
	}
	h := f.worstPart()
	if h.Severity < Critical && f.failsByTurns() {
		// It has no clock: each success stops the clock, and what fails for long is critical.
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

// worstPart returns the headline by the first part that is not in order.
func (f *Facts) worstPart() Headline {
	for _, part := range []func() (Headline, bool){f.runtimePart, f.plegPart, f.listPart, f.statusPart, f.conditionPart, f.relistPart} {
		if h, wrong := part(); wrong {
			h.parts.since, h.Clock, h.ofPart = f.standing(h.Word), f.nextClock(), true
			return h
		}
	}
	if f.standsNotReady() {
		text := "recovered; the kubelet has yet to post Ready"
		if !f.Node.Next.From.After(f.at()) { // nobody can see that
			text = "recovered; the kubelet may have yet to post Ready"
		}
		if aside := f.aside(); aside != "" {
			text += "; " + aside
		}
		return Headline{Word: NotReady, Severity: Warning, parts: parts{effect: text}, Clock: f.nextClock()}
	}
	return f.byFindings()
}

// standing says since when the node is NotReady, for a headline of that word.
func (f *Facts) standing(word string) string {
	switch {
	case f.standsNotReady() && word == NotReady:
		return "since " + f.clock(f.Node.Since) + ": "
	case f.standsNotReady():
		return "NotReady since " + f.clock(f.Node.Since) + ": "
	case word == ListsHang: // plegtop has seen no good list, and there was none for longer than the kubelet waits
		if since := f.heldSince(); !since.IsZero() && f.at().Sub(since) >= f.Threshold {
			return "NotReady since " + f.clock(since.Add(f.Threshold)) + ", no list since " + f.clock(since) + ": "
		}
	}
	return ""
}

// standsNotReady reports whether the kubelet has posted NotReady last.
func (f *Facts) standsNotReady() bool { return !f.once() && f.Node.Known && !f.Node.Ready }

func (f *Facts) clock(t time.Time) string { return clock(t, f.at()) }

func (f *Facts) lastList() string {
	if f.Health.ListedAt.IsZero() {
		return "nothing was listed yet"
	}
	return "the last look was " + going(f.Health.ListAge(f.at())) + " ago"
}
