package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// glance is how long, in real time, a call may be out before that is worth a
	// snapshot.
	glance = 100 * time.Millisecond
	// spin is the least real time between two steps that nothing brought about.
	spin = time.Millisecond
	// atEnd is how long run waits, in real time, for calls that do not return although
	// they were canceled.
	atEnd = 500 * time.Millisecond
)

// A shell runs a machine. It has the clock, makes the calls, looks at the node and
// hands out what there is to see; it decides nothing.
type shell struct {
	config    Config
	clock     Clock
	machine   *machine // by its methods alone
	stands    State    // the machine, after the last step
	first     Input
	mailbox   *mailbox
	buffer    *buffer
	publisher publisher
	meter     meter
	show      func(*Snapshot) // takes the snapshots; nil if nobody does

	ctx     context.Context // of all calls
	inputs  chan Input
	beside  *beside // the loop
	cancels map[CallID]context.CancelFunc
	replies replies
	streams *streams

	tap func(Work) // sees what every step asks for; nil outside of tests
}

func newShell(c Config, p answers.Policy) *shell {
	return &shell{
		config: c, clock: c.Clock, machine: newMachine(c, p, c.Clock.Now()), first: Tick{},
		mailbox: newMailbox(), buffer: newBuffer(c.Events),
		publisher: publisher{at: time.Now()}, meter: meter{began: time.Now()},
		inputs:  make(chan Input),
		cancels: make(map[CallID]context.CancelFunc),
		streams: newStreams(),
	}
}

// run steps the machine until ctx ends, or until that has nothing more to look at.
func (s *shell) run(ctx context.Context) {
	calls, cancel := context.WithCancel(ctx)
	defer cancel()
	s.ctx, s.beside = calls, newBeside(calls)
	if s.config.Tape != nil {
		s.config.Tape.Begin(s.machine)
	}
	s.step(s.first)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for !s.stands.Over {
		timer.Reset(s.idle())
		select {
		case <-ctx.Done():
			s.step(Halt{})
			s.drainAll()
			s.publishLast()
			return
		case in := <-s.inputs:
			s.step(in)
		case <-s.mailbox.wake:
			s.step(s.mailbox.take())
		case <-s.streams.ready():
			s.drain()
		case <-timer.C:
			s.step(Tick{})
		}
		s.publish()
	}
}

// step steps the machine and does what that asks for.
func (s *shell) step(in Input) {
	if r, ok := in.(Returned); ok {
		delete(s.cancels, r.ID)
		s.meter.add(time.Now(), uint64(max(r.Trace.RequestBytes+r.Trace.ResponseBytes, 0)))
	}
	now := s.clock.Now()
	if s.config.Tape != nil {
		s.config.Tape.Step(now, in)
	}
	w := s.machine.step(now, in)
	if s.tap != nil {
		s.tap(w)
	}
	s.stands = w.State
	s.publisher.news = s.publisher.news || w.Changed
	for _, id := range w.End {
		if cancel := s.cancels[id]; cancel != nil {
			cancel()
		}
	}
	for _, c := range w.Make {
		s.make(c)
	}
	if w.Look != nil {
		s.look(*w.Look)
	}
	s.stream(w)
	s.buffer.add(w.Events)
	s.replies.deliver(w.Replies)
}

// idle returns the real time until the machine or the publisher has something to do.
func (s *shell) idle() time.Duration {
	wait := heartbeat
	if s.show != nil {
		wait = s.publisher.wait(time.Now())
	}
	if s.stands.Oldest != (call.Flight{}) {
		wait = min(wait, glance)
	}
	if due := s.machine.due(); !due.IsZero() {
		until := s.clock.Real(due.Sub(s.clock.Now()))
		if until <= 0 {
			until = spin
		}
		wait = min(wait, until)
	}
	return max(min(wait, s.streams.rest()), 0)
}

func (s *shell) make(c Call) {
	trace := new(call.Trace)
	ctx, cancel := context.WithTimeout(call.WithTrace(s.ctx, trace), s.clock.Real(c.Timeout))
	s.cancels[c.ID] = cancel
	s.beside.do(func() {
		defer cancel()
		answer, err := s.put(ctx, c)
		if err != nil {
			answer = Answer{}
		}
		s.send(Returned{ID: c.ID, At: s.clock.Now(), Answer: answer, Trace: *trace, Err: call.ErrorOf(c.Op, err)})
	})
}

func (s *shell) put(ctx context.Context, c Call) (a Answer, err error) {
	r := s.config.Runtime
	switch c.Op {
	case call.Version:
		a.Version = new(pleg.Version)
		*a.Version, err = r.Version(ctx)
	case call.Status:
		a.Conditions, err = r.Status(ctx)
	case call.ListPodSandbox:
		a.Sandboxes, err = r.ListPodSandbox(ctx, c.Pod.UID)
	case call.ListContainers:
		a.Containers, err = r.ListContainers(ctx, c.Pod.UID)
	case call.PodSandboxStatus, call.ContainerStatus:
		return s.inspect(ctx, c)
	default:
		err = fmt.Errorf("make %v: not one of the engine's calls", c.Op)
	}
	return a, err
}

func (s *shell) inspect(ctx context.Context, c Call) (a Answer, err error) {
	r := s.config.Runtime
	switch {
	case c.Raw:
		a.Raw, err = r.Raw(ctx, c.Op, c.Flight.ID)
	case c.Op == call.PodSandboxStatus:
		a.Sandbox = new(pleg.SandboxStatus)
		*a.Sandbox, err = r.PodSandboxStatus(ctx, c.Flight.ID)
	default:
		a.Container = new(pleg.ContainerStatus)
		*a.Container, err = r.ContainerStatus(ctx, c.Flight.ID)
	}
	return a, err
}

// look looks at the node beside the shell.
func (s *shell) look(l Looking) {
	s.beside.do(func() {
		report, err := s.config.Look(s.ctx, l)
		if err != nil {
			report = nil
		}
		s.send(Looked{Report: report, Ended: err != nil})
	})
}

// send hands an input to the loop, unless that has ended.
func (s *shell) send(in Input) {
	select {
	case s.inputs <- in:
	case <-s.ctx.Done():
	}
}

// snapshot returns what there is to see now, with what the node's pod workers do where a
// kubelet says so.
func (s *shell) snapshot(now time.Time) *Snapshot {
	if s.config.Workers != nil {
		s.step(Worked{s.config.Workers()})
		now = s.clock.Now()
	}
	snapshot := s.machine.snapshot(now)
	snapshot.Seq = s.publisher.seq
	snapshot.Cost = s.meter.cost(time.Now())
	if s.config.Tape != nil {
		snapshot.Recording = s.config.Tape.State()
		s.config.Tape.Shown(now, snapshot.Cost)
	}
	return snapshot
}

// must panics on an error of the core, which would be a mistake of the machine.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
