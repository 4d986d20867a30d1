package engine

import (
	"context"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A Look looks at the node and returns what it saw. Its error is the cause of its context. After an
// error it is not called again.
type Look func(ctx context.Context, ask Looking) (*evidence.Report, error)

// A Looking asks for one look at the node.
type Looking struct {
	Deep bool // also make the report's Deep, which is read only where something hangs
	// Missed has the ids of containers that are listed as running, but had no process in the last
	// look. The look searches who holds their root file systems.
	Missed []string
}

const (
	// lookPeriod is the time from the end of one look at the node to the next. A look walks over
	// all processes, and that costs something.
	lookPeriod = 5 * time.Second
	// firstLook is the time from the start to the first look. Before it, the first lists and their
	// first frame need the processors.
	firstLook = 200 * time.Millisecond
	// secondLook is the time from the first look until a second one can show whether a process has
	// moved.
	secondLook = time.Second
	// soon is how long an examination waits at most: until a helper is late, or until what a process does
	// surely does not pass by itself. For a traced process that takes 2 s.
	soon = 3 * time.Second
	// pendingWait is the time to the next look if the last one was still reading something. An
	// examination waits in this way for at most pendingMost.
	pendingWait = 500 * time.Millisecond
	pendingMost = 3 * time.Second
	// lookFor is how long a check of all objects waits for a deep look.
	lookFor = 500 * time.Millisecond

	// missedMost is the most containers without a process for which a look searches who holds their
	// root.
	missedMost = 10
	// missedGrown is the least age of such a container at the last look: a younger one may have got
	// its processes since.
	missedGrown = 10 * time.Second
)

// A lookLane looks at the node itself.
type lookLane struct{ *hub }

func (l lookLane) run(ctx context.Context) {
	for {
		var ask Looking
		if !l.await(ctx, func(m *Model, now time.Time) (found bool, at time.Time) {
			if ask, found, at = m.nextLook(now); found {
				l.apply(Marked{LookBegan{ask}})
			}
			return found, at
		}) {
			return
		}
		report, err := l.config.Look(ctx, ask)
		if err != nil {
			report = nil
		}
		l.observe(Looked{Report: report, Ended: err != nil})
		if err != nil {
			return
		}
	}
}

// looks says when the next look at the node is due, and how deep the last one was.
type looks struct {
	Can   bool // looks at the node can be made
	Out   bool
	Deep  bool // the last look, or the one that is out, is deep
	Since time.Time
	Next  time.Time // when the next one is due; zero for at once
	First time.Time
	Into  time.Time // start of the first deep look
	More  bool      // in an examination: another look will show more
	Asked bool      // in an examination: a look for what the first one missed was made, or was not needed
}

func newLooks(s Start) looks {
	l := looks{Can: s.Looks}
	if !s.Once {
		l.Next = s.At.Add(firstLook)
	}
	return l
}

// nextLook returns the look to make now, if one is due. If something hangs, a deep look is due at
// once.
func (m *Model) nextLook(now time.Time) (ask Looking, found bool, at time.Time) {
	l := &m.looks
	if !l.Can || l.Out || m.closed {
		return Looking{}, false, time.Time{}
	}
	deep := m.hangs(now)
	switch at = l.nextAt(m, deep); {
	case deep && !l.Deep:
	case at.IsZero() && !l.Since.IsZero():
		return Looking{}, false, time.Time{}
	case now.Before(at):
		return Looking{}, false, sooner(at, m.hangsAt(now))
	}
	return Looking{Deep: deep, Missed: m.missed()}, true, time.Time{}
}

// nextAt returns when the next look is due by the clock. If there was no look yet, zero means at once; after
// that it means that no other look is needed. If something hung at the last look and hangs no more, the next
// look comes soon, because until then the findings of the last one stand.
func (l *looks) nextAt(m *Model, hangs bool) time.Time {
	switch {
	case m.start.Once && !l.More:
		return time.Time{}
	case l.Deep && !m.start.Once && !hangs:
		return sooner(l.Next, l.Since.Add(secondLook))
	}
	return l.Next
}

func (l *looks) began(m *Model, ask Looking) {
	if l.First.IsZero() {
		l.First = m.now
	}
	if ask.Deep && l.Into.IsZero() {
		l.Into = m.now
	}
	l.Out, l.Deep, l.Since = true, ask.Deep, m.now
}

// busy reports whether an examination waits for a look.
func (l *looks) busy() bool { return l.Can && (l.Out || l.More) }

// holdsCheck reports whether a check of all objects waits for the deep look under way.
func (l *looks) holdsCheck(now time.Time) bool {
	return l.Out && l.Deep && now.Before(l.Since.Add(lookFor))
}

// looked takes in a look, and sets when the next one is due.
func (m *Model) looked(o Looked) {
	l := &m.looks
	l.Out, l.Can = false, l.Can && !o.Ended
	l.Next, l.More = m.now.Add(lookPeriod), false
	if o.Report == nil {
		return
	}
	switch r := o.Report; {
	case r.Deep.Pending() && (!m.start.Once || m.now.Sub(l.Into) < pendingMost):
		l.Next, l.More = m.now.Add(pendingWait), true
	case m.start.Once:
		wait := showsIn(r, m.now.Sub(l.First))
		l.Next, l.More = m.now.Add(wait), wait > 0
	}
	m.evidence, m.news = o.Report, true
	m.memory.Looked(o.Report, m.pods.running)
	m.asking.looked(m)
	if r, err := pleg.ParseRelease(o.Report.Kubelet.Version); err == nil && m.start.Follow {
		m.follows = r
	}
	m.askMissed()
}

// askMissed makes an examination look once more, at once, if the lists have come and the look has
// missed a container. Later that look would be too far from the lists.
func (m *Model) askMissed() {
	l, r := &m.looks, m.relists.Now
	listed := m.relistedOnce() || r != nil && r.Listed
	if !m.start.Once || l.Asked || l.Out || m.evidence == nil || !listed {
		return
	}
	if l.Asked = true; len(m.missed()) > 0 {
		l.Next, l.More = m.now, true
	}
}

// missed returns some of the containers that are listed as running but had no process in the last
// look. It returns none if fewer than half had one: then they live elsewhere.
func (m *Model) missed() (ids []string) {
	if m.evidence == nil || !m.evidence.Processes.Whole() {
		return nil
	}
	here := 0
	for _, p := range m.pods.ByUID {
		if p.Status != nil && len(p.Status.Sandboxes) > 0 && knowledge.RunsElsewhere(p.Status.Sandboxes[0].Handler, "") {
			continue
		}
		for _, c := range p.Seen().Containers {
			switch {
			case c.State != pleg.Running, c.CreatedAt.After(m.evidence.At.Add(-missedGrown)):
			case m.evidence.Processes.Live(c.ID):
				here++
			default:
				ids = append(ids, c.ID)
			}
		}
	}
	if len(ids) > here {
		return nil
	}
	slices.Sort(ids)
	return ids[:min(len(ids), missedMost)]
}

// hangs reports whether something hangs that a deep look may explain, or whether the runtime is not there.
func (m *Model) hangs(now time.Time) bool {
	if f, out := m.relistCall(); out && f.Elapsed(now) >= m.lookAfter(f) {
		return true
	}
	return m.asking.accuses(m, now) || m.away() ||
		m.evidence != nil && slices.ContainsFunc(m.evidence.Processes.Helpers, isLate)
}

// hangsAt returns when the call of the relist that is out will count as hanging; zero if none is
// out, or if it already does.
func (m *Model) hangsAt(now time.Time) time.Time {
	f, out := m.relistCall()
	if at := f.Since.Add(m.lookAfter(f)); out && at.After(now) {
		return at
	}
	return time.Time{}
}

// lookAfter returns how long a call of the relist must be out before a deep look is made. The time is shorter
// if no list has ever succeeded: then somebody wants to know why the node is sick. It is longer if lists take
// seconds each time. A large node gets no deep look for that, but it gets one after 10 s, or after 20 s if 10 s
// are usual there.
func (m *Model) lookAfter(f call.Flight) time.Duration {
	after := call.HungAfter
	if m.start.Once || m.core.ListedAt().IsZero() {
		return call.LateAfter
	}
	if f.Op.IsList() {
		twice := m.table().TwiceUsual(f.Op)
		if twice < 2*call.UsualMost {
			twice = min(twice, call.UsualMost)
		}
		return max(after, twice)
	}
	return after
}

// away reports whether the last list or Status found no runtime. Only a deep look shows how often
// the runtime was restarted, and what ended it.
func (m *Model) away() bool {
	away := func(f *answers.Failure) bool { return f != nil && answers.IsAway(f.Err) }
	return away(m.known.Failure) || away(m.known.StatusErr)
}

// isLate reports whether a helper of our runtime should have ended by now.
func isLate(p evidence.Process) bool {
	return p.Own && p.IsLate(false)
}

// showsIn returns how long after a look of an examination a second one can show more; 0 if there is nothing to
// wait for. Each process is in uninterruptible sleep for a moment now and then, and runc freezes a container to
// change its limits: a second look shows whether a process is stuck or just at work. It also shows whether a
// helper ends that should end soon, whether a kubelet was only busy once, and whether a disk has answered anything
// meanwhile. Later than secondLook after the
// first look, the examination only waits for what will be sure before soon.
func showsIn(r *evidence.Report, since time.Duration) time.Duration {
	var wait time.Duration
	for _, p := range r.Processes.Helpers {
		if left := p.HelperLimit() - p.Age; p.Own && p.Age >= secondLook && left > 0 && left < soon-since {
			wait = max(wait, left)
		}
	}
	if since < secondLook && r.Kubelet.Ping.TimedOut {
		wait = max(wait, secondLook)
	}
	around := evidence.LookAround(r, true)
	nameless := false // a process stands still in the kernel, and nothing shows for what it waits
	judge := func(all []evidence.Process, as evidence.Role) {
		for i := range all {
			d := around.Doing(&all[i], as)
			nameless = nameless || d.InKernel() && r.FileSystem(&all[i]) == (evidence.Mount{}) && around.StoreSign() == evidence.NoSign
			if d.Sure || d.SureAfter() == 0 || d.What == evidence.IsDead {
				continue
			}
			if left := d.SureAfter() - d.For; left < soon-since {
				wait = max(wait, left)
			} else if since < secondLook {
				wait = max(wait, secondLook)
			}
		}
	}
	judge(r.Processes.Shims, evidence.AsMonitor)
	judge(r.Processes.Helpers, evidence.AsHelper)
	judge(r.Processes.Daemons, evidence.AsRuntime)
	for _, inside := range r.Processes.Containers {
		judge(inside, evidence.AsWorkload)
	}
	for _, d := range r.Devices { // a device that is dead would be the reason
		if left := d.DeadIn(); nameless && left < soon-since {
			wait = max(wait, left)
		}
	}
	return wait
}
