package replay

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/record"
)

// A WhatIf says what kubelets of other releases would have made of a recording.
type WhatIf struct {
	From     time.Time `line:"from"` // what was recorded
	To       time.Time `line:"to"`
	Recorded Account   `line:"recorded"` // as it was: nothing is guessed
	Control  Account   `line:"control"`  // the recorded release, by the way of the others: how far they can be believed
	Others   []Account `line:"releases"` // as they were asked for
	Damage   error     `line:"-"`        // why the recording could be played no further; nil if it is whole
}

// Ask plays a recording, and has the machine decide again what it asks for, by the relists of
// other releases. Each call that such a machine makes is answered as the recording tells: see
// [Account].Unknown for those that it does not tell of. It fails where ctx ends, and where
// nothing can be played.
func Ask(ctx context.Context, r *record.Recording, releases []pleg.Release) (w WhatIf, err error) {
	runs, err := w.listen(ctx, r)
	if err != nil {
		return w, err
	}
	if w.Control, err = w.ask(ctx, r, runs, 0); err != nil {
		return w, err
	}
	for _, release := range releases {
		a := w.Control
		if release != w.Recorded.Release {
			if a, err = w.ask(ctx, r, runs, release); err != nil {
				return w, err
			}
		}
		w.Others = append(w.Others, a)
	}
	return w, nil
}

// listen plays the recording and takes down what happened.
func (w *WhatIf) listen(ctx context.Context, r *record.Recording) (runs []*run, err error) {
	p := r.Play(time.Time{})
	defer p.Close()
	var b book
	l := listener{recording: r, begun: func(at time.Time, m *engine.Replay) { b.begin(at, m.Standing(at)) }}
	p.Tap(func(s record.Step) {
		l.step(s)
		b.step(s.At, s.Work, s.Machine.Standing(s.At))
	})
	for err == nil {
		if _, err = p.Next(); err == nil {
			err = errors.Join(context.Cause(ctx), l.err)
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	if !errors.Is(err, io.EOF) {
		w.Damage = err
	}
	if len(l.runs) == 0 {
		return nil, errors.Join(errors.New("what if: nothing is recorded"), w.Damage)
	}
	b.end()
	w.Recorded, w.From, w.To = b.Account, l.runs[0].began.Round(0), l.runs[len(l.runs)-1].end.Round(0)
	return l.runs, nil
}

// ask returns the account of a release; 0 stands for the recorded one.
func (w *WhatIf) ask(ctx context.Context, r *record.Recording, runs []*run, release pleg.Release) (Account, error) {
	var b book
	for _, of := range runs {
		m, err := r.Machine(of.segment)
		if err != nil {
			return b.Account, err
		}
		if release != 0 {
			m.Emulate(release)
		}
		b.begin(of.began, m.Standing(of.began))
		again := &again{run: of, machine: m, book: &b, follows: release == 0}
		if err := again.play(ctx); err != nil {
			return b.Account, err
		}
	}
	if b.end(); release != 0 {
		b.Release = release
	}
	return b.Account, nil
}

// An again is a machine that goes through a run once more.
type again struct {
	*run
	machine *engine.Replay
	book    *book
	follows bool // it is told whose relist to make, as the recorded one was
	now     time.Time
	given   int               // of the inputs
	out     []engine.Returned // what comes of the calls that are out, the next one first
}

// play steps the machine from the beginning of the run to its end.
func (a *again) play(ctx context.Context) error {
	for a.now = a.began; ; {
		at, in := a.next()
		if at.After(a.end) {
			return nil
		}
		a.now = at
		if in == nil {
			continue
		}
		w, err := a.machine.Work(at, in)
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		a.take(w)
		a.book.step(at, w, a.machine.Standing(at))
	}
}

// next takes what happens next: an answer before an input, and that before the passing of time.
// It is nothing where another machine is not told.
func (a *again) next() (at time.Time, in engine.Input) {
	at, in = a.end.Add(1), engine.Tick{}
	if due := a.machine.Due(); !due.IsZero() {
		if at = due; !at.After(a.now) {
			at = a.now.Add(time.Millisecond)
		}
	}
	if a.given < len(a.inputs) && !a.inputs[a.given].at.After(at) {
		at, in = a.inputs[a.given].at, a.inputs[a.given].in
	}
	if len(a.out) > 0 && !a.out[0].At.After(at) {
		at, in = a.out[0].At, a.out[0]
		a.out = a.out[1:]
		return later(at, a.now), in
	}
	if _, tick := in.(engine.Tick); !tick {
		a.given++
	}
	if _, told := in.(engine.Told); told && !a.follows {
		in = nil
	}
	return later(at, a.now), in
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// take answers the calls that the machine makes, and ends those that it ends.
func (a *again) take(w engine.Work) {
	for _, id := range w.End {
		i := slices.IndexFunc(a.out, func(r engine.Returned) bool { return r.ID == id })
		if i < 0 {
			continue
		}
		a.out = slices.Delete(a.out, i, i+1)
		a.put(engine.Returned{ID: id, At: a.now, Err: &call.Error{Kind: call.ErrCanceled, Code: "Canceled", Text: "context canceled"}})
	}
	for _, c := range w.Make {
		with, known := a.answer(c, a.now)
		if !known {
			a.book.Unknown++
		}
		a.put(with)
	}
}

// put keeps an answer until its time has come.
func (a *again) put(r engine.Returned) {
	i, _ := slices.BinarySearchFunc(a.out, r, func(b, r engine.Returned) int {
		if b.At.After(r.At) {
			return 1
		}
		return -1
	})
	a.out = slices.Insert(a.out, i, r)
}
