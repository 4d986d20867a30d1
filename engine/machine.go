package engine

import (
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/podworker"
)

// A callID numbers the calls of one machine, from 1 on.
type callID uint64

// A Call is one that the shell is to make: at once, with that deadline.
type Call struct {
	ID callID
	Flight
	Timeout time.Duration
	Raw     bool // the answer is wanted as JSON
}

// An Input is all that can happen to a machine. The inputs in their order, with
// their times, are the whole of what an engine goes by: the same again give the
// same snapshots, events and calls.
type Input interface{ input() }

// Returned says that a call has returned.
type Returned struct {
	ID     callID
	At     time.Time  // when it did
	Answer any        // what [Runtime] says of the method; nil with an error
	Trace  call.Trace // as the transport has filled it in
	Err    error
}

// Looked is a look at the node; Ended says that there will be no more.
type Looked struct {
	Report *evidence.Report // nil if there is nothing to be seen
	Ended  bool
}

// Worked is what a kubelet that can be asked says of its pod workers.
type Worked struct{ Workers podworker.Workers }

// Tick says that time has passed.
type Tick struct{}

// Halt says that nobody wants to see more.
type Halt struct{}

func (Returned) input() {}
func (requests) input() {}
func (Looked) input()   {}
func (Worked) input()   {}
func (Tick) input()     {}
func (Halt) input()     {}

// Work is what a step asks of the shell, and what it has to tell.
type Work struct {
	Make    []Call   // to be made at once, side by side
	Look    *Looking // to be done beside; nil for none
	Open    []Source // event sources whose stream is to be opened
	Close   []Source // and those whose stream is to be ended
	End     []callID // to be ended: nobody wants their answers any more
	Events  []Event  // in order, numbered
	Replies []reply  // to requests for raw answers
}

// A machine decides everything that an engine does: which call is made when, what
// its answer means, what there is to see. It makes no call, reads no clock and
// starts no goroutine: equal inputs in equal order give equal snapshots, events and
// calls. It belongs to one goroutine.
//
// Its parts stand in files of their own; each has what it needs to know between
// two steps, and a due that says when it has something to do though nothing happens.
type machine struct {
	config Config
	policy Policy
	core   *pleg.Core // of the kubelet's PLEG
	now    time.Time  // of the step under way

	calls     calls
	relists   relists
	status    statusLoop
	kubelet   kubelet
	probes    probes
	search    search
	sweep     *sweep // the last one, or the one under way; nil if there was none
	recheck   recheck
	check     check
	mode      mode
	pods      pods
	events    events
	networks  networks
	sources   sources
	sightings sightings
	workers   workers

	started  time.Time
	period   time.Duration
	pause    pause
	wanted   wanted // asked for and not done yet
	evidence *evidence.Report
	looks    looks
	followed pleg.Release // of the node's kubelet, from the next relist on; 0 for the same
	replies  []reply
	changed  bool // something that people should see at once
}

func newMachine(c Config, p Policy, now time.Time) (*machine, error) {
	c.Mode = p.mode(c)
	core, err := pleg.New(pleg.Config{Release: c.Release, Mode: c.Mode, Capacity: c.Capacity, Threshold: c.Threshold})
	if err != nil {
		return nil, err
	}
	m := &machine{
		config: c, policy: p, core: core, now: now, started: now, period: c.Period,
		calls:   calls{sums: newSums(now), short: p.silence()},
		relists: relists{nextAt: now},
		status:  statusLoop{nextAt: now},
		kubelet: newKubelet(now, p.Once),
		pods:    pods{byUID: make(map[pleg.UID]*Pod)},
		sources: newSources(c, p, core.Mode(), now),
		workers: newWorkers(core),
		looks:   looks{can: c.Look != nil},
		changed: true,
	}
	m.check.begin(now, p)
	return m, nil
}

// step takes in what has happened and returns what is to be done. Time never goes
// back.
func (m *machine) step(now time.Time, in Input) Work {
	m.now = now
	switch in := in.(type) {
	case Returned:
		m.calls.returned(in)
	case requests:
		m.request(in)
	case Looked:
		m.looked(in)
	case Worked:
		m.workers.told = in.Workers
	case Streamed:
		m.sources.heard(m, in)
	case StreamEnded:
		m.sources.ended(m, in)
	case Halt:
		m.sources.held = true
		m.cancelSweep()
		m.check.stop(m)
	}
	m.advance()
	return m.work()
}

// advance goes on with everything as far as that goes now. What an answer leads to
// may be answered at once, too: by its like, which is out already.
func (m *machine) advance() {
	for {
		m.handOut()
		m.looks.advance(m)
		m.kubelet.judge(m)
		m.sources.advance(m)
		m.mode.advance(m)
		m.relists.advance(m)
		m.networks.advance(m)
		m.sightings.advance(m)
		m.workers.advance(m)
		m.status.advance(m)
		m.probes.advance(m)
		m.search.advance(m)
		m.advanceSweep()
		m.check.advance(m)
		m.calls.advance(m.now)
		if len(m.calls.done) == 0 {
			return
		}
	}
}

// handOut gives each answer to whoever wanted it.
func (m *machine) handOut() {
	m.calls.handing, m.calls.done = m.calls.done, nil
	for i := range m.calls.handing {
		a := &m.calls.handing[i]
		if a.dropped {
			continue
		}
		switch a.to {
		case ByRelist:
			m.relists.answered(m, a)
		case ByStatusLoop:
			m.status.answered(m, a)
		case ByProbe:
			m.probes.answered(m, a)
		case BySearch:
			m.search.answered(a)
		case BySweep:
			m.sweepAnswered(a)
		case ByRequest:
			m.replies = append(m.replies, reply{number: a.tag, answer: a.value, err: a.err})
		}
	}
}

func (m *machine) looked(in Looked) {
	m.looks.took(m, in)
	if in.Report != nil {
		m.evidence, m.changed = in.Report, true
		m.nameSwept()
		if r, err := pleg.ParseRelease(in.Report.Kubelet.Version); err == nil && m.config.Follow {
			m.followed = r
		}
	}
}

// work returns what has gathered since the last step.
func (m *machine) work() Work {
	w := Work{
		Make: m.calls.started, Look: m.looks.wanted, End: m.calls.ended, Events: m.events.released, Replies: m.replies,
		Open: m.sources.open, Close: m.sources.end,
	}
	m.calls.started, m.looks.wanted, m.calls.ended, m.events.released, m.replies = nil, nil, nil, nil, nil
	m.sources.open, m.sources.end = nil, nil
	return w
}

// due returns when to step though nothing comes; zero for never.
func (m *machine) due() time.Time {
	var due time.Time
	for _, at := range []time.Time{
		m.calls.due(), m.relists.due(m), m.status.due(m), m.kubelet.due(m), m.kubelet.poster.due(m), m.probes.due(m),
		m.search.due(), m.sweepDue(), m.check.due(), m.looks.due(m), m.hungDue(), m.networks.due(m), m.mode.due(m), m.sources.due(), m.sightings.due(m),
	} {
		due = sooner(due, at)
	}
	return due
}

// snapshot returns all that there is to see as of now. Seq and Cost are the
// shell's: they are about plegtop, not about the node.
func (m *machine) snapshot(now time.Time) *Snapshot {
	s := &Snapshot{
		At: now, Started: m.started, Policy: m.policy,
		Release: m.config.Release, Period: m.relistPeriod(), Threshold: m.core.Threshold(), Timeout: m.config.Timeout,
		Paused: m.pause.on, Resumed: m.pause.ended,
		Health:  m.kubelet.health(m, now),
		Node:    m.kubelet.node(m, now),
		Phase:   m.relists.phase(m, now),
		Relists: m.relists.sum(),
		Failure: m.relists.failure, PodFailure: m.relists.podFailure, Partial: m.search.partial, Beside: m.search.beside, Holders: m.search.holders(),
		InFlight: m.calls.flights(), Calls: m.calls.sums.read(now),
		Version: m.status.version, VersionErr: m.status.versionErr,
		Conditions: m.status.conditions, StatusErr: m.status.failure,
		Probes: m.probes.read(), Channel: m.events.channel, Evidence: m.evidence, Mode: m.modeState(),
		Sources: m.sources.states(), SourceChanges: m.sources.changes, Drift: m.drifts(), UnseenMore: m.sightings.uncounted,
		Workers: m.workers.read(m),
	}
	s.Channel.Len, s.Channel.Capacity = m.core.Len(), m.core.Capacity()
	if m.sweep != nil {
		s.Sweep = m.sweep.result()
	}
	s.Pods, s.Counts, s.Anomalies = m.pods.read()
	for _, found := range []pleg.Anomalies{m.relists.found, m.status.versionFound, m.status.statusFound} {
		s.Anomalies = s.Anomalies.Add(found)
	}
	return s
}
