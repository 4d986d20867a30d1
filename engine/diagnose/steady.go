package diagnose

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
)

const (
	// beginAfter is how long a warning must hold without a break before it begins: a call that was slow for a moment is
	// no finding. A critical finding begins at once.
	beginAfter = 2 * time.Second
	// endAfter is how long a finding must be gone before it ends. A trouble that comes and goes from one relist to the
	// next is one finding. The next relist is a second away, and people must learn of the end of a fault within 5 s.
	endAfter = 3 * time.Second
	// endAgainAfter replaces endAfter for a finding that has come back before. It is also how long a milder severity
	// must hold before it is reported.
	endAgainAfter = 4 * time.Second
	// endStatusAfter replaces endAfter for a condition of Status: the second good answer comes 5 s after the first.
	// endStatusAgainAfter replaces it for a condition that has come back before: three good answers end it, because one
	// may be chance.
	endStatusAfter      = answers.StatusPeriod + time.Second
	endStatusAgainAfter = 3 * answers.StatusPeriod
	// endBlindAfter is how long looks may fail to see the thing that a finding is about. Two looks may come too late.
	endBlindAfter = 12 * time.Second
	// lingering is for how long a finding that is gone is still shown: one relist. A finding that came back after that
	// is shown until its end. Otherwise it would appear every other second.
	lingering = time.Second
	// If a finding comes back within sameFor after its end, it is the same finding: a fault that is repaired in steps
	// is one fault.
	sameFor = time.Minute
	// endedFor is how long an ended finding is kept, and endedMost is how many are kept.
	endedFor  = 30 * time.Minute
	endedMost = 100
	// sinceJitter is by how much two looks may differ about the start of a process: the age of a process is in whole
	// seconds.
	sinceJitter = 2 * time.Second
)

// A TurnKind is what happened to a finding.
type TurnKind uint8

// The turns of a finding.
const (
	Began   TurnKind = iota
	Changed          // its severity changed
	Over
)

// String returns the word of the JSON contract.
func (k TurnKind) String() string { return [...]string{"began", "changed", "ended"}[min(k, Over)] }

// A Turn is what happened to a finding.
type Turn struct {
	Kind    TurnKind
	Finding Finding       // as it is now, or was when last seen
	Was     Severity      // before it changed
	Lasted  time.Duration // from its begin until now, or until it was last seen
	Again   bool          // it had ended less than a minute before, and continues: its begin is the first one
}

// An Ended is a finding that does not hold any more.
type Ended struct {
	Finding    // as it was when last seen
	Began, End time.Time
	Worst      Severity
}

// A held is a finding that was found and has not ended.
type held struct {
	finding  Finding // as it was last seen
	key      Key
	begun    bool // its begin was reported
	again    bool // it had ended, and has come back
	reported Severity
	worst    Severity
	before   Ended     // what had ended, if again
	began    time.Time // when it was first seen
	cameBack time.Time // the same as began; if again, when it came back
	seen     time.Time // when it was last seen
	asBad    time.Time // when it was last as bad as reported
	gone     time.Time // since when it has been gone; zero while it is there
	hidden   bool      // it has been gone for lingering or longer
	flips    bool      // it was hidden and came back, or ended and came back
}

// Steady is the one place that debounces findings. It reports a critical finding, and a change for the worse, at once.
// It reports a warning when that has held for a while, and an end when the finding has stayed gone. In a pause, or
// while the lists are old, nobody can know: then findings neither begin nor end. The zero value is ready to use. A
// Steady belongs to one goroutine.
type Steady struct {
	now  []*held // in the order of their begins
	past []Ended // the newest last
}

// clone returns an independent copy.
func (t *Steady) clone() Steady {
	c := Steady{past: slices.Clone(t.past)}
	for _, h := range t.now {
		c.now = append(c.now, new(*h))
	}
	return c
}

// update takes the findings of now, and returns what began, changed or ended since the last call.
func (t *Steady) update(f *Facts, found []Finding) (turns []Turn) {
	for _, o := range found {
		if !f.overtaken(&o) || t.holds(o.Key()) {
			turns = append(turns, t.see(f.at(), o)...)
		}
	}
	t.now = slices.DeleteFunc(t.now, func(h *held) bool {
		switch {
		case !f.fresh(ruleOf(h.key.ID).Needs):
			h.gone, h.asBad = time.Time{}, f.at()
			return false
		case !f.isOver(h):
			return false
		case h.again && !h.begun: // it came back for a moment, and that was not reported
			t.remember(h.before)
			slices.SortStableFunc(t.past, func(a, b Ended) int { return a.End.Compare(b.End) })
		case h.begun:
			if !t.grewInto(f, h) {
				t.remember(h.ended())
			}
			turns = append(turns, Turn{Kind: Over, Finding: h.finding, Lasted: h.seen.Sub(h.began), Again: h.again})
		}
		return true
	})
	return turns
}

// see notes that a finding is there, and returns what to report about it.
func (t *Steady) see(at time.Time, o Finding) []Turn {
	key := o.Key()
	i := slices.IndexFunc(t.now, func(h *held) bool { return h.key == key })
	if i < 0 {
		i = len(t.now)
		t.now = append(t.now, t.first(at, key))
	}
	h := t.now[i]
	if h.seen.Equal(at) && o.Severity <= h.finding.Severity {
		return nil // it was found twice
	}
	if o.Since.Sub(h.finding.Since).Abs() < sinceJitter {
		o.Since = h.finding.Since
	}
	h.finding, h.seen, h.worst = o, at, max(h.worst, o.Severity)
	switch {
	case !h.begun:
		since := h.cameBack
		if !o.Since.IsZero() && o.Since.Before(since) && o.Group == "" { // a group is still being gathered
			since = o.Since
		}
		if o.Severity == Warning && at.Sub(since) < beginAfter {
			return nil
		}
		h.begun, h.reported, h.asBad = true, o.Severity, at
		turn := Turn{Kind: Began, Finding: o, Again: h.again}
		if h.again {
			turn.Lasted = at.Sub(h.began)
		}
		return []Turn{turn}
	case o.Severity == h.reported:
		h.asBad = at
	case o.Severity > h.reported, at.Sub(h.asBad) >= endAgainAfter:
		was := h.reported
		h.reported, h.asBad = o.Severity, at
		return []Turn{{Kind: Changed, Finding: o, Was: was, Lasted: at.Sub(h.began)}}
	}
	return nil
}

// first returns the held for a new key. If a finding with that key ended lately, it continues.
func (t *Steady) first(at time.Time, key Key) *held {
	i := slices.IndexFunc(t.past, func(e Ended) bool { return e.Key() == key && at.Sub(e.End) <= sameFor })
	if i < 0 {
		return &held{key: key, began: at, cameBack: at}
	}
	was := t.past[i]
	t.past = slices.Delete(t.past, i, i+1)
	return &held{finding: was.Finding, key: key, again: true, flips: true, before: was, began: was.Began, cameBack: at, seen: was.End, worst: was.Worst}
}

// holds reports whether a finding has begun and not ended. t may be nil.
func (t *Steady) holds(key Key) bool {
	return t != nil && slices.ContainsFunc(t.now, func(h *held) bool { return h.begun && h.key == key })
}

// holdsAny reports whether a finding of a kind has begun and not ended. t may be nil.
func (t *Steady) holdsAny(id ID) bool {
	return t != nil && slices.ContainsFunc(t.now, func(h *held) bool { return h.begun && h.key.ID == id })
}

// group returns the name of the group that a finding belongs to now. A finding about a process keeps the name that it
// has: a helper may start for a container that is listed only later. t may be nil.
func (t *Steady) group(o *Finding, now string, groups []*group) string {
	if t == nil || len(o.Nodes) == 0 || slices.ContainsFunc(t.now, func(h *held) bool { return h.key == Key{ID: o.ID, Group: now} }) {
		return now
	}
	for _, h := range t.now {
		same := h.key.ID == o.ID && h.key.Group != "" && len(h.finding.Nodes) > 0 && h.finding.Nodes[0] == o.Nodes[0]
		if same && !slices.ContainsFunc(groups, func(g *group) bool { return g.named[0].owner().String() == h.key.Group }) {
			return h.key.Group
		}
	}
	return now
}

// holding returns the findings that hold now, in order: those that have begun and not ended. It leaves out findings
// that nobody has looked at since a pause, findings about which nobody can know now, and hidden ones: gone for a
// relist, or refuted by calls.
func (t *Steady) holding(f *Facts) (all []Finding) {
	for _, h := range t.now {
		if h.begun && f.fresh(ruleOf(h.key.ID).Needs) && !h.seen.Before(f.Resumed) && !f.isHidden(h) {
			o := h.finding
			o.Severity = h.reported
			all = append(all, o)
		}
	}
	toRoots(all)
	order(all)
	return all
}

// ended returns the findings that ended lately, the newest first. It includes hidden ones: they do not hold any more,
// although the next seconds may show that they are not over.
func (t *Steady) ended(f *Facts) []Ended {
	t.past = slices.DeleteFunc(t.past, func(e Ended) bool { return f.at().Sub(e.End) > endedFor })
	ended := slices.Clone(t.past)
	for _, h := range t.now {
		if h.begun && f.fresh(ruleOf(h.key.ID).Needs) && f.isHidden(h) && !t.grewInto(f, h) {
			ended = append(ended, h.ended())
		}
	}
	slices.Reverse(ended)
	return ended
}

// grewInto reports whether a finding that is gone is now part of a larger one. For example, a call hung, and now the
// runtime answers nothing.
func (t *Steady) grewInto(f *Facts, h *held) bool {
	return ruleOf(h.key.ID).Hangs && !f.refutes(h) && slices.ContainsFunc(t.now, func(o *held) bool {
		whole := o.key.ID == RuntimeDown || o.key.ID == RuntimeUnresponsive
		return o != h && o.seen.Equal(f.at()) && whole && o.finding.Subject == Subject{}
	})
}

func (h *held) ended() Ended { return Ended{h.finding, h.began, h.seen, h.worst} }

func (t *Steady) remember(e Ended) {
	t.past = append(t.past, e)
	t.past = slices.Delete(t.past, 0, max(0, len(t.past)-endedMost))
}
