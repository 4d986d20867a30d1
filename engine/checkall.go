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

// asked is what has to be known of an object beside its last outcome.
type asked struct {
	SandboxID string // in which a container is, of one that only the node shows
	Late      bool   // it is asked for after the others: it has ended
	Suspect   bool   // it is asked for before the others: the node shows it in trouble
	Unlisted  bool   // only the node shows it
	State     objectState
	Out       bool
	Failed    bool // it failed, and is asked for once more
	Unsure    bool // it hung while everything may have stalled
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

// underWay reports whether not all have been asked. The nil checkAll is not.
func (c *checkAll) underWay() bool { return c != nil && c.Ended.IsZero() }

// stopped reports whether nobody is asked any more: nobody could be, or was to be.
func (c *checkAll) stopped() bool {
	return c == nil || c.Refused != "" || c.GivenUp != "" || c.Canceled || c.CutOff
}

// next returns the object to ask for now.
func (c *checkAll) next(m *Model, now time.Time) (f call.Flight, found bool, at time.Time) {
	if c.stopped() || c.Out >= probeWidth || !c.underWay() && m.kubelet.Paused() || c.waits(now) {
		return f, false, time.Time{}
	}
	for _, place := range c.Todo {
		if retry := c.Nobody.Add(retryAfter); c.Objects[place].Failed && (c.Turned < c.Total || now.Before(retry)) {
			at = retry // a runtime that comes back needs a moment
			continue
		}
		f = c.Objects[place].Flight
		if _, busy := m.calls.InWay(f, now); !busy {
			f.Since = time.Time{}
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
func (c *checkAll) waits(now time.Time) bool {
	return c.Doubts && (c.Absent || c.DoubtAt.Sub(c.Heard) >= call.LateAfter)
}

func (c *checkAll) began(f call.Flight) {
	if o := c.at(f); o != nil {
		if o.Out = true; o.State != hung { // else it hangs since before that
			o.Since = f.Since
		}
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

// answered takes in what came of the call about one object.
func (c *checkAll) answered(m *Model, a *answer) {
	o := c.at(a.Flight)
	if o == nil || !o.Out {
		return
	}
	c.shown = nil
	c.Out--
	o.Out = false
	m.keepForClose(a)
	now, was := outcomeOf(a), o.Outcome
	now.Pod, now.Container = was.Pod, was.Container // by the names that have become known since
	state := stateOf(now, c.Timeout)
	switch {
	case answers.IsAway(now.Err):
		c.Nobody = now.At
	case state != hung:
		c.Heard = now.At
	}
	c.take(m, o, now, state)
	if v := a.Answer.Sandbox; v != nil {
		c.name(func(f call.Flight, sandboxID string) (pod pleg.PodRef, _ string) {
			if sandboxID == v.ID || f.ID == v.ID || f.Pod.UID != "" && f.Pod.UID == v.Pod.UID {
				pod = v.Pod
			}
			return pod, ""
		})
	}
}

// take takes in what came of an object.
func (c *checkAll) take(m *Model, o *object, now answers.Outcome, state objectState) {
	c.shown = nil
	if c.underWay() && !o.Failed {
		c.Turned++
	}
	switch {
	case !c.underWay():
		o.again(now, state)
	case state == failed && !o.Failed:
		o.Outcome, o.Failed = now, true
		c.Todo = append(c.Todo, c.Places[targetOf(now.Flight)]) // once more when all others have had their turn
	default:
		c.Done++
		o.Outcome, o.State = now, state
		c.count(o)
		if state == hung {
			c.Hanging++
			o.InRow, o.Unsure = 1, m.stalls() && c.Newest.Before(o.Since)
		}
	}
}

func stateOf(o answers.Outcome, timeout time.Duration) objectState {
	switch {
	case o.Err == nil || call.KindOf(o.Err) == call.ErrNotFound:
		return answered
	case answers.TimedOut(o.Err, o.Took, timeout):
		return hung
	}
	return failed
}

// again takes in that an object was asked for anew. One that answers is well.
func (o *object) again(now answers.Outcome, state objectState) {
	if answers.IsAway(now.Err) { // nobody was there to ask
		return
	}
	row, took, since := o.InRow+1, max(o.Took, now.Took), o.Since
	o.Outcome, o.State, o.Unsure = now, state, false
	if state == hung {
		o.InRow, o.Took, o.Since = row, took, since
	}
}

// count counts what one answer cost.
func (c *checkAll) count(o *object) {
	if o.State != answered {
		return
	}
	c.Serial += o.Took
	c.Newest = latest(c.Newest, o.Since)
	if o.Failed {
		c.Flaky++
	}
	if o.Err == nil && (c.Quickest == 0 || o.Took < c.Quickest) {
		c.Quickest = o.Took
	}
}

// plan ends a check that has nobody left to ask, or is to ask nobody, and begins to ask anew.
func (c *checkAll) plan(m *Model) {
	c.share(m)
	switch {
	case c.stopped():
	case c.underWay():
		if c.Done == c.Total {
			c.end(m.now)
			m.news = true
			if m.start.Once { // at once: a stall that passes accuses nobody
				c.Again = m.now
			}
		} else if c.Done >= 2*c.Width && c.Done <= 3*c.Width && c.Hanging == c.Done && !m.start.Once {
			c.CutOff = true // it is not single objects that hang
			c.end(m.now)
		} else {
			c.doubt(m)
			c.statusHangs(m)
		}
	case c.Out == 0 && m.mayBeStall() && !c.Again.IsZero() && !m.now.Before(c.Again) && !m.kubelet.Paused():
		c.askAnew(m)
	}
}

// share takes a call of somebody else that is out for an object for its own, once that hangs: nobody
// asks for one object twice.
func (c *checkAll) share(m *Model) {
	if c.stopped() || len(c.Todo) == 0 {
		return
	}
	for _, f := range m.calls.Flights() {
		o := c.at(f)
		if f.By == call.BySweep || o == nil || f.Elapsed(m.now) < c.Timeout || !slices.Contains(c.Todo, c.Places[targetOf(f)]) {
			continue
		}
		c.drop(c.Places[targetOf(f)])
		out := answers.Outcome{Flight: f, At: m.now, Took: f.Elapsed(m.now), Err: outOfTurn(f.Op)}
		c.take(m, o, out, hung)
	}
}

// doubt asks for Status where what came of the check, or did not, can be the fault of the whole
// runtime and not of the objects.
func (c *checkAll) doubt(m *Model) {
	last := m.now.Sub(c.DoubtAt) // very long if there was none
	nobody := c.Nobody.After(c.DoubtAt) && last >= retryAfter
	silent := m.now.Sub(c.Heard) >= call.LateAfter && last >= c.Timeout
	first := c.DoubtAt.IsZero() && c.Hanging >= c.Width
	if !c.Doubts && (nobody || silent || first) {
		c.Doubts, c.DoubtAt, c.Absent = true, m.now, nobody
		m.askStatus()
	}
}

// statusOf takes in a Status that has returned. If it did not come either, and nothing else since it
// was asked for in doubt, the check is given up.
func (c *checkAll) statusOf(m *Model, a *answer) {
	if !c.underWay() || !c.Doubts {
		return
	}
	gone := answers.IsAway(errorOf(a.Err))
	if e := m.known.StatusErr; gone && m.start.Once && e != nil && e.InRow <= retries {
		return // it is asked once more
	}
	c.Doubts = false
	silent := c.DoubtAt.Sub(c.Heard) >= call.LateAfter
	switch {
	case gone && (c.Absent || silent):
		c.giveUp(m.now, wentAway)
	case silent && ranOut(a.Err, a.took(), call.LateAfter):
		c.giveUp(m.now, silentToo)
	case silent:
		c.Heard = m.now
	}
}

// statusHangs gives the check up where the Status of somebody else has been out for too long.
func (c *checkAll) statusHangs(m *Model) {
	f, out := m.calls.InWay(call.Flight{Op: call.Status}, m.now)
	if c.Doubts && out && c.DoubtAt.Sub(c.Heard) >= call.LateAfter && f.Elapsed(m.now) >= call.HungAfter && m.now.Sub(c.DoubtAt) >= call.LateAfter {
		c.Doubts = false
		c.giveUp(m.now, silentToo)
	}
}

// end ends the check, complete or not.
func (c *checkAll) end(at time.Time) {
	c.Ended, c.Checked, c.Again = at, at, at.Add(againFirst)
	c.Todo, c.shown = nil, nil
}

// giveUp ends a check of a runtime that answers nothing any more, and takes back what it may have
// found only for that: an object that hung alone was outrun by one call for each that may be out at
// once, all begun later and answered.
func (c *checkAll) giveUp(at time.Time, why string) {
	c.end(at)
	var begun []time.Time
	for i := range c.Objects {
		if o := &c.Objects[i]; o.State == answered {
			begun = append(begun, o.Since)
		}
	}
	slices.SortFunc(begun, func(a, b time.Time) int { return b.Compare(a) })
	for i := range c.Objects {
		o := &c.Objects[i]
		if outrun := len(begun) >= c.Width && o.Since.Before(begun[c.Width-1]); o.State == hung && !outrun {
			o.State = unasked
			c.Done--
		}
	}
	if c.Done < c.Total {
		c.CutOff, c.GivenUp = true, why
	}
}

// askAnew asks once more for those that hung or failed, those asked longest ago first.
func (c *checkAll) askAnew(m *Model) {
	bad := c.bad()
	if len(bad) == 0 || m.now.After(c.Ended.Add(againFor)) {
		c.Again = time.Time{}
		return
	}
	c.Again = m.now.Add(m.againPeriod())
	if m.calls.TooSlow(m.now) != "" && !m.start.Once {
		return
	}
	c.Checked, c.shown = m.now, nil
	slices.SortStableFunc(bad, func(a, b *object) int { return a.At.Compare(b.At) })
	c.Todo = c.Todo[:0]
	for _, o := range bad[:min(len(bad), againMost)] {
		c.Todo = append(c.Todo, c.Places[targetOf(o.Flight)])
	}
}

// mayBeStall reports whether what hangs may be a stall that passes, so that it is asked for anew. An
// examination does not do so where a list hangs or fails as well.
func (m *Model) mayBeStall() bool {
	return !m.start.Once || m.known.Failure == nil && m.asking.Search.Ahead == (call.Flight{})
}

// againPeriod is from one asking of what hung to the next.
func (m *Model) againPeriod() time.Duration {
	if m.start.Once {
		return againFirst
	}
	return againPeriod
}

// heardOf takes in that somebody else was answered for an object: it need not be asked anew.
func (c *checkAll) heardOf(a *answer) {
	if c == nil || c.underWay() {
		return
	}
	if o := c.at(a.Flight); o != nil && (o.State == hung || o.State == failed) && stateOf(outcomeOf(a), c.Timeout) == answered {
		o.again(outcomeOf(a), answered)
		c.drop(c.Places[targetOf(a.Flight)])
		c.shown = nil
	}
}

// bad returns what hung or failed.
func (c *checkAll) bad() (all []*object) {
	for i := range c.Objects {
		if o := &c.Objects[i]; o.State == hung || o.State == failed {
			all = append(all, o)
		}
	}
	return all
}

// hangs reports whether an object hangs.
func (c *checkAll) hangs() bool {
	return c != nil && slices.ContainsFunc(c.Objects, func(o object) bool { return o.State == hung })
}

// accused returns how many objects hang, as far as that is their own doing.
func (c *checkAll) accused() (n int) {
	if c == nil {
		return 0
	}
	for i := range c.Objects {
		if o := &c.Objects[i]; o.State == hung && !o.Unsure {
			n++
		}
	}
	return n
}

// accuses reports whether the last check found what hangs, or a runtime that does not answer, and
// that may still be so.
func (a *asking) accuses(m *Model, now time.Time) bool {
	c := a.Check
	fresh := c != nil && (c.underWay() || m.start.Once || now.Sub(c.Checked) <= 3*againPeriod)
	return fresh && (c.accused() > 0 || c.GivenUp != "")
}

// stalls reports whether it may be the whole machine or runtime that stalls.
func (m *Model) stalls() bool {
	r := m.evidence
	pressed := r != nil && r.Pressure.Missing == "" && max(r.Pressure.CPU.Some10, r.Pressure.IO.Some10) >= answers.BusyShare
	return pressed || m.table().Stalled(m.now)
}

// cancel ends the check that is under way, if there is one.
func (a *asking) cancel(m *Model) {
	if a.Check.underWay() {
		a.Check.end(m.now)
		a.Check.Canceled = true
		m.news = true
	}
}

// paused ends what nobody asked for.
func (a *asking) paused(m *Model) {
	if a.Check.underWay() && a.Check.Unasked {
		a.Check.end(m.now)
		a.Check.CutOff = true
	}
}

// looked takes in a look at the node: it names what no list has, and says whom to ask first.
func (a *asking) looked(m *Model) {
	if m.evidence == nil || a.Check == nil {
		return
	}
	c := a.Check
	suspects := m.evidence.Processes.Suspects()
	for i := range c.Objects {
		c.Objects[i].Suspect = suspects[c.Objects[i].ID]
	}
	c.sort()
	if m.evidence.Deep == nil {
		return
	}
	known := make(map[target]call.Flight)
	for _, o := range m.evidence.Objects() {
		f := m.asks(o)
		known[targetOf(f)] = f
	}
	c.name(func(f call.Flight, _ string) (pleg.PodRef, string) {
		shown := known[targetOf(f)]
		return shown.Pod, shown.Container
	})
}

// name names what no list has and lacks a name, by what find knows of it.
func (c *checkAll) name(find func(f call.Flight, sandboxID string) (pod pleg.PodRef, container string)) {
	for i := range c.Objects {
		o := &c.Objects[i]
		if !o.Unlisted || o.Pod.Name != "" && (o.Container != "" || o.Op == call.PodSandboxStatus) {
			continue
		}
		pod, container := find(o.Flight, o.SandboxID)
		if o.Pod.Name == "" && pod != (pleg.PodRef{}) {
			o.Pod = pod
		}
		o.Container = cmp.Or(o.Container, container)
		c.shown = nil
	}
}

// due returns when there is something to do though nothing is observed.
func (c *checkAll) due(m *Model) time.Time {
	switch {
	case c.stopped():
		return time.Time{}
	case !c.underWay():
		return c.Again
	case c.Doubts:
		return time.Time{}
	}
	return latest(c.Heard.Add(call.LateAfter), c.DoubtAt.Add(c.Timeout))
}

// result returns the check as it is now. It is never changed.
func (c *checkAll) result() *answers.Sweep {
	if c.shown != nil {
		return c.shown
	}
	r := c.Sweep
	var well []*object
	for i := range c.Objects {
		switch o := &c.Objects[i]; {
		case o.Unsure:
		case o.State == hung:
			r.Hung = append(r.Hung, o.Outcome)
		case o.State == failed:
			r.Failed = append(r.Failed, o.Outcome)
		case o.State == answered && o.Err == nil:
			well = append(well, o)
		case o.State == answered && o.Unlisted:
			r.Unknown = append(r.Unknown, o.Outcome)
		}
	}
	slices.SortStableFunc(well, func(a, b *object) int { return cmp.Compare(b.Took, a.Took) })
	for _, o := range well[:min(len(well), slowestKept)] {
		r.Slowest = append(r.Slowest, o.Outcome)
	}
	c.shown = &r
	return c.shown
}
