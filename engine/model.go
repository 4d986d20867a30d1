package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/podworker"
	"github.com/plegtop/plegtop/engine/sources"
)

// A Model is all that an engine knows. Only observations change it: the same observations in the
// same order give the same events and snapshots, live or in a replay. It reads no clock, makes no
// call and starts no goroutine. Lanes ask it what to do; that only reads it. It is not safe for
// concurrent use.
type Model struct {
	start Start
	now   time.Time // of the last observation
	ticks uint64
	cost  Cost

	core      *pleg.Core     // the kubelet's PLEG
	assembler pleg.Assembler // of the lists of all pods
	kubelet   *kubelet.Kubelet
	calls     *call.Table
	sums      answers.Sums
	known     answers.Table // without InFlight and Calls, which table fills in
	answered  map[uint64]*answer
	relists   relists
	status    statuses
	pods      pods
	sources   *sources.Observer
	networks  sources.Networks
	workers   *podworker.Shadow
	reported  *podworker.Workers // what the kubelet says of its pod workers, if it can be asked
	asking    asking
	looks     looks
	evidence  *evidence.Report
	memory    memory
	channel   Channel // without Len and Capacity
	lastEvent uint64  // number of the newest event

	once    examined
	aside   *pleg.Core // the pods that were shown before the first good list; nil if none were
	missing uint64     // see Missing

	shownChange uint64 // number of the last change of an event source

	wanted   wanted
	resumed  time.Time // when the last pause ended; zero while one lasts
	follows  pleg.Release
	closed   bool
	news     bool    // since the last tick something has changed that people should see at once
	released []Event // events of the observation under way
}

// An answer is the outcome of a call. The model keeps an answer of a relist until the lane marks the step.
type answer struct {
	Flight  call.Flight
	Timeout time.Duration
	At      time.Time
	Answer  Answer
	Found   pleg.Anomalies
	Err     *call.Error
}

func (a *answer) took() time.Duration { return a.At.Sub(a.Flight.Since) }

// ranOut reports whether the call ended at its own deadline.
func (a *answer) ranOut() bool { return ranOut(a.Err, a.took(), a.Timeout) }

// withdrawn reports whether we canceled one of our own calls. That says nothing about the runtime.
func (a *answer) withdrawn() bool {
	return a.Flight.Ours() && a.Err != nil && a.Err.Kind == call.ErrCanceled
}

// NewModel returns a model that has seen nothing. It fails if no engine can have such a start.
func NewModel(s Start) (*Model, error) {
	core, err := pleg.New(pleg.Config{Release: s.Release, Capacity: s.Capacity, Threshold: s.Threshold})
	if err != nil {
		return nil, fmt.Errorf("start of the engine: %w", err)
	}
	return &Model{
		start: s, now: s.At, core: core,
		kubelet:  kubelet.New(kubelet.Config{Threshold: s.Threshold, Timeout: s.Timeout, Period: s.Period, Starting: s.Once}, s.At),
		calls:    call.NewTable(),
		sums:     answers.NewSums(s.At),
		answered: make(map[uint64]*answer),
		relists:  relists{NextAt: s.At},
		status:   statuses{NextAt: s.At},
		pods:     newPods(),
		sources:  sources.New(s.sources(), s.At),
		workers:  podworker.NewShadow(core.Cache()),
		looks:    newLooks(s),
		news:     true,
	}, nil
}

// Start returns what the model began with.
func (m *Model) Start() Start { return m.start }

// Apply takes in one observation, and returns the events that it brought, in order. at is the moment of the
// observation, and never before the last one.
func (m *Model) Apply(at time.Time, o Observation) []Event {
	m.now, m.released = at, nil
	switch o := o.(type) {
	case CallBegan:
		f := o.Flight
		f.Since = at
		m.calls.Began(call.ID(o.ID), f, o.Timeout)
		m.sums.Began(f.Op)
		m.began(f)
	case CallEnded:
		m.ended(o)
	case Marked:
		m.marked(o.Mark)
	case Looked:
		m.looked(o)
	case Streamed:
		m.sources.Heard(at, o.Source, o.Events, o.Lost, m.facts())
	case StreamEnded:
		m.sources.Ended(at, o.Source, o.Kind, o.Text)
	case Requested:
		m.requested(o)
	case Ticked:
		m.ticks++
		m.reported, m.cost, m.news = o.Workers, o.Cost, false
	case Halted:
		m.sources.Suspended = true
	}
	m.pass()
	return m.released
}

// pass brings all clocks up to the moment of the observation, and shows them what was observed.
func (m *Model) pass() {
	m.kubelet.Advance(m.now, m.seen())
	m.core.Attend(m.kubelet.Reads())
	m.reportUnseen(m.sources.Advance(m.now, m.facts()))
	m.judgeNetworks()
	m.followPods()
	m.plan()
	m.remember()
	m.news = m.news || m.kubelet.Changed() || m.sourcesChanged()
}

// followPods tells the pod workers which pods came and went, and notes which sandboxes are gone.
func (m *Model) followPods() {
	t := &m.pods
	shadow := !m.start.Workers && !m.start.Once
	for _, pod := range t.Came {
		if shadow {
			m.workers.Add(m.now, pod)
		}
	}
	m.workers.Advance(m.now, m.core.Len() == 0)
	for _, uid := range t.Went {
		m.workers.Remove(uid)
	}
	slices.Sort(t.Left) // they come in the random order of a map
	for _, id := range t.Left {
		if !t.lists(id) {
			m.memory.Gone = m.memory.Gone.With(m.now, id)
		}
	}
	t.Came, t.Went, t.Left = nil, nil, nil
}

// sourcesChanged reports whether an event source has changed in a way that people see.
func (m *Model) sourcesChanged() bool {
	was := m.shownChange
	if n := len(m.sources.Changes); n > 0 {
		m.shownChange = m.sources.Changes[n-1].Seq
	}
	return m.shownChange != was
}

// due returns when something changes even if there is no new observation; zero for never.
func (m *Model) due() time.Time {
	due := sooner(m.kubelet.Due(), m.sources.Due(m.now, m.facts()))
	return sooner(sooner(due, m.networks.Due()), m.asking.due(m))
}

// ended takes in the end of a call.
func (m *Model) ended(o CallEnded) {
	c, out := m.calls.Ended(call.ID(o.ID), m.now, o.Err)
	if !out {
		return
	}
	f := c.Flight
	a := &answer{Flight: f, Timeout: c.Timeout, At: m.now, Answer: o.Answer, Found: o.Trace.Anomalies, Err: o.Err}
	if a.withdrawn() {
		m.sums.Withdrawn(f.Op)
		m.asking.withdrawn(f)
		return
	}
	m.sums.Ended(f, m.now, o.Trace, errorOf(o.Err))
	m.heard(a)
	switch f.By {
	case call.ByRelist:
		m.answered[o.ID] = a
		m.asking.Check.heardOf(a)
		m.relistAnswered(a)
	case call.ByStatusLoop:
		m.statusAnswered(a)
	case call.ByProbe, call.BySweep, call.BySearch:
		m.asked(a)
	}
	if f.Op == call.Status {
		m.asking.Check.statusOf(m, a)
	}
}

// errorOf returns err as an error. For nil it returns a nil error, and not an error that holds a nil pointer.
func errorOf(err *call.Error) error {
	if err == nil {
		return nil
	}
	return err
}

// marked takes in a step of a lane.
func (m *Model) marked(mark Mark) {
	switch mark := mark.(type) {
	case RelistBegan:
		m.relistBegan(mark)
	case Listed:
		m.listed(mark)
	case RelistFailed:
		m.relistFailed()
	case Inspected:
		m.inspected(mark)
	case RelistEnded:
		m.relistEnded()
	case LookBegan:
		m.looks.began(m, mark.Looking)
	case StreamOpened:
		m.sources.Opened(m.now, mark.Source)
	case Closed:
		m.close()
	}
}

// requested takes in a request.
func (m *Model) requested(r Requested) {
	switch r.What {
	case Pause:
		m.pause()
	case Resume:
		m.resume()
	case RelistNow:
		m.wanted.Relist = true
	case Reinspect:
		m.wanted.reinspect(&m.pods, r.Pod)
	case CheckAll:
		m.checkAllAsked()
	case CancelCheckAll:
		m.asking.cancel(m)
	case SetPeriod:
		m.start.Period, m.kubelet.Config.Period, m.news = r.Period, r.Period, true
		m.relists.schedule(r.Period)
	case SetStreams:
		m.sources.Want(m.now, r.Sources)
	case HoldStreams:
		m.sources.Suspended = true
	case ReleaseStreams:
		m.sources.Suspended = false
	case Follow:
		m.follow(r.Release)
	}
}

// Missing counts the inspections that a replay through another release would make, but that its
// recording does not have. They fail.
func (m *Model) Missing() uint64 { return m.missing }

// table returns what is known of the calls.
func (m *Model) table() *answers.Table {
	m.known.InFlight, m.known.Calls = m.calls.Flights(), m.sums.Read(m.now)
	return &m.known
}

// Snapshot returns all that can be seen at a moment. The result is never changed.
func (m *Model) Snapshot(at time.Time) *Snapshot {
	s := &Snapshot{
		Seq: m.ticks, At: at, Started: m.start.At, Policy: m.start.policy(), Table: *m.table(), Other: m.start.Other,
		Release: m.start.Release, Period: m.start.Period, Threshold: m.core.Threshold(), Timeout: m.start.Timeout,
		Version: m.status.Version, Conditions: m.status.Conditions,
		Paused: m.kubelet.Paused(), Resumed: m.resumed, Channel: m.channel, Cost: m.cost,
		Phase: m.phase(at), Relists: m.relists.sum(), PodFailure: m.relists.PodFailure,
		Health: m.health(at), Node: m.kubelet.Node(at), Evidence: m.evidence, Memory: m.memory.Read(),
		Mode: m.sources.Mode, Sources: m.sources.States(), SourceChanges: m.sources.Changes,
		Gone: m.memory.Gone.Lately(at), UnseenMore: m.sources.Uncounted,
	}
	s.Drift = m.sources.Drifts()
	s.Channel.Len, s.Channel.Capacity = m.core.Len(), m.core.Capacity()
	s.Pods, s.Counts, s.Anomalies = m.pods.read()
	s.Objects = m.pods.index()
	s.Anomalies = s.Anomalies.Add(m.relists.Found).Add(m.status.VersionFound).Add(m.status.StatusFound)
	s.Workers = m.workers.Read()
	if m.start.Workers && m.reported != nil {
		s.Workers = *m.reported
	}
	m.asking.fill(m, s)
	return s
}
