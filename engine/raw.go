package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// ErrNoPod is the error of [Engine.Raw] for a pod that the newest snapshot does not have.
var ErrNoPod = errors.New("no such pod")

// rawTime is how long [Engine.Raw] waits for one answer. A person does not wait longer, and a call
// that hangs for 10 s is a hang.
const rawTime = 10 * time.Second

// A rawAnswer is what the runtime says about one sandbox or container.
type rawAnswer struct {
	Operation string          `json:"operation"`
	Container string          `json:"container,omitempty"`
	ID        string          `json:"id"`
	Answer    json.RawMessage `json:"answer,omitempty"`
	Error     string          `json:"error,omitempty"`
}

// Raw asks the runtime for all sandboxes and containers of a pod, as the newest snapshot has them.
// It returns a JSON array with one object for each: the operation, the id, and the answer or the
// error. Texts are not cleaned.
//
// Raw blocks for each object, for 10 s at most. In that time it also waits while another call for
// the object is out. If the relist asks for the same object meanwhile, Raw gives way to it. One Raw
// runs at a time. It makes its calls even in a pause. If it returns an error, there are no answers at
// all: [ErrNoPod], [ErrStopped], or the cause of ctx's end.
func (e *Engine) Raw(ctx context.Context, uid pleg.UID) ([]byte, error) {
	select {
	case <-e.hub.over:
		return nil, ErrStopped
	default:
	}
	select {
	case e.raws <- struct{}{}:
		defer func() { <-e.raws }()
	case <-e.hub.over:
		return nil, ErrStopped
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	flights, ok := e.objectsOf(uid)
	if !ok {
		return nil, fmt.Errorf("ask for pod %s: %w", uid, ErrNoPod)
	}
	answers := make([]rawAnswer, 0, len(flights))
	for _, f := range flights {
		a, err := e.askRaw(ctx, f)
		if err != nil {
			return nil, err
		}
		answers = append(answers, a)
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

// objectsOf returns the calls that ask for all objects of a pod.
func (e *Engine) objectsOf(uid pleg.UID) ([]call.Flight, bool) {
	s := e.hub.buffer.newest()
	if s == nil {
		return nil, false
	}
	i := slices.IndexFunc(s.Pods, func(p *Pod) bool { return p.UID == uid })
	if i < 0 {
		return nil, false
	}
	return callsFor(s.Pods[i].Seen()), true
}

// askRaw makes one call and returns its outcome. The error is [ErrStopped] or the cause of ctx's
// end.
func (e *Engine) askRaw(ctx context.Context, f call.Flight) (rawAnswer, error) {
	f.By = call.ByRequest
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(e.calls, func() { cancel(ErrStopped) })()
	m := e.hub.call(ctx, f, min(e.hub.config.Timeout, rawTime))
	if ctx.Err() != nil {
		return rawAnswer{}, context.Cause(ctx)
	}
	a := rawAnswer{Operation: f.Op.String(), Container: f.Container, ID: f.ID}
	switch {
	case m.Err != nil && m.Err.Kind == call.ErrCanceled:
		a.Error = "the relist asks for it now: ask again when it has its answer"
	case m.Err != nil:
		a.Error = m.Err.Error()
	case !json.Valid(m.raw):
		a.Error = "the answer is not JSON"
	default:
		a.Answer = m.raw
	}
	return a, nil
}
