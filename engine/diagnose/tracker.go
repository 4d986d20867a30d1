package diagnose

import (
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

const (
	// holding is how long something mild must be found without a break before it is
	// told: a call that was slow for a moment is no finding.
	holding = 2 * time.Second
	// settling is how long a finding must be gone before it is told so: what
	// comes and goes from one relist to the next is one finding, not many. A relist is a
	// second away, and people are told within 5 s of the end of a fault.
	settling = 3 * time.Second
	// settlingAgain is the same for one that has come back before, and for one that is milder.
	settlingAgain = 4 * time.Second
	// settlingStatus is the same for a condition that Status says is met again: the second good answer
	// comes [answers.StatusPeriod] after the first. Of one that has come back before a good answer may be
	// chance, and what is good by turns is asked for at any moment of its turn: three answers end it.
	settlingStatus      = answers.StatusPeriod + time.Second
	settlingStatusAgain = 3 * answers.StatusPeriod
	// unseenFor is how long a look may fail to see what a finding stands on before that is
	// over: it was not seen to be otherwise, and two looks may come too late.
	unseenFor = 12 * time.Second
	// lingering is for how long a finding that is gone is still shown: one relist long. One that
	// came back after that is shown until its end, or it would be there every other second.
	lingering = time.Second
	// sameFor is how long after its end a finding that comes back is the same one: a fault
	// that is repaired in steps is one fault.
	sameFor = time.Minute
	// endedShown is how long an ended finding is remembered, and endedMost how
	// many are.
	endedShown = 30 * time.Minute
	endedMost  = 100
)

// A TurnKind is what happened to a finding.
type TurnKind uint8

// The turns of a finding.
const (
	Began   TurnKind = iota
	Changed          // in severity
	Over
)

// String returns the word of the JSON contract.
func (k TurnKind) String() string { return [...]string{"began", "changed", "ended"}[min(k, Over)] }

// A Turn is what happened to a finding.
type Turn struct {
	Kind    TurnKind
	Finding Finding       // as it is now, or was last
	Was     Severity      // before it changed
	Lasted  time.Duration // from its beginning to when it was last seen
	Again   bool          // it had ended less than a minute before, and goes on: its beginning is the first one
}

// An Ended is a finding that holds no more.
type Ended struct {
	Finding    // as it was last
	Began, End time.Time
	Worst      Severity
}

// A tracked finding is one that was found and whose end was not told.
type tracked struct {
	finding Finding // as it was last seen
	key     Key
	begun   bool // its beginning was told
	again   bool // so was its end, and it has come back
	told    Severity
	worst   Severity
	before  Ended     // as which that was
	began   time.Time // when it was first seen
	here    time.Time // the same; if it has come back, when it did
	seen    time.Time // when it was last seen
	held    time.Time // when it was last as bad as what was told
	gone    time.Time // since when it is not there; zero while it is
	hidden  bool      // it has been gone for longer than it lingers
	flips   bool      // and has come back, or had ended and has
}

// A tracker turns the findings of one moment after the other into turns.
// Something that is critical or gets worse is told at once, something mild when it
// has held, something that ends or gets better when it has stayed so. What cannot
// be known now, in a pause or while the lists are stale, neither begins nor ends.
// The zero value has told nothing.
type tracker struct {
	known []*tracked // in the order of their beginnings
	past  []Ended    // the newest last
}

// track returns the turns since the last call, given what was found in a view.
func (t *tracker) track(v *view, found []Finding) []Turn {
	var turns []Turn
	for _, f := range found {
		if !v.overtaken(&f) || t.holds(f.Key()) {
			turns = append(turns, t.see(v.At, f)...)
		}
	}
	t.known = slices.DeleteFunc(t.known, func(k *tracked) bool {
		switch {
		case !v.tells(kindOf(k.key.ID)):
			k.gone, k.held = time.Time{}, v.At
			return false
		case !v.over(k):
			return false
		}
		switch {
		case k.again && !k.begun: // it came back for a moment, of which nobody was told
			t.remember(k.before)
			slices.SortStableFunc(t.past, func(a, b Ended) int { return a.End.Compare(b.End) })
		case k.begun:
			if !t.superseded(v, k) {
				t.remember(k.ended())
			}
			turns = append(turns, Turn{Kind: Over, Finding: k.finding, Lasted: k.seen.Sub(k.began), Again: k.again})
		}
		return true
	})
	return turns
}

// overtaken reports whether a finding may stand on a look at the node that is older
// than the last that was heard of its subject: the runtime has come back since, or
// answers for it again, or does not list it any more. It is not begun before the next
// look.
func (v *view) overtaken(f *Finding) bool {
	looked, known := v.looked()
	if !known || kindOf(f.ID).needs == unpaused {
		return false
	}
	id := f.Subject.ID
	switch {
	case v.lookOld, v.Memory.Hung[id].After(looked) && !v.objectHangs(id), v.Gone.Since(id).After(looked):
		return true
	case id == "" || f.Subject.none() || !v.Health.ListedAt.After(looked):
		return false
	case f.Subject.Sandbox: // it is listed only when its network is there; one that has gone is known to have
		return false
	}
	p := v.Pod(f.Subject.Pod)
	if p == nil {
		return true
	}
	_, listed := p.Find(id)
	return !listed
}

// objectHangs reports whether the status of an object hangs.
func (v *view) objectHangs(id string) bool {
	return slices.ContainsFunc(v.Statuses, func(h answers.Hang) bool { return h.ID == id })
}

// over reports whether k has been gone for long enough.
func (v *view) over(k *tracked) bool {
	switch {
	case k.seen.Equal(v.At):
		k.gone, k.flips = time.Time{}, k.flips || k.hidden
		return false
	case !k.begun:
		return true
	case k.gone.IsZero():
		k.gone = v.At
	}
	k.hidden = k.hidden || v.At.Sub(k.gone) >= lingering
	return v.At.Sub(k.gone) >= v.settles(k)
}

// blind reports whether the last look at the node has not seen what a finding stands on.
func (v *view) blind(k *tracked) bool {
	if kindOf(k.key.ID).needs != nothing {
		return false
	}
	switch k.key.ID {
	case StoreFailing, DiskFull:
		of := &v.evidence.Disk
		if strings.HasPrefix(k.key.Group, stateFolder) {
			of = &v.evidence.State
		}
		return of.Missing != "" && !of.Broken
	}
	return v.evidence.Processes.Missing != ""
}

// settles returns how long a finding that is gone must stay so. What only Status
// tells, or a look at the node, is asked every five seconds: the first answer that says
// otherwise is enough.
func (v *view) settles(k *tracked) time.Duration {
	status := v.Sums(call.Status).LastOK
	switch {
	case kindOf(k.key.ID).turns && k.flips:
		return settlingStatusAgain
	case kindOf(k.key.ID).turns:
		return settlingStatus
	case v.blind(k):
		return unseenFor
	case k.again:
		return settlingAgain
	case k.finding.Subject.Operation == call.Status.String() && !status.Before(k.seen),
		kindOf(k.key.ID).needs == nothing && !v.evidence.At.Before(k.seen):
		return 0
	}
	return settling
}

// sinceJitter is by how much two looks may differ on when a process began: its age is in whole
// seconds, and a text that names the moment would change with each look.
const sinceJitter = 2 * time.Second

// see takes in that f is there, and returns what to say about it.
func (t *tracker) see(at time.Time, f Finding) []Turn {
	key := f.Key()
	i := slices.IndexFunc(t.known, func(k *tracked) bool { return k.key == key })
	if i < 0 {
		i = len(t.known)
		t.known = append(t.known, t.begin(at, key))
	}
	k := t.known[i]
	if k.seen.Equal(at) && f.Severity <= k.finding.Severity {
		return nil // told twice
	}
	if f.Since.Sub(k.finding.Since).Abs() < sinceJitter {
		f.Since = k.finding.Since
	}
	k.finding, k.seen, k.worst = f, at, max(k.worst, f.Severity)
	switch {
	case !k.begun:
		since := k.here
		if !f.Since.IsZero() && f.Since.Before(since) && f.Group == "" { // a group is still being gathered
			since = f.Since
		}
		if f.Severity == Warning && at.Sub(since) < holding {
			return nil
		}
		k.begun, k.told, k.held = true, f.Severity, at
		turn := Turn{Kind: Began, Finding: f, Again: k.again}
		if k.again {
			turn.Lasted = at.Sub(k.began)
		}
		return []Turn{turn}
	case f.Severity == k.told:
		k.held = at
	case f.Severity > k.told, at.Sub(k.held) >= settlingAgain:
		was := k.told
		k.told, k.held = f.Severity, at
		return []Turn{{Kind: Changed, Finding: f, Was: was, Lasted: at.Sub(k.began)}}
	}
	return nil
}

// begin returns what is tracked from now on: what was told to have ended lately goes on.
func (t *tracker) begin(at time.Time, key Key) *tracked {
	i := slices.IndexFunc(t.past, func(e Ended) bool { return e.Key() == key && at.Sub(e.End) <= sameFor })
	if i < 0 {
		return &tracked{key: key, began: at, here: at}
	}
	was := t.past[i]
	t.past = slices.Delete(t.past, i, i+1)
	return &tracked{finding: was.Finding, key: key, again: true, flips: true, before: was, began: was.Began, here: at, seen: was.End, worst: was.Worst}
}

// holds reports whether a finding was told and is not over, so that it may not give
// way to another one for a small reason. It may be called of no tracker.
func (t *tracker) holds(key Key) bool {
	return t != nil && slices.ContainsFunc(t.known, func(k *tracked) bool { return k.begun && k.key == key })
}

// group returns by what a finding of a group is known that is about a process: what was told
// of a helper for a container that was not listed then is the same trouble, whoever's it
// proves to be. It may be called of no tracker.
func (t *tracker) group(f Finding, now string) string {
	if t == nil || len(f.Nodes) == 0 || slices.ContainsFunc(t.known, func(k *tracked) bool { return k.key == Key{ID: f.ID, Group: now} }) {
		return now
	}
	for _, k := range t.known {
		if k.key.ID == f.ID && k.key.Group != "" && len(k.finding.Nodes) > 0 && k.finding.Nodes[0] == f.Nodes[0] {
			return k.key.Group
		}
	}
	return now
}

// findings returns what holds as of a view: what has begun and is not over, but for
// what nobody has looked at since a pause, or cannot know now, or what calls have
// refuted.
func (t *tracker) findings(v *view) []Finding {
	var now []Finding
	for _, k := range t.known {
		if k.begun && v.tells(kindOf(k.key.ID)) && !k.seen.Before(v.Resumed) && !v.holdsNoMore(k) {
			f := k.finding
			f.Severity = k.told
			now = append(now, f)
		}
	}
	toRoots(now)
	return order(now)
}

// holdsNoMore reports whether a finding is not shown any more, though its end may not be
// told yet: it has been gone for a relist, or calls refute it.
func (v *view) holdsNoMore(k *tracked) bool {
	return !k.gone.IsZero() && k.hidden && !k.flips && !v.blind(k) || v.refutes(k)
}

// refutes reports whether calls of which a finding says that they hang or fail were
// answered well since it was last seen, or the runtime has come back since. Whether it
// is over the next seconds tell, but until then it is not so.
func (v *view) refutes(k *tracked) bool {
	f, of := &k.finding, kindOf(k.finding.ID)
	switch {
	case k.seen.Equal(v.At), of.turns && k.flips:
		return false
	case of.needs != unpaused:
		return k.seen.Before(v.Memory.Back.At)
	case k.told < Critical && f.Since.IsZero():
		return false
	}
	about := of.refutedBy
	if about == nil {
		about = call.Operation.IsList
	}
	answered := false
	for i := range v.Calls {
		c := &v.Calls[i]
		if f.Subject.Operation == c.Op.String() || f.Subject.Operation == "" && about(c.Op) {
			answered = answered || !c.LastOK.Before(k.seen)
		}
	}
	if f.Subject.none() {
		return answered
	}
	p := v.Pod(f.Subject.Pod)
	return p == nil || p.StatusErr == nil && p.InspectedAt.After(k.seen)
}

// superseded reports whether a finding that is gone is not over but the smaller part of one
// that is there: one call that hung, of a runtime that answers nothing by now.
func (t *tracker) superseded(v *view, k *tracked) bool {
	return kindOf(k.key.ID).hangs && !v.refutes(k) && slices.ContainsFunc(t.known, func(c *tracked) bool {
		return c != k && c.seen.Equal(v.At) && kindOf(c.key.ID).is&silences != 0 && c.finding.Subject == Subject{}
	})
}

func (k *tracked) ended() Ended { return Ended{k.finding, k.began, k.seen, k.worst} }

// ended returns what ended lately, the newest first, with what calls have refuted: that
// holds no more, though the next seconds may show that it is not over.
func (t *tracker) ended(v *view) []Ended {
	t.past = slices.DeleteFunc(t.past, func(e Ended) bool { return v.At.Sub(e.End) > endedShown })
	ended := slices.Clone(t.past)
	for _, k := range t.known {
		if k.begun && v.tells(kindOf(k.key.ID)) && v.holdsNoMore(k) && !t.superseded(v, k) {
			ended = append(ended, k.ended())
		}
	}
	slices.Reverse(ended)
	return ended
}

// remember keeps what has ended, and drops the oldest beyond endedMost.
func (t *tracker) remember(e Ended) {
	t.past = append(t.past, e)
	t.past = slices.Delete(t.past, 0, max(0, len(t.past)-endedMost))
}
