package diagnose

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/waits"
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
}

// A head is a headline while it is made: its text comes last.
type head struct {
	Word     string
	Severity Severity
	Text     string
	Clock    Clock
	Node     string
	about    ID
	ofPart   bool
	parts    parts
}

// headline returns the headline that views get.
func (h head) headline() Headline {
	return Headline{Word: h.Word, Severity: h.Severity, Text: h.Text, Clock: h.Clock, Node: h.Node, about: h.about, ofPart: h.ofPart}
}

func (h head) sound() bool { return h.Word == Healthy && h.Severity == Info }

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
	kept   string // the word and the text that would stand there if this word was not kept for a while
}

// text puts the parts of a headline together.
func (h *head) text() string {
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
	if p.kept != "" {
		return p.kept
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
func (f *Facts) headline(held []Finding) head {
	f.holding = held
	h := f.worst()
	h.Text = h.text()
	h.Node = f.nodeWord(h.Clock)
	return h
}

// worst returns the headline by the worst of runtime, PLEG, lists, Status and conditions.
func (f *Facts) worst() head {
	if f.Paused {
		return head{Word: PausedWord, parts: parts{effect: f.lastList()}}
	}
	h := f.worstPart()
	if h.Severity < Critical && f.failsByTurns() {
		// It has no clock: each success stops the clock, and what fails for long is critical.
		text, about := f.turnsText()
		turns := head{Word: AtRisk, Severity: Warning, about: about}
		turns.parts = parts{since: f.standing(h.Word), effect: text}
		if turns.parts.since == "" {
			turns.parts.ready = readyNow
		}
		return turns
	}
	return h
}

// worstPart returns the headline by the first part that is not in order.
func (f *Facts) worstPart() head {
	for _, part := range []func() (head, bool){f.runtimePart, f.plegPart, f.listPart, f.statusPart, f.conditionPart, f.relistPart} {
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
		return head{Word: NotReady, Severity: Warning, parts: parts{effect: text}, Clock: f.nextClock()}
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

// runtimePart speaks of a runtime that is not there, or that does not answer.
func (f *Facts) runtimePart() (head, bool) {
	switch f.Scope {
	case answers.Refused:
		first := f.Refusals[0]
		if f.justRefused() {
			return head{}, false
		}
		h := head{Word: RuntimeIsDown, Severity: max(Warning, f.failing(first.First)), about: RuntimeDown}
		h.parts = f.heldUp(f.refusedBy(first.Err), waits.CallKey(first.Op, ""))
		return h, true
	case answers.Silent:
		if !f.Silence.Sure {
			return head{}, false // calls are late; the part of the relist speaks of the one that it waits for
		}
		if why := f.shut(); why.known && f.heldByOther() {
			return head{Word: RuntimeIsDown, Severity: f.severity(f.Silence), parts: parts{effect: "no call is answered: " + why.text}}, true
		}
		h := head{Word: NotAnswering, Severity: f.severity(f.Silence)}
		h.parts = f.heldUp("no list and no status is answered", waits.CallKey(f.Silence.Op, f.Silence.ID))
		return h, true
	case answers.NoStatus:
		h := head{Word: NotAnswering, Severity: f.everySeverity()}
		h.parts = f.heldUp("no status call is answered, whichever pod it is for", waits.CallKey(f.Every[0].Op, f.Every[0].ID))
		return h, true
	}
	return head{}, false
}

// justRefused reports whether one call found nobody there a moment ago. The next relist shows more, in a second.
func (f *Facts) justRefused() bool {
	first := f.Refusals
	return f.Scope == answers.Refused && first[0].InRow < f.Snapshot.Policy.Bounds().ListFails && f.at().Sub(first[0].First) < answers.Hung
}

// plegPart has the kubelet's verdict, and what stands behind it.
func (f *Facts) plegPart() (head, bool) {
	if !f.unhealthy() {
		return head{}, false
	}
	h := head{Word: Unhealthy, Severity: Critical, parts: parts{effect: f.overdue()}}
	if list, ok := f.listPart(); ok {
		h.parts = list.parts
	} else if relist, ok := f.relistPart(); ok {
		h.parts = relist.parts
	}
	return h, true
}

// listPart speaks of lists that hang or fail, and of the first list.
func (f *Facts) listPart() (head, bool) {
	h, e := f.List(), f.Failure
	switch {
	case h != nil && h.Sure:
		p := f.heldUp("lists hang", waits.CallKey(h.Op, h.ID))
		if p.by == "" {
			p.effect = h.Op.String() + " " + f.silence(h)
		}
		return head{Word: ListsHang, Severity: f.severity(h), parts: p}, true
	case e != nil && answers.IsTooLarge(e.Err):
		text := fmt.Sprintf("%v fails: %s", e.Op, excerpt(plain(e.Err)))
		for i := range f.holding {
			if f.holding[i].ID == ListTooBig {
				text = f.holding[i].Summary
				break
			}
		}
		return head{Word: ListsFail, Severity: Critical, parts: parts{effect: text}}, true
	case e != nil && e.InRow >= f.Snapshot.Policy.Bounds().ListFails:
		text := fmt.Sprintf("%v fails: %s", e.Op, excerpt(plain(e.Err)))
		return head{Word: ListsFail, Severity: f.failing(e.First), parts: parts{effect: text}}, true
	case e != nil:
		e = cmp.Or(f.StatusErr, e) // the limit of Status comes first
		text := fmt.Sprintf("%v failed %s: %s", e.Op, times(e.InRow), excerpt(plain(e.Err)))
		return head{Word: AtRisk, Severity: Warning, parts: parts{effect: text}}, true
	case f.Unasked:
		return head{Word: AtRisk, Severity: Warning, parts: parts{effect: "the runtime answers again; no list has been asked for since"}}, true
	case f.Health.ListedAt.IsZero() && f.once():
		return head{Word: NoList, Severity: Warning, parts: parts{effect: "no list was answered in time"}}, true
	case f.Health.ListedAt.IsZero():
		text := "waiting for the first list"
		if c := f.lateCall(); c != nil {
			text = f.relistWaits(c)
		}
		return head{Word: Starting, parts: parts{effect: text}}, true
	}
	return head{}, false
}

// relistWaits says which call a relist waits for.
func (f *Facts) relistWaits(c *call.Flight) string {
	return "the relist waits for " + f.callName(*c) + " since " + going(c.Elapsed(f.at()))
}

// statusPart speaks of a Status that fails or hangs.
func (f *Facts) statusPart() (head, bool) {
	h, e := &f.General[call.Status], f.StatusErr
	switch {
	case f.Node.RuntimeDown != "" && (e != nil || h.Sure) && !f.once(): // check takes a moment of silence for that
		word := NotReady
		if f.Node.Ready { // as posted
			word = LoopStopped
		}
		return head{Word: word, Severity: Critical, parts: parts{effect: "no Status is answered well: " + f.Node.RuntimeDown}}, true
	case f.Hangs(call.Status) && h.Sure && f.Scope != answers.AllSlow:
		return head{Word: StatusHangs, Severity: f.severity(h), parts: f.heldUp("Status "+f.silence(h), waits.CallKey(h.Op, h.ID))}, true
	case e != nil && answers.IsBad(e.Err) && f.failsOn(e, statusFails):
		return head{Word: StatusFails, Severity: f.failing(e.First), parts: parts{effect: "Status fails: " + excerpt(plain(e.Err))}}, true
	}
	return head{}, false
}

// conditionPart speaks of what the runtime says of itself. Until the kubelet has posted it the node is Ready, though
// without a ready runtime its sync loop stands. check does not know what was posted.
func (f *Facts) conditionPart() (head, bool) {
	for _, c := range []struct {
		id                 ID
		name, text, before string
	}{
		{RuntimeNotReady, runtimeReady, "the runtime says that it is not ready", LoopStopped},
		{NetworkNotReady, networkReady, "the runtime says that its network is not ready", AtRisk},
	} {
		given, lacks := f.lacks(c.name)
		if !lacks {
			continue
		}
		if given.Reason != "" {
			c.text += ": " + excerpt(given.Reason)
		}
		word := c.before
		if f.standsNotReady() {
			word = NotReady
		}
		return head{Word: word, Severity: Critical, parts: parts{effect: c.text}, about: c.id}, true
	}
	return head{}, false
}

// relistPart speaks of a relist that waits for one call, and of a verdict that is near.
func (f *Facts) relistPart() (head, bool) {
	for _, h := range f.Blamed {
		if !h.Out || h.By != call.ByRelist || !h.Sure {
			continue
		}
		word, text := AtRisk, f.callName(h.Flight)+": no reply for "+going(h.Took)
		if f.relistEndsFirst() {
			word, text = InspectionHangs, text+"; PLEG stays healthy, all events are late"
		}
		p := f.heldUp(text, waits.CallKey(h.Op, h.ID))
		p.by = "" // the call is named with its object
		return head{Word: word, Severity: f.severity(h), parts: p}, true
	}
	for i := range f.Statuses {
		if h := &f.Statuses[i]; h.Sure && f.Unheard(h) && !f.once() {
			text := "no status call was answered for " + going(f.at().Sub(h.Since))
			return head{Word: AtRisk, Severity: f.severity(h), parts: parts{effect: text}}, true
		}
	}
	c := f.lateCall()
	overdue := f.Health.ListAge(f.at()) > f.Period+answers.Hung
	if left := f.untilUnhealthy(); left > 0 && left < soon && (c != nil || overdue && left < f.Threshold/2) {
		text := f.overdue()
		if c != nil {
			text += ": " + f.relistWaits(c)
		}
		return head{Word: AtRisk, Severity: Warning, parts: parts{effect: text}}, true
	}
	if c != nil && f.worthAWord(c) {
		return head{Word: MaybeSlow, Severity: Warning, parts: parts{effect: f.relistWaits(c)}}, true
	}
	return head{}, false
}

// worthAWord reports whether a late call is worth a headline. One call after the other may be late for a moment. But
// the first relist has shown nothing yet, and a list that has been out for so long may hang a moment later.
func (f *Facts) worthAWord(c *call.Flight) bool {
	out := c.Elapsed(f.at())
	return f.told == nil || f.Relists.Count == 0 || c.Op.IsList() && out >= answers.Hung || out >= f.LateAfter(c.Op)+beginAfter
}

// heldUp returns the parts of a headline about a call that hangs: what holds it up now, and how many others hold up
// something as well.
func (f *Facts) heldUp(effect, node string) parts {
	p := parts{effect: effect}
	var named map[string]bool
	p.by, p.likely, named = f.blockedBy(node)
	p.end = chainEnd(f.chain(node), named)
	p.more = max(f.culprits()-1, 0)
	for i := range f.holding { // what the runtime lacks is the cause
		if o := &f.holding[i]; p.lacks == "" && o.isOn(node) {
			p.lacks = f.lacking(o)
		}
	}
	return p
}
