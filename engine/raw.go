package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

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
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
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
	finished := make(chan struct{})
	defer close(finished)
	go func() {
		select {
		case <-e.ended:
			cancel(ErrStopped)
		case <-finished:
		}
	}()
	return e.raw(ctx, uid)
}

func (e *Engine) raw(ctx context.Context, uid pleg.UID) ([]byte, error) {
	flights, ok := e.parts(uid)
	if !ok {
		return nil, fmt.Errorf("ask for pod %s: %w", uid, ErrNoPod)
	}
	answers := make([]rawAnswer, 0, len(flights))
	for _, f := range flights {
		f.By = ByRequest
		answer := e.rawOne(ctx, f)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		answers = append(answers, answer)
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
func (e *Engine) parts(uid pleg.UID) ([]Flight, bool) {
	s := e.board.newest()
	if s == nil {
		return nil, false
	}
	i := slices.IndexFunc(s.Pods, func(p *Pod) bool { return p.UID == uid })
	if i < 0 {
		return nil, false
	}
	return partsOf(s.Pods[i].PodRef, s.Pods[i].Seen()), true
}

func (e *Engine) rawOne(ctx context.Context, f Flight) rawAnswer {
	answer := rawAnswer{Operation: f.Op.String(), Container: f.Container, ID: f.ID}
	_, err := e.call(ctx, f, func(ctx context.Context) (err error) {
		e.requests.poke() // the driver sees to it that a call that hangs is shown
		answer.Answer, err = e.config.Runtime.Raw(ctx, f.Op, f.ID)
		return err
	})
	switch {
	case err != nil:
		answer.Answer, answer.Error = nil, err.Error()
	case !json.Valid(answer.Answer):
		answer.Answer, answer.Error = nil, "the answer is not JSON"
	}
	return answer
}
