package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// near is how far apart a call and a recorded call for the same may be, so that both have one
// answer: machines of two releases ask in another order, and gRPC says a moment late that a
// deadline has passed.
const near = time.Second

// Through plays the recording through the relist of another release, and returns what comes of
// that as a recording in memory. A call gets the answer of the recorded call for the same that was
// out at that time. Missing counts the calls that only the other release would have made: there was
// no such call within a second. They get the last answer, or an error where there is none. Where
// the recording is damaged, what is returned ends there, too. Through fails where ctx ends, and
// where nothing can be played.
func (r *Recording) Through(ctx context.Context, release pleg.Release) (made *Recording, missing int, err error) {
	p := r.Play(time.Time{})
	defer p.Close()
	made = new(Recording)
	var o *other
	end := func() error {
		if o == nil {
			return nil
		}
		failed := o.recorder.Close(ctx)
		made.segments = append(made.segments, o.recorder.Recording().segments...)
		missing += o.missing
		return failed
	}
	for err == nil {
		var s step
		var shown *Shown
		if s, shown, err = p.advance(); err == nil {
			err = context.Cause(ctx)
		}
		if err == nil && (o == nil || o.part != p.part) {
			if err = end(); err == nil {
				o, err = r.other(p, release)
			}
		}
		switch {
		case err != nil:
		case shown != nil:
			err = o.show(shown.Snapshot)
		default:
			err = o.step(s)
		}
	}
	if failed := end(); failed != nil {
		err = failed
	}
	if cause := context.Cause(ctx); cause != nil || len(made.segments) == 0 {
		return nil, 0, fmt.Errorf("replay as a kubelet %v: %w", release, cmp.Or(cause, err))
	}
	if !errors.Is(err, io.EOF) {
		made.damage = err
	}
	return made, missing, nil
}

// An other is a machine of another release, in place of one that was recorded.
type other struct {
	part     int // of the recording
	release  pleg.Release
	machine  *engine.Replay
	recorder *Recorder
	out      []engine.Call // that it has made, and that are not answered
	missing  int

	asked   map[engine.CallID]target // calls of the recorded machine that are out
	answers map[target]engine.Returned
}

// A target is what a call asks for.
type target struct {
	op  call.Operation
	id  string
	pod pleg.UID // of a list of one pod
}

func targetOf(c engine.Call) target {
	t := target{op: c.Op, id: c.Flight.ID}
	if c.Op.IsList() {
		t.pod = c.Pod.UID
	}
	return t
}

// other returns the other machine for the part that a player has come to: as the recorded machine
// stood then.
func (r *Recording) other(at *Player, release pleg.Release) (*other, error) {
	p := r.Segment(at.next - 1)
	defer p.Close()
	if err := p.begin(); err != nil {
		return nil, err
	}
	o := &other{
		part: at.part, release: release, machine: p.replay, out: p.replay.Out(),
		recorder: NewRecorder(Options{Head: r.segments[at.next-1].Head, Ring: math.MaxInt64, Bytes: math.MaxInt64}),
		asked:    map[engine.CallID]target{}, answers: map[target]engine.Returned{},
	}
	for _, c := range o.out {
		o.asked[c.ID] = targetOf(c)
	}
	o.machine.Emulate(release)
	o.recorder.Begin(o.machine.Recorded())
	return o, nil
}

// step takes in a step of the recorded machine.
func (o *other) step(s step) error {
	var answered []engine.Input
	if in, is := s.in.(engine.Returned); is {
		answered = o.returned(in)
	}
	for _, c := range s.work.Make {
		if !c.Raw {
			o.asked[c.ID] = targetOf(c)
		}
	}
	switch in := s.in.(type) {
	case engine.Returned:
		return errors.Join(o.give(s.at, answered...), o.pass(s.at))
	case engine.Requests:
		in.Raw, in.Withdrawn = nil, nil // nobody waits for a raw answer
		return errors.Join(o.give(s.at, in), o.pass(s.at))
	case engine.Told, engine.Halt: // the release is given, and nothing more comes after the end
		return o.pass(s.at)
	}
	return errors.Join(o.give(s.at, s.in), o.pass(s.at))
}

// returned takes in what came of a recorded call, and returns the answers to calls for the same.
// A call that only timed out says nothing: the next one may be answered.
func (o *other) returned(in engine.Returned) (answered []engine.Input) {
	t, known := o.asked[in.ID]
	if !known {
		return nil
	}
	delete(o.asked, in.ID)
	o.answers[t] = in
	o.out = slices.DeleteFunc(o.out, func(c engine.Call) bool {
		if targetOf(c) != t || timedOut(in) && in.At.Before(c.Since.Add(c.Timeout)) {
			return false
		}
		in.ID = c.ID
		answered = append(answered, in)
		return true
	})
	return answered
}

func timedOut(r engine.Returned) bool {
	return r.Err != nil && (errors.Is(r.Err, call.ErrDeadline) || errors.Is(r.Err, call.ErrCanceled))
}

// pass lets time pass. It does so only when the recorded machine took a step: so the calls of both
// go out at the same time, as long as both make the same.
func (o *other) pass(at time.Time) error {
	var all []engine.Input
	o.out = slices.DeleteFunc(o.out, func(c engine.Call) bool {
		in, known := o.answers[targetOf(c)]
		switch {
		case !at.Before(c.Since.Add(c.Timeout + near)):
			in = engine.Returned{Err: call.Late(c.Op, call.Expired, "context deadline exceeded")}
		case at.Before(c.Since.Add(near)) || o.isOut(targetOf(c)) || timedOut(in):
			return false
		default:
			if o.missing++; !known {
				in.Err = &call.Error{Op: c.Op, Text: fmt.Sprintf("not recorded: only a kubelet %v would have made this call", o.release)}
			}
		}
		in.ID, in.At = c.ID, at
		all = append(all, in)
		return true
	})
	if due := o.machine.Due(); !due.IsZero() && !due.After(at) {
		all = append(all, engine.Tick{})
	}
	return o.give(at, all...)
}

// give steps the machine, and answers what it asks for where the answer is known already.
func (o *other) give(at time.Time, all ...engine.Input) error {
	for ; len(all) > 0; all = all[1:] {
		o.recorder.Step(at, all[0])
		w, err := o.machine.Work(at, all[0])
		if err != nil {
			return err
		}
		for _, id := range w.End {
			if i := slices.IndexFunc(o.out, func(c engine.Call) bool { return c.ID == id }); i >= 0 {
				o.out = slices.Delete(o.out, i, i+1)
				all = append(all, engine.Returned{ID: id, At: at, Err: &call.Error{Kind: call.ErrCanceled, Code: "Canceled", Text: "context canceled"}})
			}
		}
		for _, c := range w.Make {
			if in, known := o.answer(c, at); known {
				all = append(all, in)
			} else {
				o.out = append(o.out, c)
			}
		}
	}
	return nil
}

// answer returns what comes of a call at once. It is false where the call has to wait: the same is
// asked for in the recording, or may be soon.
func (o *other) answer(c engine.Call, at time.Time) (in engine.Returned, known bool) {
	t := targetOf(c)
	if o.isOut(t) {
		return in, false
	}
	in, known = o.answers[t]
	known = known && at.Sub(in.At) <= near
	if !known && t.pod != "" { // some releases list each pod that they inspect
		in, known = o.answers[target{op: t.op}]
		in.Answer.Sandboxes = ofPod(in.Answer.Sandboxes, func(s pleg.ListedSandbox) bool { return s.Pod.UID == t.pod })
		in.Answer.Containers = ofPod(in.Answer.Containers, func(c pleg.ListedContainer) bool { return c.Pod.UID == t.pod })
	}
	in.ID, in.At = c.ID, at
	return in, known && !timedOut(in)
}

// isOut reports whether the recorded machine asks for something.
func (o *other) isOut(t target) bool {
	for _, asked := range o.asked {
		if asked == t {
			return true
		}
	}
	return false
}

func ofPod[T any](rows []T, of func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(rows), func(row T) bool { return !of(row) })
}

// show makes a snapshot where the recorded engine made one.
func (o *other) show(was *engine.Snapshot) error {
	if err := o.pass(was.At); err != nil {
		return err
	}
	if _, err := o.machine.Snapshot(was.At, was.Cost); err != nil {
		return err
	}
	o.recorder.Shown(was.At, was.Cost)
	return nil
}
