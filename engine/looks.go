package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A Look looks at the node and returns what it saw. After an error, which is the cause of
// its context, it is not asked again.
type Look func(ctx context.Context, ask Looking) (*evidence.Report, error)

const (
	// lookPeriod is from the end of one look at the node to the next: a walk over all
	// its processes is not to be had for nothing.
	lookPeriod = 5 * time.Second
	// firstLook is how long after the start the first look is made, but by one that looks
	// once: the first lists, and the first frame of them, need the processors before.
	firstLook = 200 * time.Millisecond
	// secondLook is how long after the first look a second one tells whether a process
	// has moved.
	secondLook = time.Second
	// helperSoon is how long one that looks once waits at most for a helper to be late.
	helperSoon = 3 * time.Second
	// pendingWait is how long one waits for what the last look was still reading, and
	// pendingMost for how long one that looks once does so: who reads a verdict waits no
	// longer for a runtime that says nothing.
	pendingWait = 500 * time.Millisecond
	pendingMost = 3 * time.Second
)

// looks decides when somebody looks at the node, and how deep. The zero value never
// does.
type looks struct {
	passive
	can   bool // somebody can
	out   bool
	deep  bool // the last one, or the one that is out, is deep
	since time.Time
	next  time.Time // when the next one is due; zero for at once
	first time.Time
	into  time.Time // of the first deep one
	more  bool      // of one that looks once: another look tells more
	asked bool      // of one that looks once: what the first look missed was asked for, if it was anything
}

func newLooks(can bool, now time.Time, once bool) looks {
	l := looks{can: can}
	if !once {
		l.next = now.Add(firstLook)
	}
	return l
}

// A Looking asks for one look at the node.
type Looking struct {
	Deep   bool     // also for what is read only where something hangs, the report's Deep
	Missed []string // containers that are listed as running, by id, and had no process in the last look: who holds their root file systems is looked for
}

// missedMost is of how many containers that is looked for.
const missedMost = 10

// missedGrown is how old a container must have been in the last look: its processes may have come since.
const missedGrown = 10 * time.Second

// missed returns the containers that are listed as running and had no process in the last
// look, a few of them. Where as many have none as have one they live elsewhere.
func (m *machine) missed() (ids []string) {
	if m.evidence == nil || !m.evidence.Processes.Whole() {
		return nil
	}
	here := 0
	for _, p := range m.pods.byUID {
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

// advance asks for a look when it is time. Something that hangs is looked into at once.
// One that looks once does so a second time after a second where a first look cannot tell.
func (l *looks) advance(m *machine) {
	if !l.can || l.out || m.check.wasCut {
		return
	}
	l.askMissed(m)
	deep := m.hangs()
	switch at := l.nextAt(m); {
	case deep && !l.deep:
	case at.IsZero() && !l.since.IsZero(), m.now.Before(at):
		return
	}
	if l.first.IsZero() {
		l.first = m.now
	}
	if deep && l.into.IsZero() {
		l.into = m.now
	}
	l.out, l.deep, l.since = true, deep, m.now
	m.work.Look = &Looking{Deep: deep, Missed: m.missed()}
}

// nextAt returns when the next look is due by the clock; zero for one that looks once at
// the beginning, and where no other is needed. What hung when the last one was made, and
// hangs no more, is looked at again soon: what that look found accuses until the next one.
func (l *looks) nextAt(m *machine) time.Time {
	switch {
	case !l.can || l.out || m.policy.Once && !l.more:
		return time.Time{}
	case l.deep && !m.policy.Once && !m.hangs():
		return sooner(l.next, l.since.Add(secondLook))
	}
	return l.next
}

// busy reports whether there is more to come for one that looks once.
func (l *looks) busy(m *machine) bool { return l.can && (l.out || !l.nextAt(m).IsZero()) }

func (l *looks) fill(m *machine, s *Snapshot) { s.Evidence = m.evidence }

// took takes in a look, with what is to follow it.
func (l *looks) took(m *machine, in Looked) {
	l.out, l.can = false, l.can && !in.Ended
	l.next, l.more = m.now.Add(lookPeriod), false
	switch r := in.Report; {
	case r == nil:
	case r.Deep.Pending() && (!m.policy.Once || m.now.Sub(l.into) < pendingMost):
		l.next, l.more = m.now.Add(pendingWait), true
	case m.policy.Once:
		wait := tellsIn(r, m.now.Sub(l.first))
		l.next, l.more = m.now.Add(wait), wait > 0
	}
	if in.Report == nil {
		return
	}
	m.evidence, m.changed = in.Report, true
	m.nameSwept()
	m.sweep.prefer(m)
	if r, err := pleg.ParseRelease(in.Report.Kubelet.Version); err == nil && m.config.Follow {
		m.followed = r
	}
	l.askMissed(m)
}

// askMissed has one that looks once do so again at once where there are lists by now, and the look
// has missed a container. Later that look would be too far from the lists.
func (l *looks) askMissed(m *machine) {
	r := m.relists.now
	listed := m.relists.count > 0 || r != nil && r.listed
	if !m.policy.Once || l.asked || l.out || m.evidence == nil || !listed {
		return
	}
	if l.asked = true; len(m.missed()) > 0 {
		l.next, l.more = m.now, true
	}
}

// holdsSweep reports whether a sweep waits for what the look under way finds.
func (l *looks) holdsSweep(m *machine) bool {
	return l.out && l.deep && m.now.Before(l.since.Add(answers.LookFor))
}

// hangs reports whether something hangs that a deep look may explain, or the runtime is
// not there.
func (m *machine) hangs() bool {
	_, hangs := m.hung()
	return hangs || m.sweepTells() && (m.sweep.last.Accused() > 0 || m.sweep.last.GivenUp != "") || m.away() ||
		m.evidence != nil && slices.ContainsFunc(m.evidence.Processes.Helpers, isLate)
}

// away reports whether a list or Status found no runtime last: how often it was
// restarted, and what ended it, is seen by a deep look alone.
func (m *machine) away() bool {
	is := func(f *answers.Failure) bool { return f != nil && errors.Is(f.Err, call.ErrUnavailable) }
	return is(m.known.Failure) || is(m.known.StatusErr)
}

// isLate reports whether a helper of our runtime should have ended.
func isLate(p evidence.Process) bool {
	limit := p.HelperLimit()
	return p.Own && limit > 0 && p.Age >= limit
}

// hung returns the call of the relist that has been out for too long, if one has.
func (m *machine) hung() (call.Flight, bool) {
	f, out := m.calls.oldestOfRelist()
	return f, out && f.Elapsed(m.now) >= m.hungAge(f)
}

// hungAge is how long a call of the relist is out, to be taken for hung. Where no
// list has ever succeeded it is less: somebody has come to a sick node to see why. Where
// lists take seconds each time it is more: a large node is not looked into for that, but
// after 10 s, before somebody restarts what hangs, unless they take as long each time.
func (m *machine) hungAge(f call.Flight) time.Duration {
	after := m.policy.Bounds().LookAfter
	switch {
	case m.core.ListedAt().IsZero():
		return min(after, answers.Late)
	case f.Op.IsList():
		twice := m.table(m.now).TwiceUsual(f.Op)
		if twice < 2*answers.UsualMost {
			twice = min(twice, answers.UsualMost)
		}
		return max(after, twice)
	}
	return after
}

// due returns when the next look is due, the call of the relist that is out will hang, or a
// sweep that waits for a look waits no longer; zero if nothing of that is to come.
func (l *looks) due(m *machine) time.Time {
	due := l.nextAt(m)
	if l.holdsSweep(m) {
		due = sooner(due, l.since.Add(answers.LookFor))
	}
	f, out := m.calls.oldestOfRelist()
	if at := f.Since.Add(m.hungAge(f)); out && at.After(m.now) {
		due = sooner(due, at)
	}
	return due
}

// tellsIn returns how long after a look a second one tells what the first could not, if
// that is so: whether a process is stuck or just at work, for each is in uninterruptible
// sleep for a moment now and then, and runc freezes a container to change its limits;
// whether a helper ends that soon should have. A kubelet may be busy for once. Some time after the first look only a helper
// is waited for; 0 if there is nothing to wait for.
func tellsIn(r *evidence.Report, since time.Duration) time.Duration {
	var wait time.Duration
	for _, p := range r.Processes.Helpers {
		if left := p.HelperLimit() - p.Age; p.Own && p.Age >= secondLook && left > 0 && left < helperSoon-since {
			wait = max(wait, left)
		}
	}
	if since >= secondLook {
		return wait
	}
	busy := func(p evidence.Process) bool {
		return (p.State == evidence.Uninterrupted || p.State == evidence.Frozen) && p.For < secondLook
	}
	p := r.Processes
	all := slices.AppendSeq([][]evidence.Process{p.Shims, p.Helpers, p.Daemons}, maps.Values(p.Containers))
	if slices.ContainsFunc(all, func(of []evidence.Process) bool { return slices.ContainsFunc(of, busy) }) ||
		r.Kubelet.Ping.TimedOut {
		wait = max(wait, secondLook)
	}
	return wait
}
