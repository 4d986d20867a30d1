package replay

import (
	"errors"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/quantile"
	"github.com/plegtop/plegtop/engine/record"
)

const (
	// soon is how long after a call would be made the next recorded one may begin and be taken
	// for it, though another ended shortly before.
	soon = 10 * time.Second
	// ahead is how long before a recorded call that hung one may be made that hangs as well: so much
	// a machine that is stepped again may be before the recorded one, whose relists are a second apart.
	ahead = time.Second
	// far is how long before or after a call the nearest recorded one is no answer: what the
	// object did then is not known.
	far = 2 * time.Minute
)

// A run is what is known of one run of the recorded engine: its calls, and what else happened.
type run struct {
	segment    int // of the recording, in which it begins
	began, end time.Time
	inputs     []input // but for calls that the machine made itself
	targets    map[target][]*recorded
	took       map[call.Operation]*quantile.Durations // of those that were answered
	out        map[engine.CallID]*recorded
	joined     map[engine.CallID]bool // were out when the run begins
}

// An input is one that another machine is given at the same time.
type input struct {
	at time.Time
	in engine.Input
}

// A target is what a call asks for: an object, or nothing where there is only one.
type target struct {
	op call.Operation
	id string
}

// A recorded call is one that was made.
type recorded struct {
	call.Flight
	ended time.Time // zero where it never returned
	with  engine.Returned
}

func newRun(segment int, at time.Time, m *engine.Replay) *run {
	r := &run{
		segment: segment, began: at, end: at, targets: map[target][]*recorded{}, took: map[call.Operation]*quantile.Durations{},
		out: map[engine.CallID]*recorded{}, joined: map[engine.CallID]bool{},
	}
	for _, c := range m.Out() {
		r.made(c)
		r.joined[c.ID] = true
	}
	return r
}

func (r *run) made(c engine.Call) {
	made, of := &recorded{Flight: c.Flight}, target{c.Op, c.Flight.ID}
	r.out[c.ID], r.targets[of] = made, append(r.targets[of], made)
}

// A listener takes down the runs of a recording that is played.
type listener struct {
	recording *record.Recording
	part      int                                  // of the recording, which the last run is of
	begun     func(at time.Time, m *engine.Replay) // a run begins, or is joined; nil if nobody wants to know
	runs      []*run
	err       error // why a run could not be begun
}

func (l *listener) step(s record.Step) {
	last := len(l.runs) - 1
	if last < 0 || l.part != s.Part {
		m, err := l.recording.Machine(s.Segment)
		if err != nil {
			l.err = err
			return
		}
		l.runs, l.part = append(l.runs, newRun(s.Segment, s.At, m)), s.Part
		if last++; l.begun != nil {
			l.begun(s.At, m)
		}
	}
	l.runs[last].step(s)
}

// step takes in a step of the recorded machine.
func (r *run) step(s record.Step) {
	r.end = s.At
	switch in := s.In.(type) {
	case engine.Returned:
		r.returned(s.At, in)
	case engine.Requests:
		in.Raw, in.Withdrawn = nil, nil // nobody reads that
		r.inputs = append(r.inputs, input{s.At, in})
	case engine.Tick, engine.Halt:
	default:
		r.inputs = append(r.inputs, input{s.At, in})
	}
	for _, c := range s.Work.Make {
		r.made(c)
	}
}

func (r *run) returned(at time.Time, in engine.Returned) {
	if r.joined[in.ID] {
		r.inputs = append(r.inputs, input{at, in})
	}
	c := r.out[in.ID]
	if c == nil {
		return
	}
	delete(r.out, in.ID)
	if c.ended, c.with = in.At, in; in.Err == nil {
		d := r.took[c.Op]
		if d == nil {
			d = new(quantile.Durations)
			r.took[c.Op] = d
		}
		d.Add(c.ended.Sub(c.Since))
	}
}

// hung reports whether a call says nothing of how it would have ended: it was out until somebody
// gave it up.
func (c *recorded) hung() bool {
	return c.ended.IsZero() || c.with.Err != nil && (errors.Is(c.with.Err, call.ErrDeadline) || errors.Is(c.with.Err, call.ErrCanceled))
}

// stuck reports whether a call was out for so long that its object had stopped answering. When that
// began is between the answer before and the moment at which it was made.
func (c *recorded) stuck() bool { return c.hung() || c.ended.Sub(c.Since) > soon }

// like returns the recorded calls that tell of a call, in their order.
func (r *run) like(c engine.Call) []*recorded {
	all := r.targets[target{c.Op, c.Flight.ID}]
	if c.Op.IsList() && c.Pod.UID == "" {
		return slices.DeleteFunc(slices.Clone(all), func(o *recorded) bool { return o.Pod.UID != "" })
	}
	return all
}

// answer returns what would have come of a call that is made now, and whether the recording
// knows that. It is what came of the recorded call for the same that was out then; else of the
// next one, as much earlier, or of the one before where the object answered then and hung in the
// next. A call that hangs does so until one of those after it was answered, or until its deadline.
func (r *run) answer(c engine.Call, now time.Time) (engine.Returned, bool) {
	all := r.like(c)
	if len(all) == 0 {
		return r.guessed(c, now), false
	}
	i, known := nearest(all, now)
	shift := time.Duration(0)
	if first := all[i]; !first.ended.IsZero() && (first.Since.After(now) || !first.ended.After(now)) {
		shift = now.Sub(first.Since)
	}
	limit := now.Add(c.Timeout)
	for ; i < len(all); i, shift = i+1, 0 {
		one := all[i]
		at := one.ended.Add(shift)
		if one.hung() {
			continue
		}
		if at.After(limit) {
			break
		}
		with := one.with
		with.ID, with.At = c.ID, at
		with.Answer = r.asOf(c, with.Answer, at, all[i+1:])
		return with, known
	}
	return engine.Returned{ID: c.ID, At: limit, Err: call.Late(c.Op, call.Expired, "context deadline exceeded")}, known
}

// nearest returns the place of the recorded call that tells most of one that is made now, and
// whether it tells enough.
func nearest(all []*recorded, now time.Time) (place int, known bool) {
	next, _ := slices.BinarySearchFunc(all, now, func(c *recorded, now time.Time) int { return c.Since.Compare(now) })
	if next == 0 {
		return 0, all[0].Since.Sub(now) <= far
	}
	before := all[next-1]
	since := now.Sub(before.ended)
	switch {
	case before.ended.IsZero() || since < 0:
		return next - 1, true
	case next == len(all):
		return next - 1, since <= far
	}
	until := all[next].Since.Sub(now)
	switch {
	case all[next].stuck() && !before.hung():
		if until <= ahead && until < since {
			return next, true
		}
		return next - 1, since <= min(until, far)
	case until <= soon || until <= since:
		return next, until <= far
	}
	return next - 1, since <= far
}

// asOf returns an answer as it would have been at a moment that is not its own. What later ones
// say was so by then holds.
func (r *run) asOf(c engine.Call, a engine.Answer, at time.Time, later []*recorded) engine.Answer {
	switch {
	case c.Op == call.ListPodSandbox:
		a.Sandboxes = r.sandboxes(at, c.Pod.UID)
	case c.Op == call.ListContainers:
		a.Containers = r.containers(at, c.Pod.UID)
	case a.Container != nil:
		for _, l := range later {
			if s := l.with.Answer.Container; s != nil {
				if a.Container.FinishedAt.IsZero() && ended(s, at) {
					a.Container = s
				}
				break
			}
		}
		if !a.Container.FinishedAt.IsZero() && a.Container.FinishedAt.After(at) {
			runs := *a.Container
			runs.State, runs.ExitCode, runs.Reason, runs.Message, runs.FinishedAt = pleg.Running, 0, "", "", time.Time{}
			a.Container = &runs
		}
	}
	return a
}

// ended reports whether a container had ended by then.
func ended(s *pleg.ContainerStatus, by time.Time) bool {
	return !s.FinishedAt.IsZero() && !s.FinishedAt.After(by)
}

// guessed returns the answer to a call that nothing like it was recorded of: what the lists say
// of the object, after the usual time.
func (r *run) guessed(c engine.Call, now time.Time) engine.Returned {
	wait := time.Millisecond
	if d := r.took[c.Op]; d != nil {
		wait, _, _ = d.Quantiles()
	}
	with := engine.Returned{ID: c.ID, At: now.Add(wait)}
	switch c.Op {
	case call.Version:
		with.Answer.Version = new(pleg.Version)
	case call.ListPodSandbox:
		with.Answer.Sandboxes = r.sandboxes(now, c.Pod.UID)
	case call.ListContainers:
		with.Answer.Containers = r.containers(now, c.Pod.UID)
	case call.PodSandboxStatus:
		for _, s := range r.sandboxes(now, c.Pod.UID) {
			if s.ID == c.Flight.ID {
				with.Answer.Sandbox = &pleg.SandboxStatus{ID: s.ID, Pod: s.Pod, State: s.State, Attempt: s.Attempt, CreatedAt: s.CreatedAt, HostNetwork: true}
			}
		}
	case call.ContainerStatus:
		for _, s := range r.containers(now, c.Pod.UID) {
			if s.ID == c.Flight.ID {
				with.Answer.Container = &pleg.ContainerStatus{ID: s.ID, Name: s.Name, State: s.State, Attempt: s.Attempt, Image: s.Image, CreatedAt: s.CreatedAt}
			}
		}
	}
	if c.Op.AboutObject() && with.Answer.Sandbox == nil && with.Answer.Container == nil {
		with.Err = &call.Error{Op: c.Op, Kind: call.ErrNotFound, Code: "NotFound", Text: "not found in the lists of the recording"}
	}
	return with
}
