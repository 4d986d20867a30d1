package engine_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/guard"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A behaviour is what calls do instead of answering at once.
type behaviour struct {
	gate   chan struct{} // they wait until it is closed; nil for none
	deaf   bool          // they wait for the gate even after their deadline
	delay  time.Duration
	err    *call.Error // nil for an answer
	panics bool
}

// A scripted runtime answers as a transcript says. It fails the test when two equal calls are
// out at once and when a call has no deadline. The UID of a pod and the id of its first sandbox
// are the pod's name; the id of a container is POD/NAME. It is safe for concurrent use.
type scripted struct {
	t       testing.TB
	timeout time.Duration    // of the kubelet's calls; a call with a shorter one is plegtop's own
	now     func() time.Time // what its clock shows; before the start an hour less

	mu         sync.Mutex
	ahead      time.Duration // of its clock before ours
	version    pleg.Version
	conditions []pleg.Condition
	sandboxes  []*pleg.ListedSandbox // one that has changed is a new one, like the next
	addresses  map[string]string     // by sandbox
	containers []*pleg.ListedContainer
	statuses   map[string]pleg.ContainerStatus // by container: what the list does not say
	unlabelled bool                            // lists all pods, whatever label is asked for
	behaviours map[string]*behaviour           // by operation, "operation object" or "all"
	gates      []chan struct{}                 // of all behaviours so far; nil once open
	out        map[string]bool
	calls      []madeCall    // those that nobody has looked at yet
	looking    *scriptedLook // what looks find; nil if nobody looks
	looks      []madeLook    // those that nobody has been shown yet
	panicked   []any
}

// A madeCall is a call that reached the runtime.
type madeCall struct {
	op, object string
	at         time.Time
	own        bool // plegtop's own: the kubelet would not make it
}

func newScripted(t testing.TB) *scripted {
	r := &scripted{
		t: t, timeout: 2 * time.Minute, now: func() time.Time { return time.Now().Add(-time.Hour) },
		version:    pleg.Version{RuntimeName: "scripted", RuntimeVersion: "1", APIVersion: "v1"},
		conditions: []pleg.Condition{{Type: "RuntimeReady", Status: true}, {Type: "NetworkReady", Status: true}},
		addresses:  map[string]string{}, statuses: map[string]pleg.ContainerStatus{},
		behaviours: map[string]*behaviour{}, out: map[string]bool{},
	}
	panicked := guard.Panicked
	t.Cleanup(func() { guard.Panicked = panicked })
	guard.Panicked = func(value any, _ []byte) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.panicked = append(r.panicked, value)
	}
	return r
}

func (r *scripted) Version(ctx context.Context) (v pleg.Version, err error) {
	err = r.call(ctx, call.Version, "", func() { v = r.version })
	return v, err
}

func (r *scripted) Status(ctx context.Context) (all []pleg.Condition, err error) {
	err = r.call(ctx, call.Status, "", func() { all = slices.Clone(r.conditions) })
	return all, err
}

func (r *scripted) ListPodSandbox(ctx context.Context, uid pleg.UID) (all []*pleg.ListedSandbox, err error) {
	err = r.call(ctx, call.ListPodSandbox, string(uid), func() {
		for _, s := range r.sandboxes {
			if uid == "" || s.Pod.UID == uid || r.unlabelled {
				all = append(all, s)
			}
		}
	})
	return all, err
}

func (r *scripted) ListContainers(ctx context.Context, uid pleg.UID) (all []*pleg.ListedContainer, err error) {
	err = r.call(ctx, call.ListContainers, string(uid), func() {
		for _, c := range r.containers {
			if uid == "" || c.Pod.UID == uid || r.unlabelled {
				all = append(all, c)
			}
		}
	})
	return all, err
}

func (r *scripted) PodSandboxStatus(ctx context.Context, id string) (st pleg.SandboxStatus, err error) {
	found := false
	err = r.call(ctx, call.PodSandboxStatus, id, func() { st, found = r.sandboxStatus(id) })
	if err == nil && !found {
		err = failure(call.PodSandboxStatus, "NotFound", "no such sandbox")
	}
	return st, err
}

func (r *scripted) ContainerStatus(ctx context.Context, id string) (st pleg.ContainerStatus, err error) {
	found := false
	err = r.call(ctx, call.ContainerStatus, id, func() { st, found = r.containerStatus(id) })
	if err == nil && !found {
		err = failure(call.ContainerStatus, "NotFound", "no such container")
	}
	return st, err
}

func (r *scripted) Raw(ctx context.Context, op call.Operation, id string) ([]byte, error) {
	err := r.call(ctx, op, id, func() {})
	return fmt.Appendf(nil, "{\n  \"id\": %q\n}", id), err
}

func (r *scripted) sandboxStatus(id string) (pleg.SandboxStatus, bool) {
	for _, s := range r.sandboxes {
		if s.ID == id {
			st := pleg.SandboxStatus{ID: id, Pod: s.Pod, State: s.State, Attempt: s.Attempt, CreatedAt: s.CreatedAt}
			if ip := r.addresses[id]; ip != "" {
				st.IPs = []string{ip}
			}
			return st, true
		}
	}
	return pleg.SandboxStatus{}, false
}

func (r *scripted) containerStatus(id string) (pleg.ContainerStatus, bool) {
	for _, c := range r.containers {
		if c.ID == id {
			st := r.statuses[id]
			st.ID, st.Name, st.State, st.Attempt, st.CreatedAt = id, c.Name, c.State, c.Attempt, c.CreatedAt
			return st, true
		}
	}
	return pleg.ContainerStatus{}, false
}

// call makes one call and takes its answer.
func (r *scripted) call(ctx context.Context, op call.Operation, object string, answer func()) error {
	key := strings.TrimSpace(op.String() + " " + object)
	deadline, ok := ctx.Deadline()
	r.mu.Lock()
	if !ok {
		r.t.Errorf("%s has no deadline", key)
	}
	if r.out[key] {
		r.t.Errorf("%s is called while it is out", key)
	}
	r.out[key] = true
	r.calls = append(r.calls, madeCall{op.String(), object, time.Now(), time.Until(deadline) < r.timeout})
	b := cmp.Or(r.behaviours[op.String()+" "+cmp.Or(object, "all-pods")], r.behaviours[op.String()], r.behaviours["all"], &behaviour{})
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.out, key)
	}()
	if trace := call.TraceOf(ctx); trace != nil {
		trace.RequestBytes, trace.ResponseBytes = 10, 100
	}
	if err := b.act(ctx, op); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	answer()
	return nil
}

func (b *behaviour) act(ctx context.Context, op call.Operation) error {
	ended := ctx.Done()
	if b.deaf {
		ended = nil
	}
	if b.gate != nil {
		select {
		case <-b.gate:
		case <-ended:
		}
	}
	if b.panics {
		panic("the script wants a panic")
	}
	if b.delay > 0 { // in a bubble a timer of no time now and then crashes the race detector of Go 1.26
		select {
		case <-time.After(b.delay):
		case <-ended:
		}
	}
	switch err := ctx.Err(); {
	case errors.Is(err, context.Canceled):
		return &call.Error{Op: op, Kind: call.ErrCanceled, Code: "Canceled", Text: err.Error()}
	case err != nil:
		return call.NoAnswer(op, call.Expired, err.Error())
	}
	if b.err != nil {
		err := *b.err
		err.Op = op
		return &err
	}
	return nil
}

// behave sets what calls do from now on. A nil b makes them answer again. Then the calls that wait return too,
// unless laterOnly is set. The behaviour of all calls replaces that of single ones.
func (r *scripted) behave(keys []string, b *behaviour, laterOnly bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range keys {
		for k, was := range r.behaviours {
			if k == key || key == "all" {
				delete(r.behaviours, k)
				if was.gate != nil && b == nil && !laterOnly {
					r.open(was.gate)
				}
			}
		}
		if b != nil {
			own := *b
			if own.gate != nil {
				own.gate = make(chan struct{})
			}
			r.behaviours[key], r.gates = &own, append(r.gates, own.gate)
		}
	}
}

// open lets the calls return that wait for this gate, or for any gate if it is nil.
func (r *scripted) open(gate chan struct{}) {
	for i, g := range r.gates {
		if g != nil && (gate == nil || g == gate) {
			close(g)
			r.gates[i] = nil
		}
	}
}

// failure returns the error for a gRPC code. The code Silent stands for a socket that takes connections and
// answers nothing.
func failure(op call.Operation, code, text string) *call.Error {
	kinds := map[string]call.Kind{
		"Unavailable": call.ErrUnavailable, "PermissionDenied": call.ErrPermission, "DeadlineExceeded": call.ErrDeadline,
		"NotFound": call.ErrNotFound, "ResourceExhausted": call.ErrTooLarge, "Unreadable": call.ErrUnreadable, "Unimplemented": call.ErrUnimplemented, "Silent": call.ErrSilent,
	}
	return &call.Error{Op: op, Kind: kinds[code], Code: code, Text: text}
}

// take returns the calls since the last time for which such returns true.
func (r *scripted) take(such func(madeCall) bool) (calls []madeCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = slices.DeleteFunc(r.calls, func(c madeCall) bool {
		if such(c) {
			calls = append(calls, c)
		}
		return such(c)
	})
	return calls
}

func podRef(name string) pleg.PodRef {
	return pleg.PodRef{UID: pleg.UID(name), Namespace: "default", Name: name}
}
