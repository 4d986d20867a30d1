package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/frozen"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A Tape takes down what an engine goes by: its machine's inputs in their order, and when a
// snapshot was made. Both again, of the same start, give the same snapshots and events (see
// [Replay]). All methods are called from one goroutine, which relists: they must return soon,
// keep nothing of an input that they do not copy, and change nothing.
type Tape interface {
	Begin(m Recorded)               // before the first step
	Step(at time.Time, in Input)    // before the machine takes it in
	Shown(at time.Time, costs Cost) // after a snapshot was made
	State() Recording               // how the recording stands, for the next snapshot
}

// Recording says how the recording of an engine stands. The zero value is one that nobody
// makes, as in what is replayed.
type Recording struct {
	File    string        // that is written to; empty for none
	Written int64         // bytes, of this run
	Span    time.Duration // of what is kept in memory; 0 for nothing
	Kept    int64         // bytes of that, after compression
	Ended   string        // why nothing more is written to the file, or kept; empty while it goes on
	EndedAt time.Time
}

// Writes reports whether what happens is written to a file.
func (r Recording) Writes() bool { return r.File != "" && r.Ended == "" }

// Recorded is the machine whose inputs a [Tape] takes down. Its methods may be called while
// one of the tape's is, and say how the machine stands before the step, or after the snapshot,
// of which that is told.
type Recorded interface {
	Start() Start
	Freeze(w *frozen.Writer, b []byte) []byte // appends the whole state; see [Thaw]
}

// A Start is all that a machine begins with.
type Start struct {
	At     time.Time
	Policy answers.Policy

	// As in [Config].
	Release   pleg.Release
	Follow    bool
	Period    time.Duration
	Threshold time.Duration
	Timeout   time.Duration
	Capacity  int
	Events    int
	Mode      pleg.Mode
	Streams   []Stream // without what opens them
	Other     string
	Looks     bool // somebody looks at the node
}

// Start returns with what another machine would begin that is to be like this one.
func (m *machine) Start() Start {
	c := m.config
	return Start{
		At: m.started, Policy: m.policy.Policy,
		Release: c.Release, Follow: c.Follow, Period: c.Period, Threshold: c.Threshold, Timeout: c.Timeout,
		Capacity: c.Capacity, Events: c.Events, Mode: c.Mode, Streams: c.Streams, Other: c.Other, Looks: c.Look != nil,
	}
}

// Freeze appends the whole state of the machine, which must be between two steps.
func (m *machine) Freeze(w *frozen.Writer, b []byte) []byte { return frozen.Append(w, b, m) }

func init() {
	frozen.Register[Returned]("returned")
	frozen.Register[Requests]("requests")
	frozen.Register[Told]("told")
	frozen.Register[Looked]("looked")
	frozen.Register[Worked]("worked")
	frozen.Register[Streamed]("streamed")
	frozen.Register[StreamEnded]("stream ended")
	frozen.Register[Tick]("tick")
	frozen.Register[Halt]("halt")
	frozen.Register[*call.Error]("call error")
	frozen.Register[call.Kind]("call kind")
	frozen.Register[*rand.PCG]("pcg")
}

// A Replay is a machine that is stepped with what a [Tape] took down. It makes no call and
// reads no clock. Not safe for concurrent use.
type Replay struct {
	machine *machine
	seq     uint64
}

// NewReplay returns the replay of an engine from its start. It fails if the start is not one
// that an engine can have.
func NewReplay(s Start) (*Replay, error) {
	c := s.config()
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	return &Replay{machine: newMachine(c, s.Policy, s.At)}, nil
}

// Thaw returns the replay of an engine from where [Recorded.Freeze] was called, and what
// follows its state in b. It fails if the state is not one that this version knows.
func Thaw(s Start, r *frozen.Reader, b []byte) (*Replay, []byte, error) {
	replay, err := NewReplay(s)
	if err != nil {
		return nil, nil, err
	}
	made, m := replay.machine, new(machine)
	rest, err := frozen.Read(r, b, m)
	if err != nil {
		return nil, nil, fmt.Errorf("replay: read the engine's state: %w", err)
	}
	if m.core == nil || m.workers.set == nil {
		return nil, nil, errors.New("replay: the engine's state is not whole")
	}
	m.sources.all = slices.DeleteFunc(m.sources.all, func(s source) bool { return s.stream.Source >= ledger.Sources }) // as in config
	m.config = made.config
	m.calls.work = &m.work
	m.assemble()
	for uid := range m.pods.byUID {
		m.pods.index.touch(uid)
	}
	replay.machine = m
	return replay, rest, nil
}

func notLooked(context.Context, Looking) (*evidence.Report, error) { return nil, errReplayed }

func notStreamed(context.Context, func(pleg.Upstream)) error { return errReplayed }

var errReplayed = errors.New("a replay asks nobody")

// config returns a configuration that a machine takes for the one of s. What calls, looks and
// streams are made with is there and does nothing: a machine makes none itself.
func (s Start) config() Config {
	c := Config{
		Runtime: struct{ Runtime }{}, Release: s.Release, Follow: s.Follow, Period: s.Period, Threshold: s.Threshold, Timeout: s.Timeout,
		Capacity: s.Capacity, Events: s.Events, Mode: s.Mode, Other: s.Other,
	}
	if s.Looks {
		c.Look = notLooked
	}
	for _, stream := range s.Streams {
		if stream.Source >= ledger.Sources {
			continue // recordings of the tests were made while there was a third source
		}
		stream.Run = notStreamed
		c.Streams = append(c.Streams, stream)
	}
	return c.withDefaults()
}

// Step steps the machine and returns the events that this brought. It fails if the machine
// cannot go on from what it was given, as one of another version may not.
func (r *Replay) Step(at time.Time, in Input) ([]Event, error) {
	w, err := r.Work(at, in)
	return w.Events, err
}

// Work is [Replay.Step], and returns all that the machine asks for, as the calls that it would
// make. It fails as Step does.
func (r *Replay) Work(at time.Time, in Input) (w Work, err error) {
	defer caught(func(value any) { err = unknown(value) })
	return r.machine.step(at, in), nil
}

// Due returns when the machine is to be stepped though nothing happens; zero for never.
func (r *Replay) Due() time.Time { return r.machine.due() }

// Out returns the calls that are out, the oldest first.
func (r *Replay) Out() (all []Call) {
	for _, p := range r.machine.calls.out {
		all = append(all, Call{ID: p.id, Flight: p.Flight, Timeout: p.timeout, Raw: p.raw})
	}
	return all
}

// Emulate makes the relist of a release from the next relist on, whatever the node's kubelet is.
func (r *Replay) Emulate(release pleg.Release) {
	r.machine.config.Follow, r.machine.followed = false, release
}

// Recorded returns the machine for a [Tape], which then takes down what it is stepped with.
func (r *Replay) Recorded() Recorded { return r.machine }

// caught calls report with the value of the panic that is under way, if there is one.
// Only a deferred call can do that.
func caught(report func(value any)) {
	if value := recover(); value != nil {
		report(value)
	}
}

// unknown is the error of a machine that does not know what it was given.
func unknown(panicked any) error {
	return fmt.Errorf("replay: this version cannot go on from what was recorded: %v", panicked)
}

// Snapshot returns what there was to see. It must be called where the recorded engine made a
// snapshot, and may be called at other moments, too.
func (r *Replay) Snapshot(at time.Time, costs Cost) (s *Snapshot, err error) {
	defer caught(func(value any) {
		err = fmt.Errorf("replay: this version cannot show what was recorded: %v", value)
	})
	s = r.machine.snapshot(at)
	r.seq++
	s.Seq, s.Cost = r.seq, costs
	return s, nil
}
