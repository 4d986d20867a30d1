package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// Why a check of all objects is given up.
const (
	silentToo = "Status gives no answer, either"
	wentAway  = "the runtime answers no more"
)

const (
	// againFirst is how long after its end a check asks anew for what hung or failed: soon, since one
	// failure may be chance. Then it does so each againPeriod, for againFor: as long as it may still
	// mean something to somebody. It asks for againMost at a time: so many, four at once, hang for 14 s,
	// so that what is known is never older than call.FreshFor.
	againFirst  = time.Second
	againPeriod = 5 * time.Second
	againFor    = 5 * time.Minute
	againMost   = 28
	// checkEvery is the least time between two checks that nobody asked for: calls that hang for
	// seconds, relist after relist, must not bring about one each.
	checkEvery = time.Minute
	// slowestKept is how many of the slowest answers are shown.
	slowestKept = 5
)

// A checkAll asks for every sandbox and container, a few at a time, each with a deadline of its
// own, so that what is stuck hides nothing else. What hung or failed is asked for until it answers.
type checkAll struct {
	answers.Sweep // but for its lists
	Objects       []object
	Unasked       bool      // nobody wanted it: a pause ends it
	ForList       bool      // it is to find what holds up a list
	Heard         time.Time // when an answer came last, good or not; the beginning before that
	Nobody        time.Time // when nobody listened last; zero if that never was
	Newest        time.Time // when the call was made that was answered, and made last
	DoubtAt       time.Time // when Status was asked for last because the whole runtime may be in trouble
	Doubts        bool      // its answer is awaited
	Absent        bool      // it was asked for because nobody listened, not because nothing was answered
	Again         time.Time // when what hung or failed is asked for anew; zero for never
	Places        map[target]int
	Todo          []int // places of those that are to be asked, in this order
	Hanging       int   // how many have hung
	Turned        int   // how many have had their turn; what failed comes once more after that
	Out           int

	shown *answers.Sweep // what result returned last; nil when stale
}

// An object is one sandbox or container that is asked for.
type object struct {
	answers.Outcome
	asked
}

// asked is what else has to be known of an object.
type asked struct {
	SandboxID string // in which a container is, of one that only the node shows
	Late      bool   // it is asked for after the others: it has ended
	Suspect   bool   // it is asked for before the others: the node shows it in trouble
	Unlisted  bool   // only the node shows it
	State     objectState
	Out       bool
	Failed    bool // it failed, and is asked for once more
	Unsure    bool // it hung while everything may have stalled
	Freed     bool // it hung, and answered when asked anew: its call waited for the end of the hang
}

// An objectState says what came of an object.
type objectState uint8

const (
	unasked objectState = iota
	answered
	hung
	failed
)

// newCheckAll returns a check of the objects that the pods list and of those that only the node
// shows.
func (m *Model) newCheckAll() *checkAll {
	c := &checkAll{Heard: m.now, Places: make(map[target]int)}
	c.Began, c.Width, c.Timeout = m.now, probeWidth, m.start.CallTime
	shown, _, _ := m.pods.read()
	for _, p := range shown {
		seen := p.Seen()
		ended := make(map[string]bool)
		for _, s := range seen.Sandboxes {
			ended[s.ID] = s.State == pleg.Exited
		}
		for _, k := range seen.Containers {
			ended[k.ID] = k.State == pleg.Exited
		}
		for _, f := range callsFor(seen) {
			c.add(object{answers.Outcome{Flight: f}, asked{Late: ended[f.ID]}})
		}
	}
	for _, o := range m.unlisted() {
		c.add(object{answers.Outcome{Flight: m.asks(o)}, asked{SandboxID: o.SandboxID, Unlisted: true}})
	}
	c.Total = len(c.Objects)
	c.sort()
	return c
}

// sort puts those first that are to be asked first.
func (c *checkAll) sort() {
	slices.SortStableFunc(c.Todo, func(a, b int) int { return cmp.Compare(c.Objects[a].rank(), c.Objects[b].rank()) })
}

// add adds an object, unless it is there: what stands in several pods is asked for once.
func (c *checkAll) add(o object) {
	t := targetOf(o.Flight)
	if _, known := c.Places[t]; known {
		return
	}
	c.Places[t] = len(c.Objects)
	c.Todo = append(c.Todo, len(c.Objects))
	o.By = call.BySweep
	c.Objects = append(c.Objects, o)
}

// unlisted returns the objects that the node shows and that no pod lists, where lists hang or fail:
// one of them may hold them up.
func (m *Model) unlisted() (all []evidence.Object) {
	f, out := m.relistCall()
	hangs := out && f.Elapsed(m.now) >= m.lookAfter(f)
	if m.evidence == nil || !hangs && !m.asking.Search.Begun && m.known.Failure == nil {
		return nil
	}
	for _, o := range m.evidence.Objects() {
		if !m.pods.lists(o.ID) {
			all = append(all, o)
		}
	}
	return all
}

// asks returns the call that asks for an object of the node, named as far as the node or a listed
// pod names it.
func (m *Model) asks(o evidence.Object) call.Flight {
	f := call.Flight{Op: call.ContainerStatus, ID: o.ID, Container: o.Container, Pod: o.Pod}
	if o.Sandbox {
		f.Op, f.Container = call.PodSandboxStatus, ""
	}
	if p, known := m.pods.ByUID[f.Pod.UID]; known && f.Pod.Name == "" {
		f.Pod = p.PodRef
	}
	return f
}

// begin begins a check of all objects.
func (a *asking) begin(m *Model, unasked, forList bool) {
	a.Check, a.Last = m.newCheckAll(), m.now
	a.Check.Unasked, a.Check.ForList = unasked, forList
	a.looked(m)
	m.news = true
}

// checkAllAsked begins the check that somebody asked for, or says why not.
func (m *Model) checkAllAsked() {
	a := &m.asking
	switch why := m.calls.TooSlow(m.now); {
	case m.start.Once: // which has its own
	case a.Check.underWay():
		a.Check.Unasked, a.Check.ForList = false, false // it is theirs now, and stays
	case why != "":
		a.refuse(m, why)
	default:
		a.begin(m, false, false)
	}
}

// refuse notes why no check is begun.
func (a *asking) refuse(m *Model, why string) {
	a.Check = &checkAll{}
	a.Check.Began, a.Check.Ended, a.Check.Checked = m.now, m.now, m.now
	a.Check.Width, a.Check.Timeout, a.Check.Refused = probeWidth, m.start.CallTime, why
	m.news = true
}

// beginCheckForHang asks for every object, once, when a call of the relist hangs or its lists fail
// although the runtime answers otherwise. It finds the container whose status holds the lock that a
// list waits for, and what else hangs behind the one that holds up the relist.
func (m *Model) beginCheckForHang() {
	a := &m.asking
	if m.start.Once || m.kubelet.Paused() || a.Check.underWay() || m.now.Sub(a.Last) < checkEvery || !m.mayCheck() {
		return
	}
	f, out := m.relistCall()
	switch e := m.known.Failure; {
	case out && f.Elapsed(m.now) >= m.lookAfter(f):
		if !f.Since.Equal(a.Of) && (a.Round.clear(f) || m.core.ListedAt().IsZero() && a.Round.clearOfAll(f)) {
			a.Of = f.Since
			a.begin(m, true, f.Op.IsList())
		}
	case e != nil && a.Search.Over && !a.Of.After(e.First) && e.InRow >= 2 && !answers.IsAway(e.Err):
		a.Of = e.Since
		a.begin(m, true, false)
	}
}

// mayCheck reports whether each object can be asked for now: the runtime is quick enough, nothing
// more is about to be known, and there are objects.
func (m *Model) mayCheck() bool {
	return m.calls.TooSlow(m.now) == "" && !m.looks.holdsCheck(m.now) && (len(m.pods.ByUID) > 0 || len(m.unlisted()) > 0)
}

// next returns the object to ask for now.
func (c *checkAll) next(m *Model, now time.Time) (f call.Flight, found bool, at time.Time) {
	if c.stopped() || c.Out >= probeWidth || !c.underWay() && m.kubelet.Paused() || c.waits() {
		return f, false, time.Time{}
	}
	for _, place := range c.Todo {
		if retry := c.Nobody.Add(retryAfter); c.Objects[place].Failed && (c.Turned < c.Total || now.Before(retry)) {
			at = retry // a runtime that comes back needs a moment
			continue
		}
		f = c.Objects[place].Flight
		if _, busy := m.calls.InWay(f, now); !busy {
			f.By, f.Since = call.BySweep, time.Time{} // an outcome may be of somebody else's call
			return f, true, time.Time{}
		}
	}
	return call.Flight{}, false, at
}

// rank is the smaller the sooner an object is asked for.
func (o *object) rank() int {
	switch {
	case o.Failed:
		return 3
	case o.Suspect:
		return 0
	case o.Late:
		return 2
	}
	return 1
}

// waits reports whether nobody is asked now, until it is known whether the runtime is there.
func (c *checkAll) waits() bool {
	return c.Doubts && (c.Absent || c.DoubtAt.Sub(c.Heard) >= call.LateAfter)
}

func (c *checkAll) began(f call.Flight) {
	if o := c.at(f); o != nil {
		o.Out = true // Since is that of the last answer until the next one
		c.Out++
		c.drop(c.Places[targetOf(f)])
	}
}

// drop has an object not asked any more.
func (c *checkAll) drop(place int) {
	if i := slices.Index(c.Todo, place); i >= 0 {
		c.Todo = slices.Delete(c.Todo, i, i+1)
	}
}

func (c *checkAll) at(f call.Flight) *object {
	if c == nil {
		return nil
	}
	place, known := c.Places[targetOf(f)]
	if !known {
		return nil
	}
	return &c.Objects[place]
}
