package engine

import (
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/podworker"
)

// A CallID numbers the calls of one machine, from 1 on.
type CallID uint64

// A Call is one that the shell is to make: at once, with that deadline.
type Call struct {
	ID CallID
	call.Flight
	Timeout time.Duration
	Raw     bool // the answer is wanted as JSON
}

// An Input is all that can happen to a machine. The inputs in their order, with
// their times, are the whole of what an engine goes by: the same again give the
// same snapshots, events and calls. Each is a plain value, so that this holds for what
// was written down and read again, too.
type Input interface{ input() }

// Returned says that a call has returned.
type Returned struct {
	ID     CallID
	At     time.Time   // when it did
	Answer Answer      // zero with an error
	Trace  call.Trace  // as the transport has filled it in
	Err    *call.Error // nil if it was answered
}

// An Answer is what a [Runtime] has answered, in the field of the method that was called.
type Answer struct {
	Version    *pleg.Version
	Conditions []pleg.Condition // Status
	Sandboxes  []pleg.ListedSandbox
	Containers []pleg.ListedContainer
	Sandbox    *pleg.SandboxStatus
	Container  *pleg.ContainerStatus
	Raw        []byte
}

// Told is whose release's relist is wanted, before the first one.
type Told struct{ Release pleg.Release }

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
func (Requests) input() {}
func (Told) input()     {}
func (Looked) input()   {}
func (Worked) input()   {}
func (Tick) input()     {}
func (Halt) input()     {}

// Work is what a step asks of the shell, what it has to tell, and how the machine stands
// after it.
type Work struct {
	Make    []Call          // to be made at once, side by side
	Look    *Looking        // to be done beside; nil for none
	Open    []ledger.Source // event sources whose stream is to be opened
	Close   []ledger.Source // and those whose stream is to be ended
	End     []CallID        // to be ended: nobody wants their answers any more
	Events  []Event         // in order, numbered
	Replies []reply         // to requests for raw answers
	State
}

// A State is how a machine stands after a step, as far as its shell goes by it.
type State struct {
	Oldest    call.Flight // the call that has been out longest; zero if none is out
	Relisting bool        // a relist is under way
	Relisted  bool        // one of all pods is over
	Held      bool        // all event sources are closed for a while
	Changed   bool        // there is something that people should see at once
	Over      bool        // there is nothing more to come
}

// A machine decides everything that an engine does: which call is made when, what
// its answer means, what there is to see. It makes no call, reads no clock and
// starts no goroutine: equal inputs in equal order give equal snapshots, events and
// calls. It belongs to one goroutine.
//
// What it decides its parts do (see [part]).
type machine struct {
	config Config `frozen:"-"`
	policy policy
	core   *pleg.Core    // of the kubelet's PLEG
	known  answers.Table // of the calls: what is current is Failure, StatusErr, VersionErr and UsualList
	now    time.Time     // of the step under way
	work   Work          // of the step under way: parts add to it

	parts  []part                `frozen:"-"` // in the order in which they go on
	askers [call.AskerCount]part `frozen:"-"`
	shows  []shown               `frozen:"-"`

	// Parts, and what they share.
	calls       calls
	relists     relists
	status      statusLoop
	kubelet     kubelet
	probes      probes
	search      search
	sweep       sweeper
	check       check
	looks       looks
	mode        mode
	pods        pods
	events      events
	networks    networks
	sources     sources
	transitions transitions
	workers     workers
	memory      remembered

	started  time.Time
	period   time.Duration
	pause    pause
	wanted   wanted // asked for and not done yet
	evidence *evidence.Report
	followed pleg.Release // of the node's kubelet, from the next relist on; 0 for the same
	changed  bool         // something that people should see at once
}

// newMachine returns the machine of a configuration that is valid.
func newMachine(c Config, p answers.Policy, now time.Time) *machine {
	core, err := pleg.New(pleg.Config{Release: c.Release, Capacity: c.Capacity, Threshold: c.Threshold})
	must(err)
	m := &machine{
		config: c, policy: policy{p}, core: core, now: now, started: now, period: c.Period,
		calls:   calls{sums: answers.NewSums(now), short: p.Silence()},
		relists: relists{nextAt: now},
		status:  statusLoop{nextAt: now},
		kubelet: newKubelet(now, p.Once),
		pods:    pods{byUID: make(map[pleg.UID]*Pod)},
		sources: newSources(c, p, now),
		workers: newWorkers(core),
		looks:   newLooks(c.Look != nil, now, p.Once),
		changed: true,
	}
	m.calls.work = &m.work
	m.check.begin(now, p)
	m.assemble()
	return m
}

// step takes in what has happened and returns what is to be done. Time never goes
// back.
func (m *machine) step(now time.Time, in Input) Work {
	m.now = now
	switch in := in.(type) {
	case Returned:
		m.calls.returned(in)
	case Requests:
		m.request(in)
	case Told:
		m.follow(in.Release)
	case Looked:
		m.looks.took(m, in)
	case Worked:
		m.workers.told = in.Workers
	case Streamed:
		m.sources.heard(m, in)
	case StreamEnded:
		m.sources.ended(m, in)
	case Halt:
		m.sources.held = true
		m.sweep.cancel(m)
		m.check.stop(m)
	}
	m.advance()
	w := m.work
	w.State = m.state()
	m.work, m.changed = Work{}, false
	return w
}

func (m *machine) state() State {
	s := State{
		Relisting: m.relists.now != nil, Relisted: m.relists.count > 0, Held: m.sources.held,
		Changed: m.changed, Over: m.check.over,
	}
	if len(m.calls.out) > 0 {
		s.Oldest = m.calls.out[0].Flight
	}
	return s
}

// advance goes on with everything as far as that goes now. What an answer leads to
// may be answered at once, too: by its like, which is out already.
func (m *machine) advance() {
	for {
		m.handOut()
		for _, p := range m.parts {
			p.advance(m)
		}
		if len(m.calls.done) == 0 {
			return
		}
	}
}

// table returns what is known of the calls but for what probes and sweeps found.
func (m *machine) table(at time.Time) *answers.Table {
	m.known.InFlight, m.known.Calls = m.calls.flights(), m.calls.sums.Read(at)
	return &m.known
}

// snapshot returns all that there is to see as of now. Seq and Cost are the
// shell's: they are about plegtop, not about the node.
func (m *machine) snapshot(now time.Time) *Snapshot {
	s := &Snapshot{
		At: now, Started: m.started, Policy: m.policy.Policy, Table: *m.table(now),
		Other: m.config.Other, Release: m.config.Release, Period: m.period, Threshold: m.core.Threshold(), Timeout: m.config.Timeout,
		Paused: m.pause.on, Resumed: m.pause.ended, Channel: m.events.channel,
	}
	s.Channel.Len, s.Channel.Capacity = m.core.Len(), m.core.Capacity()
	s.Probes = m.probes.read()
	if m.sweep.last != nil {
		s.Sweep = m.sweep.last.Result()
	}
	s.Pods, s.Counts, s.Anomalies = m.pods.read()
	s.Objects = m.pods.index.read(&m.pods)
	for _, p := range m.shows {
		p.fill(m, s)
	}
	return s
}
