package diagnose

import (
	"cmp"
	"fmt"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/waits"
)

// runtimePart returns the headline about a runtime that is not there, or that does not answer.
func (f *Facts) runtimePart() (Headline, bool) {
	switch f.Scope {
	case answers.Refused:
		first := f.Refusals[0]
		if f.justRefused() {
			return Headline{}, false
		}
		h := Headline{Word: RuntimeIsDown, Severity: max(Warning, f.failing(first.First)), about: RuntimeDown}
		h.parts = f.heldUp(f.refusedBy(first.Err), waits.CallKey(first.Op, ""))
		return h, true
	case answers.Silent:
		if !f.Silence.Sure {
			return Headline{}, false // calls are late; relistPart is about the call that the relist waits for
		}
		if why := f.shut(); why.known && f.heldByOther() {
			return Headline{Word: RuntimeIsDown, Severity: f.severity(f.Silence), parts: parts{effect: "no call is answered: " + why.text}}, true
		}
		h := Headline{Word: NotAnswering, Severity: f.severity(f.Silence)}
		h.parts = f.heldUp("no list and no status is answered", waits.CallKey(f.Silence.Op, f.Silence.ID))
		return h, true
	case answers.NoStatus:
		h := Headline{Word: NotAnswering, Severity: f.everySeverity()}
		h.parts = f.heldUp("no status call is answered, whichever pod it is for", waits.CallKey(f.Every[0].Op, f.Every[0].ID))
		return h, true
	}
	return Headline{}, false
}

// justRefused reports whether calls have been refused for a moment only. The next relist, in a second, shows more.
func (f *Facts) justRefused() bool {
	first := f.Refusals
	return f.Scope == answers.Refused && first[0].InRow < f.Snapshot.Policy.Bounds().ListFails && f.at().Sub(first[0].First) < answers.Hung
}

// plegPart returns the headline about the kubelet's verdict, with the reason for it.
func (f *Facts) plegPart() (Headline, bool) {
	if !f.unhealthy() {
		return Headline{}, false
	}
	h := Headline{Word: Unhealthy, Severity: Critical, parts: parts{effect: f.overdue()}}
	if list, ok := f.listPart(); ok {
		h.parts = list.parts
	} else if relist, ok := f.relistPart(); ok {
		h.parts = relist.parts
	}
	return h, true
}

// listPart returns the headline about lists that hang or fail, or about the first list.
func (f *Facts) listPart() (Headline, bool) {
	h, e := f.List(), f.Failure
	switch {
	case h != nil && h.Sure:
		p := f.heldUp("lists hang", waits.CallKey(h.Op, h.ID))
		if p.by == "" {
			p.effect = h.Op.String() + " " + f.silence(h)
		}
		return Headline{Word: ListsHang, Severity: f.severity(h), parts: p}, true
	case e != nil && answers.IsTooLarge(e.Err):
		text := fmt.Sprintf("%v fails: %s", e.Op, excerpt(plain(e.Err)))
		for i := range f.holding {
			if f.holding[i].ID == ListTooBig {
				text = f.holding[i].Summary
				break
			}
		}
		return Headline{Word: ListsFail, Severity: Critical, parts: parts{effect: text}}, true
	case e != nil && e.InRow >= f.Snapshot.Policy.Bounds().ListFails:
		text := fmt.Sprintf("%v fails: %s", e.Op, excerpt(plain(e.Err)))
		return Headline{Word: ListsFail, Severity: f.failing(e.First), parts: parts{effect: text}}, true
	case e != nil:
		e = cmp.Or(f.StatusErr, e) // the limit of Status comes first
		text := fmt.Sprintf("%v failed %s: %s", e.Op, times(e.InRow), excerpt(plain(e.Err)))
		return Headline{Word: AtRisk, Severity: Warning, parts: parts{effect: text}}, true
	case f.Unasked:
		return Headline{Word: AtRisk, Severity: Warning, parts: parts{effect: "the runtime answers again; no list has been asked for since"}}, true
	case f.Health.ListedAt.IsZero() && f.once():
		return Headline{Word: NoList, Severity: Warning, parts: parts{effect: "no list was answered in time"}}, true
	case f.Health.ListedAt.IsZero():
		text := "waiting for the first list"
		if c := f.lateCall(); c != nil {
			text = f.relistWaits(c)
		}
		return Headline{Word: Starting, parts: parts{effect: text}}, true
	}
	return Headline{}, false
}

// relistWaits returns in words which call a relist waits for.
func (f *Facts) relistWaits(c *call.Flight) string {
	return "the relist waits for " + f.callName(*c) + " since " + going(c.Elapsed(f.at()))
}

// statusPart returns the headline about a Status that fails or hangs.
func (f *Facts) statusPart() (Headline, bool) {
	h, e := &f.General[call.Status], f.StatusErr
	switch {
	case f.Node.RuntimeDown != "" && (e != nil || h.Sure) && !f.once(): // check treats a moment of silence like this
		word := NotReady
		if f.Node.Ready { // as posted
			word = LoopStopped
		}
		return Headline{Word: word, Severity: Critical, parts: parts{effect: "no Status is answered well: " + f.Node.RuntimeDown}}, true
	case f.Hangs(call.Status) && h.Sure && f.Scope != answers.AllSlow:
		return Headline{Word: StatusHangs, Severity: f.severity(h), parts: f.heldUp("Status "+f.silence(h), waits.CallKey(h.Op, h.ID))}, true
	case e != nil && answers.IsBad(e.Err) && f.failsOn(e, statusFails):
		return Headline{Word: StatusFails, Severity: f.failing(e.First), parts: parts{effect: "Status fails: " + excerpt(plain(e.Err))}}, true
	}
	return Headline{}, false
}

// conditionPart returns the headline about a condition that the runtime itself reports as not met. Until the kubelet
// has posted that, the node is Ready, although the kubelet's sync loop stops without a ready runtime. check does not
// know what was posted.
func (f *Facts) conditionPart() (Headline, bool) {
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
		return Headline{Word: word, Severity: Critical, parts: parts{effect: c.text}, about: c.id}, true
	}
	return Headline{}, false
}

// relistPart returns the headline about a relist that waits for one call, or about a verdict that is near.
func (f *Facts) relistPart() (Headline, bool) {
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
		return Headline{Word: word, Severity: f.severity(h), parts: p}, true
	}
	for i := range f.Statuses {
		if h := &f.Statuses[i]; h.Sure && f.Unheard(h) && !f.once() {
			text := "no status call was answered for " + going(f.at().Sub(h.Since))
			return Headline{Word: AtRisk, Severity: f.severity(h), parts: parts{effect: text}}, true
		}
	}
	c := f.lateCall()
	overdue := f.Health.ListAge(f.at()) > f.Period+answers.Hung
	if left := f.untilUnhealthy(); left > 0 && left < soon && (c != nil || overdue && left < f.Threshold/2) {
		text := f.overdue()
		if c != nil {
			text += ": " + f.relistWaits(c)
		}
		return Headline{Word: AtRisk, Severity: Warning, parts: parts{effect: text}}, true
	}
	if c != nil && f.worthAWord(c) {
		return Headline{Word: MaybeSlow, Severity: Warning, parts: parts{effect: f.relistWaits(c)}}, true
	}
	return Headline{}, false
}

// worthAWord reports whether a late call is worth a headline. Calls that are late for a moment, one after the other,
// are not. But any late call of the first relist is, because nothing is known yet, and so is a list that has been out
// for so long that it may count as hanging a moment later.
func (f *Facts) worthAWord(c *call.Flight) bool {
	out := c.Elapsed(f.at())
	return f.told == nil || f.Relists.Count == 0 || c.Op.IsList() && out >= answers.Hung || out >= f.LateAfter(c.Op)+beginAfter
}

// heldUp returns the parts of a headline about a call that hangs: what holds it up now, and how many other culprits
// there are.
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
