package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/waits"
)

// A Headline is the one sentence on a node: what a kubelet on it would say now,
// for what reason, and when that changes. It is the first thing of every view.
type Headline struct {
	Word     string   `line:"word"`     // one of [HeadWords]
	Severity Severity `line:"severity"` // Info while nothing is wrong
	Text     string   `line:"text"`     // the effect, then its cause; on a node where all is well, what there is on it; not cleaned
	Clock    Clock    `line:"clock,omitzero"`
	Node     string   `line:"node,omitempty"` // what that makes of the node: [NodeReadyNow], [NodeNotReadyIn] or [NodeNotReady]; empty while that is not known

	about  ID   // of the finding that says more of it, which may have ended; empty where the worst does
	ofPart bool // it is about the runtime, the lists, PLEG or Status, and not about the findings
}

// Sound reports whether the headline is that of a node on which nothing is wrong.
func (h Headline) Sound() bool { return h.Word == healthyWord && h.Severity == Info }

// YetToPost reports whether all is well again, but for what the kubelet has posted last.
func (h Headline) YetToPost() bool { return h.Word == notReadyWord && h.Severity == Warning }

// StaysReady reports whether what is critical makes no node NotReady, as far as is known: a risk, or
// the inspection of one pod that hangs while the lists succeed.
func (h Headline) StaysReady() bool {
	return ((h.Word == "AT RISK" || h.Word == degradedWord) && h.Clock == (Clock{}) || h.Word == "INSPECTION HANGS") && h.Severity == Critical && h.Node == NodeReadyNow
}

// NotReadySoon reports whether NotReady is posted within a minute if nothing changes: who reads of it
// has no time left to see whether it passes by.
func (h Headline) NotReadySoon() bool { return h.Node == NodeNotReadyIn && h.Clock.In <= time.Minute }

// notReadyWord is the word of a node that is not ready, as posted.
const notReadyWord = "NOT READY"

// healthyWord is the word of a node on which nothing is wrong; degradedWord of one whose runtime,
// lists, PLEG and Status are fine, and on which something else is.
const healthyWord, degradedWord = "HEALTHY", "DEGRADED"

// headline returns the headline of a moment, given the findings that hold in it, and what that
// makes of the node.
func (v *view) headline(held []Finding) Headline {
	h := v.worstWord(held)
	h.Node = v.nodeWord(h.Clock)
	return h
}

// worstWord returns the headline by the worst of runtime, lists, PLEG, Status and network.
func (v *view) worstWord(held []Finding) Headline {
	if v.Paused {
		return Headline{Word: "PAUSED", Text: v.lastLook()}
	}
	v.holding = held
	h := v.worstPart(held)
	if h.Severity < Critical && v.failsByTurns() {
		// Without a clock: each success stops it, and what fails for long is critical.
		return Headline{Word: "AT RISK", Severity: Warning, Text: cmp.Or(v.standing(h), readyNow) + v.byTurns(), about: v.byTurnsID()}
	}
	return h
}

// worstPart returns the headline by the first part that is out of order.
func (v *view) worstPart(held []Finding) Headline {
	for _, part := range []func() (Headline, bool){v.runtimeWord, v.plegWord, v.listWord, v.statusWord, v.conditionWord, v.relistWord} {
		if h, wrong := part(); wrong {
			if before := v.standing(h); before != "" { // after which the word is not said again
				h.Text = before + strings.TrimPrefix(h.Text, strings.ToLower(h.Word)+", ")
			}
			h.Clock, h.ofPart = v.nextClock(), true
			return h
		}
	}
	if v.standsNotReady() {
		has := "has"
		if !v.Node.Next.From.After(v.At) { // nobody tells us
			has = "may have"
		}
		said := "recovered; the kubelet " + has + " yet to post Ready"
		if besides := aside(held); besides != "" { // what to do about it stands below
			said += "; " + besides
		}
		return Headline{Word: notReadyWord, Severity: Warning, Text: said, Clock: v.nextClock()}
	}
	return v.otherWord(held)
}

// standing says since when the node is not ready: what stands comes before its cause.
func (v *view) standing(h Headline) string {
	switch {
	case h.Word == notReadyWord && v.standsNotReady(): // which says the rest
		return "since " + v.clock(v.Node.Since) + ": "
	case v.standsNotReady():
		return "NotReady since " + v.clock(v.Node.Since) + ": "
	case h.Word == "LISTS HANG":
		return v.hungBefore()
	}
	return ""
}

// standsNotReady reports whether NotReady is what the kubelet has posted last.
func (v *view) standsNotReady() bool {
	return !v.Policy.Bounds().Starting && v.Node.Known && !v.Node.Ready
}

// heldUp returns what hangs, with what holds the call of a node up now, whatever was told
// before, and how many others hold up something as well.
func (v *view) heldUp(what, node string) string {
	what += chainEnd(what, v.through(node))
	if n := v.culprits(); n > 1 {
		what += fmt.Sprintf(" and %d more", n-1)
	}
	return what + v.wanting(func(f Finding) bool { return slices.Contains(f.Nodes, node) })
}

// wanting says after a colon what the runtime lacks, where that is the cause of such a
// finding that holds: nothing if it is not known to lack anything.
func (v *view) wanting(is func(Finding) bool) string {
	for _, c := range v.holding {
		effect := func(f Finding) bool { return f.CauseKey == c.Key() && is(f) }
		if slices.Contains([]ID{LimitsNear, DiskFull}, c.ID) && slices.ContainsFunc(v.holding, effect) {
			return ": " + c.Summary
		}
	}
	return ""
}

// culprits returns how many pods, or processes of none, surely hold up calls that hang, by
// the findings about them.
func (v *view) culprits() int {
	all := make(map[any]bool)
	for _, f := range v.holding {
		if f.Cause != "" || f.Severity < Critical || len(f.Nodes) == 0 {
			continue
		}
		i := v.graph().Find(f.Nodes[0])
		if i < 0 || v.waits.Nodes[i].Kind == waits.Call || !v.waits.HoldsUp(i) {
			continue
		}
		for _, s := range append([]Subject{f.Subject}, f.Members[min(1, len(f.Members)):]...) {
			if s.none() {
				all[f.Key()] = true
			} else {
				all[s.Pod] = true
			}
		}
	}
	return len(all)
}

func (v *view) lastLook() string {
	if v.Health.ListedAt.IsZero() {
		return "nothing was listed yet"
	}
	return "the last look was " + going(v.Health.ListAge(v.At)) + " ago"
}

// runtimeWord speaks of a runtime that is not there, or that does not answer.
func (v *view) runtimeWord() (Headline, bool) {
	switch v.Scope {
	case answers.Refused:
		first := v.Refusals[0]
		if v.justRefused() {
			return Headline{}, false
		}
		severe := max(Warning, v.failingSeverity(first.First))
		return Headline{Word: "RUNTIME DOWN", Severity: severe, Text: v.refusedBy(first.Err), about: RuntimeDown}, true
	case answers.Silent:
		if !v.Silence.Sure {
			return Headline{}, false // calls are late, and that is said of the one that the relist waits for
		}
		if s, known := v.shut(); known && v.heldByOther() {
			return Headline{Word: "RUNTIME DOWN", Severity: v.severity(v.Silence), Text: "no call is answered: " + s.why}, true
		}
		node := waits.CallKey(v.Silence.Op, v.Silence.ID)
		return Headline{Word: "NOT ANSWERING", Severity: v.severity(v.Silence), Text: v.heldUp("no list and no status is answered"+v.behind(node), node)}, true
	case answers.NoStatus:
		node := waits.CallKey(v.Every[0].Op, v.Every[0].ID)
		return Headline{Word: "NOT ANSWERING", Severity: v.everySeverity(), Text: v.heldUp("no status call is answered, whichever pod it is for"+v.behind(node), node)}, true
	}
	return Headline{}, false
}

// justRefused reports whether one call found nobody there a moment ago: the next
// relist tells, in a second.
func (v *view) justRefused() bool {
	return v.Scope == answers.Refused && v.Refusals[0].InRow < v.Policy.Bounds().ListFails && v.At.Sub(v.Refusals[0].First) < answers.Hung
}

// plegWord has the kubelet's verdict, and what stands behind it.
func (v *view) plegWord() (Headline, bool) {
	if !v.unhealthy() {
		return Headline{}, false
	}
	text := v.overdue()
	if h, ok := v.listWord(); ok {
		text = h.Text
	} else if h, ok := v.relistWord(); ok {
		text = h.Text
	}
	return Headline{Word: "UNHEALTHY", Severity: Critical, Text: text}, true
}

// listWord speaks of lists that hang or fail, and of the first one.
func (v *view) listWord() (Headline, bool) {
	h := v.List()
	f := v.Failure
	switch {
	case h != nil && h.Sure:
		text := "lists hang" + v.behind(waits.CallKey(h.Op, h.ID))
		if text == "lists hang" {
			text = fmt.Sprintf("%v %s", h.Op, v.unanswered(h))
		}
		return Headline{Word: "LISTS HANG", Severity: v.severity(h), Text: v.heldUp(text, waits.CallKey(h.Op, h.ID))}, true
	case f != nil && (f.InRow >= v.Policy.Bounds().ListFails || answers.IsTooLarge(f.Err)):
		h := Headline{Word: "LISTS FAIL", Severity: v.failingSeverity(f.First), Text: fmt.Sprintf("%v fails: %s", f.Op, excerpt(plain(f.Err)))}
		if answers.IsTooLarge(f.Err) {
			h.Severity, h.Text = Critical, v.summaryOf(ListTooBig, h.Text)
		}
		return h, true
	case f != nil:
		if s := v.StatusErr; s != nil { // whose limit comes first
			f = s
		}
		return Headline{Word: "AT RISK", Severity: Warning, Text: fmt.Sprintf("%v failed %s: %s", f.Op, times(f.InRow), excerpt(plain(f.Err)))}, true
	case v.unasked:
		return Headline{Word: "AT RISK", Severity: Warning, Text: "the runtime answers again; no list has been asked for since"}, true
	case v.Health.ListedAt.IsZero() && v.Policy.Bounds().OneMoment:
		return Headline{Word: "NO LIST", Severity: Warning, Text: "no list was answered in time"}, true
	case v.Health.ListedAt.IsZero():
		text := "waiting for the first list"
		if f := v.late(); f != nil {
			text = v.relistWaits(f)
		}
		return Headline{Word: "STARTING", Severity: Info, Text: text}, true
	}
	return Headline{}, false
}

// summaryOf returns what the finding of an id that holds says, or else the other.
func (v *view) summaryOf(id ID, other string) string {
	if i := slices.IndexFunc(v.holding, func(f Finding) bool { return f.ID == id }); i >= 0 {
		return v.holding[i].Summary
	}
	return other
}

// hungBefore says before a colon, where plegtop has seen no good list, what the kubelet makes of one
// that cannot have succeeded for longer than it waits; empty where that is not known.
func (v *view) hungBefore() string {
	since := v.heldSince()
	if since.IsZero() || v.At.Sub(since) < v.Threshold {
		return ""
	}
	return "NotReady since " + v.clock(since.Add(v.Threshold)) + ", no list since " + v.clock(since) + ": "
}

// heldSince returns since when the lists cannot have succeeded, by what holds them up, where
// plegtop has seen no good one; zero where that is not known.
func (v *view) heldSince() time.Time {
	if !v.Health.ListedAt.IsZero() || v.Scope != answers.ListHangs {
		return time.Time{}
	}
	for _, f := range v.holding {
		if f.Cause == "" && f.Severity == Critical && len(f.Nodes) > 0 && !f.Since.IsZero() && f.ID != ListHung {
			return f.Since
		}
	}
	return time.Time{}
}

// relistWaits says which call a relist waits for.
func (v *view) relistWaits(f *call.Flight) string {
	return "the relist waits for " + v.callName(*f) + " since " + going(f.Elapsed(v.At))
}

// late returns the call that a relist waits for and that is late; nil if none is.
func (v *view) late() *call.Flight {
	i := slices.IndexFunc(v.InFlight, func(f call.Flight) bool { return f.By == call.ByRelist && v.State(f) != answers.InTime })
	if i < 0 {
		return nil
	}
	return &v.InFlight[i]
}

// statusWord speaks of a Status that fails or hangs.
func (v *view) statusWord() (Headline, bool) {
	h, f := &v.General[call.Status], v.StatusErr
	switch {
	case v.Node.RuntimeDown != "" && (f != nil || h.Sure) && !v.Policy.Bounds().Starting: // which takes a moment's silence for that
		word := notReadyWord
		if v.Node.Ready { // as posted
			word = "LOOP STOPPED"
		}
		return Headline{Word: word, Severity: Critical, Text: "no Status is answered well: " + v.Node.RuntimeDown}, true
	case v.Hangs(call.Status) && h.Sure && v.Scope != answers.AllSlow: // what hangs there is only slow as well
		node := waits.CallKey(h.Op, h.ID)
		return Headline{Word: "STATUS HANGS", Severity: v.severity(h), Text: v.heldUp("Status "+v.unanswered(h)+v.behind(node), node)}, true
	case f != nil && answers.IsBad(f.Err) && v.failsOn(f, statusForSure):
		return Headline{Word: "STATUS FAILS", Severity: v.failingSeverity(f.First), Text: "Status fails: " + excerpt(plain(f.Err))}, true
	}
	return Headline{}, false
}

// conditionWord speaks of what the runtime says of itself. Until the kubelet has posted it
// the node is ready, though without a ready runtime its sync loop stands. One look does not
// know what was posted: it says what is so now, and the clock when it is posted.
func (v *view) conditionWord() (Headline, bool) {
	for _, c := range []struct {
		id                 ID
		name, text, before string
	}{
		{RuntimeNotReady, runtimeReady, "the runtime says that it is not ready", "LOOP STOPPED"}, {NetworkNotReady, networkReady, "the runtime says that its network is not ready", "AT RISK"},
	} {
		said, lacks := v.lacks(c.name)
		if !lacks {
			continue
		}
		if said.Reason != "" {
			c.text += ": " + excerpt(said.Reason)
		}
		word := c.before
		if v.standsNotReady() {
			word = notReadyWord
		}
		return Headline{Word: word, Severity: Critical, Text: c.text, about: c.id}, true
	}
	return Headline{}, false
}

// relistWord speaks of a relist that waits for one call, and of a verdict that is
// near.
func (v *view) relistWord() (Headline, bool) {
	for _, h := range v.Blamed {
		if h.Out && h.By == call.ByRelist && h.Sure {
			word, text := "AT RISK", v.callName(h.Flight)+": no reply for "+going(h.Took)
			if v.endsInTime() {
				word, text = "INSPECTION HANGS", text+"; PLEG stays healthy, all events are late"
			}
			return Headline{Word: word, Severity: v.severity(h), Text: v.heldUp(text, waits.CallKey(h.Op, h.ID))}, true
		}
	}
	if i := slices.IndexFunc(v.Statuses, func(h answers.Hang) bool { return h.Sure && v.Unheard(&h) }); i >= 0 && !v.Policy.Bounds().OneMoment {
		return Headline{Word: "AT RISK", Severity: v.severity(&v.Statuses[i]), Text: "no status call was answered for " + going(v.At.Sub(v.Statuses[i].Since))}, true
	}
	f := v.late()
	overdue := v.Health.ListAge(v.At) > v.Period+answers.Hung
	if left := v.untilUnhealthy(); left > 0 && left < soon && (f != nil || overdue && left < v.Threshold/2) {
		text := v.overdue()
		if f != nil {
			text += ": " + v.relistWaits(f)
		}
		return Headline{Word: "AT RISK", Severity: Warning, Text: text}, true
	}
	// As with a mild finding, one call after the other may be late for a moment; but the first relist has yet to show anything,
	// and a list that has been out for so long may hang a moment later.
	if f != nil && (v.told == nil || v.Relists.Count == 0 || f.Op.IsList() && f.Elapsed(v.At) >= answers.Hung || f.Elapsed(v.At) >= v.LateAfter(f.Op)+holding) {
		return Headline{Word: "SLOW?", Severity: Warning, Text: v.relistWaits(f)}, true
	}
	return Headline{}, false
}
