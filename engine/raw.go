package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// ErrNoPod is what [Engine.Raw] returns for a pod that no snapshot has.
var ErrNoPod = errors.New("no such pod")

// A rawAnswer is what the runtime says of one sandbox or container.
type rawAnswer struct {
	Operation string          `json:"operation"`
	Container string          `json:"container,omitempty"`
	ID        string          `json:"id"`
	Answer    json.RawMessage `json:"answer,omitempty"`
	Error     string          `json:"error,omitempty"`
}

// Raw asks the runtime for all sandboxes and containers of a pod, as the newest
// snapshot has them, and returns a JSON array with one object for each: the
// operation, the id, and the answer or the error. Texts are not cleaned.
//
// It blocks, for each object for at most the deadline of a call, in which it
// also waits while a relist's call for that object is out; give it a ctx with a
// deadline of your own. One Raw runs at a time. It makes its calls even while
// paused. A relist waits for it only where both ask for the same object, and no
// longer than it would for its own call. It returns an error only if there is
// no answer to any: [ErrNoPod], [ErrStopped], or the cause of
// ctx's end.
func (e *Engine) Raw(ctx context.Context, uid pleg.UID) ([]byte, error) {
	select {
	case <-e.ended:
		return nil, ErrStopped
	default:
	}
	select {
	case e.raws <- struct{}{}:
		defer func() { <-e.raws }()
	case <-e.ended:
		return nil, ErrStopped
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	flights, ok := e.parts(uid)
	if !ok {
		return nil, fmt.Errorf("ask for pod %s: %w", uid, ErrNoPod)
	}
	answers := make([]rawAnswer, 0, len(flights))
	for _, f := range flights {
		r, err := e.askRaw(ctx, f)
		if err != nil {
			return nil, err
		}
		answers = append(answers, newRawAnswer(f, r))
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(answers); err != nil {
		return nil, fmt.Errorf("write the answers as JSON: %w", err)
	}
	return text.Bytes(), nil
}

// parts returns the calls that ask for all of a pod.
func (e *Engine) parts(uid pleg.UID) ([]call.Flight, bool) {
	s := e.shell.buffer.newest()
	if s == nil {
		return nil, false
	}
	i := slices.IndexFunc(s.Pods, func(p *Pod) bool { return p.UID == uid })
	if i < 0 {
		return nil, false
	}
	return partsOf(s.Pods[i].Seen()), true
}

// askRaw has the machine make one call and waits for what comes of it.
func (e *Engine) askRaw(ctx context.Context, f call.Flight) (reply, error) {
	number, came := e.shell.replies.expect()
	defer e.shell.replies.forget(number)
	e.ask(func(r *Requests) { r.Raw = append(r.Raw, RawRequest{number, f}) })
	select {
	case r := <-came:
		return r, nil
	case <-e.ended:
		return reply{}, ErrStopped
	case <-ctx.Done():
		e.ask(func(r *Requests) { r.Withdrawn = append(r.Withdrawn, number) })
		return reply{}, context.Cause(ctx)
	}
}

func newRawAnswer(f call.Flight, r reply) rawAnswer {
	answer := rawAnswer{Operation: f.Op.String(), Container: f.Container, ID: f.ID}
	switch {
	case r.err != nil:
		answer.Error = r.err.Error()
	case !json.Valid(r.answer):
		answer.Error = "the answer is not JSON"
	default:
		answer.Answer = r.answer
	}
	return answer
}

// replies is where those who have asked for raw answers wait for them. Safe for
// concurrent use.
type replies struct {
	mu      sync.Mutex // guards what follows
	last    uint64
	waiting map[uint64]chan<- reply
}

// expect returns the number for a request, and what its reply will come on.
func (r *replies) expect() (uint64, <-chan reply) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	came := make(chan reply, 1)
	if r.waiting == nil {
		r.waiting = make(map[uint64]chan<- reply)
	}
	r.waiting[r.last] = came
	return r.last, came
}

func (r *replies) forget(number uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.waiting, number)
}

func (r *replies) deliver(all []reply) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range all {
		if came := r.waiting[one.number]; came != nil {
			came <- one // there is room for one, and there is only one
			delete(r.waiting, one.number)
		}
	}
}
