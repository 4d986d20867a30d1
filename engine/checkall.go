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
	// againFirst is the time from the end of a check until it asks again for what hung or failed:
	// soon, since one failure may be chance. After that it asks every againPeriod, for againFor:
	// later nobody can use the answer. It asks for at most againMost objects at a time. If
	// all of these hang, four at once, that takes 14 s, so no answer gets older than call.FreshFor.
	againFirst  = time.Second
	againPeriod = 5 * time.Second
	againFor    = 5 * time.Minute
	againMost   = 28
	// checkEvery is the least time between two checks that nobody asked for. If calls hang for
	// seconds in relist after relist, not each of them begins a check.
	checkEvery = time.Minute
	// slowestKept is how many of the slowest answers are shown.
	slowestKept = 5
)

// A checkAll asks for every sandbox and container, a few at a time. Each call has its own deadline,
// so a stuck object does not hide the others. An object that hung or failed is asked again until it
// answers, for againFor at most.
type checkAll struct {
	answers.Sweep // without its lists, which result makes
	Objects       []object
	Unasked       bool      // plegtop began it by itself: a pause ends it
	ForList       bool      // it looks for the object that holds up a list
	Heard         time.Time // when the last answer came, good or not; the start of the check before that
	Nobody        time.Time // when a call last found no runtime; zero if none did
	Newest        time.Time // the latest start of a call that was answered
	DoubtAt       time.Time // when Status was last asked for because the whole runtime may be in trouble
	Doubts        bool      // that Status has not returned yet
	Absent        bool      // that Status was asked for because a call found no runtime, not because of silence
	Again         time.Time // when to ask again for what hung or failed; zero for never
	Places        map[target]int
	Todo          []int // places of the objects that are still to be asked, in this order
	Hanging       int   // how many have hung
	Turned        int   // how many were asked once; after all were, those that failed are asked again
	Out           int

	shown *answers.Sweep // what result returned last; nil when stale
}

// An object is one sandbox or container of a check.
type object struct {
	answers.Outcome
	asked
}

// An asked is what a check knows of an object besides its outcome.
type asked struct {
	SandboxID string // the sandbox of a container that only the node shows
	Late      bool   // the object has ended, so it is asked after the others
	Suspect   bool   // the node shows it in trouble, so it is asked before the others
	Unlisted  bool   // only the node shows it
	State     objectState
	Out       bool
	Failed    bool // it failed, and is asked once more
	Unsure    bool // it hung while the whole machine or runtime may have stalled
	Freed     bool // it hung, then answered when asked again: that call waited for the end of the hang
}

// An objectState says how an object answered.
type objectState uint8

const (
	unasked objectState = iota
	answered
	hung
	failed
)

// newCheckAll returns a check of the objects that pods list, and of those that only the node shows.
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

// sort puts Todo in the order in which the objects are asked.
func (c *checkAll) sort() {
	slices.SortStableFunc(c.Todo, func(a, b int) int { return cmp.Compare(c.Objects[a].rank(), c.Objects[b].rank()) })
}

// add adds an object, unless the check has it: an object that several pods list is asked once.
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

// unlisted returns the objects that the node shows and no pod lists. It returns none unless a
// relist hangs or lists fail: then one of these objects may be the cause.
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

// asks returns the status call for an object of the node. Its names come from the node or from a
// listed pod, as far as they are known.
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

// begin begins a check of all objects. unasked says that plegtop begins it by itself; forList says that it
// looks for the object that holds up a list.
func (a *asking) begin(m *Model, unasked, forList bool) {
	a.Check, a.Last = m.newCheckAll(), m.now
	a.Check.Unasked, a.Check.ForList = unasked, forList
	a.looked(m)
	m.news = true
}

// checkAllAsked begins the check that somebody asked for, or notes why it does not.
func (m *Model) checkAllAsked() {
	a := &m.asking
	switch why := m.calls.TooSlow(m.now); {
	case m.start.Once: // an examination has its own check
	case a.Check.underWay():
		a.Check.Unasked, a.Check.ForList = false, false // now somebody asked for it: it stays
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

// beginCheckForHang begins one check when a call of the relist hangs, or its lists fail, although
// the runtime answers other calls. The check finds the container whose status holds the lock that a
// list waits for. It also finds what else hangs behind the object that holds up the relist.
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

// mayCheck reports whether a check can begin now: the runtime is quick enough, no deep look is
// about to find more, and there are objects.
func (m *Model) mayCheck() bool {
	return m.calls.TooSlow(m.now) == "" && !m.looks.holdsCheck(m.now) && (len(m.pods.ByUID) > 0 || len(m.unlisted()) > 0)
}

// next returns the call for the object to ask now. If there is none, at is when a failed object may
// be asked again; zero if no such object waits.
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
			f.By, f.Since = call.BySweep, time.Time{} // the outcome may be that of another lane's call
			return f, true, time.Time{}
		}
	}
	return call.Flight{}, false, at
}

// rank orders the objects: a smaller rank is asked first.
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

// waits reports whether the check asks nothing now: it waits for Status, which shows whether the
// runtime is there.
func (c *checkAll) waits() bool {
	return c.Doubts && (c.Absent || c.DoubtAt.Sub(c.Heard) >= call.LateAfter)
}

func (c *checkAll) began(f call.Flight) {
	if o := c.at(f); o != nil {
		o.Out = true // until the next answer, Since is that of the last one
		c.Out++
		c.drop(c.Places[targetOf(f)])
	}
}

// drop takes an object out of Todo.
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
