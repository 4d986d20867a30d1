package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A behaviour is what a call of the fake runtime does instead of answering.
type behaviour struct {
	delay  time.Duration
	hang   bool          // until the context ends
	deaf   chan struct{} // until it is closed, whatever the context says
	stops  chan struct{} // until it is closed or the context ends
	err    error
	panics any
}

// A fakeRuntime answers from a script. Safe for concurrent use.
type fakeRuntime struct {
	t *testing.T

	mu         sync.Mutex
	sandboxes  []pleg.ListedSandbox
	containers []pleg.ListedContainer
	statuses   map[string]pleg.ContainerStatus // beside what the list says
	conditions []pleg.Condition
	version    pleg.Version
	odd        map[string]pleg.Anomalies    // what an answer comes with, by "Op" or "Op id"
	behaviours map[string]behaviour         // by "Op" or "Op id"
	network    func(*pleg.SandboxStatus)    // changes what the status of a sandbox says of it; nil for an address
	unlabelled bool                         // lists all, whatever label is asked for
	calls      []string                     // "Op id", in the order in which they began; without probes
	probed     []string                     // the probes among them
	by         func(call.Flight) call.Asker // who makes a call; nil if that does not matter
	out        map[string]int               // calls that are out, by "Op id"
}

func newFake(t *testing.T) *fakeRuntime {
	return &fakeRuntime{
		t:          t,
		conditions: []pleg.Condition{{Type: "RuntimeReady", Status: true}, {Type: "NetworkReady", Status: true}},
		version:    pleg.Version{RuntimeName: "fake", RuntimeVersion: "1", APIVersion: "v1"},
		statuses:   map[string]pleg.ContainerStatus{},
		behaviours: map[string]behaviour{},
		odd:        map[string]pleg.Anomalies{"ListContainers": {BadTime: 1}},
		out:        map[string]int{},
	}
}

func ref(name string) pleg.PodRef {
	return pleg.PodRef{UID: pleg.UID("uid-" + name), Namespace: "ns", Name: name}
}

// pod adds a pod with one ready sandbox and running containers.
func (r *fakeRuntime) pod(name string, containers ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sandboxes = append(r.sandboxes, pleg.ListedSandbox{
		Pod: ref(name), Sandbox: pleg.Sandbox{ID: name, State: pleg.Running, CreatedAt: time.Now()},
	})
	for _, c := range containers {
		r.containers = append(r.containers, pleg.ListedContainer{
			Pod: ref(name), Container: pleg.Container{ID: name + "/" + c, Name: c, State: pleg.Running, CreatedAt: time.Now()},
		})
		r.statuses[name+"/"+c] = pleg.ContainerStatus{StartedAt: time.Now()}
	}
}

// exit ends a container now.
func (r *fakeRuntime) exit(id string, code int32, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.containers {
		if r.containers[i].ID == id {
			r.containers[i].State = pleg.Exited
			st := r.statuses[id]
			st.FinishedAt, st.ExitCode, st.Reason = time.Now(), code, reason
			r.statuses[id] = st
		}
	}
}

// set puts a container in a state of which the runtime has no times.
func (r *fakeRuntime) set(id string, state pleg.State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.containers {
		if r.containers[i].ID == id {
			r.containers[i].State = state
		}
	}
}

func (r *fakeRuntime) flip(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.containers {
		if r.containers[i].ID != id {
			continue
		}
		if r.containers[i].State == pleg.Running {
			r.containers[i].State = pleg.Exited
		} else {
			r.containers[i].State = pleg.Running
		}
	}
}

func (r *fakeRuntime) remove(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sandboxes = slices.DeleteFunc(r.sandboxes, func(s pleg.ListedSandbox) bool { return s.Pod.Name == name })
	r.containers = slices.DeleteFunc(r.containers, func(c pleg.ListedContainer) bool { return c.Pod.Name == name })
	maps.DeleteFunc(r.statuses, func(id string, _ pleg.ContainerStatus) bool { return strings.HasPrefix(id, name+"/") })
}

// ready sets what Status says of the runtime.
func (r *fakeRuntime) ready(ready bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conditions[0].Status = ready
}

// script sets what "Op" or "Op id" does from now on.
func (r *fakeRuntime) script(key string, b behaviour) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.behaviours[key] = b
}

// oddly sets what the answer to "Op" or "Op id" comes with from now on.
func (r *fakeRuntime) oddly(key string, found pleg.Anomalies) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.odd[key] = found
}

func (r *fakeRuntime) behave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.behaviours)
}

// made returns the calls made since the last time, and forgets them.
func (r *fakeRuntime) made() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	made := r.calls
	r.calls = nil
	return made
}

// countRelists counts the lists of all sandboxes among calls.
func countRelists(calls []string) int {
	n := 0
	for _, c := range calls {
		if c == "ListPodSandbox" {
			n++
		}
	}
	return n
}

// without drops the calls that have nothing to do with relists.
func without(calls []string, ops ...call.Operation) []string {
	return slices.DeleteFunc(calls, func(c string) bool {
		return slices.ContainsFunc(ops, func(op call.Operation) bool { return strings.HasPrefix(c, op.String()) })
	})
}

func (r *fakeRuntime) call(ctx context.Context, op call.Operation, id string) error {
	key := op.String()
	full := strings.TrimSpace(key + " " + id)
	like := full
	if op == call.ListPodSandbox || op == call.ListContainers {
		like = key
	}
	r.mu.Lock()
	if r.by != nil && r.by(call.Flight{Op: op, ID: id}) == call.ByProbe {
		r.probed = append(r.probed, full)
	} else {
		r.calls = append(r.calls, full)
	}
	most := 1
	if op == call.ListContainers && id != "" && r.by != nil && r.by(call.Flight{Op: op}) == call.BySearch {
		most++ // beside the list of all, once that hangs for sure: the referee of the machine knows when
	}
	if r.out[like]++; r.out[like] > most {
		r.t.Errorf("%s is called while it is out", like)
	}
	b, ok := r.behaviours[full]
	if !ok {
		b = r.behaviours[key]
	}
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		if r.out[like]--; r.out[like] == 0 {
			delete(r.out, like)
		}
		r.mu.Unlock()
	}()
	if _, ok := ctx.Deadline(); !ok {
		r.t.Errorf("%s has no deadline", full)
	}
	if trace := call.TraceOf(ctx); trace != nil {
		trace.RequestBytes, trace.ResponseBytes = 10, 100
	}
	if err := b.act(ctx, op); err != nil {
		return err
	}
	if trace := call.TraceOf(ctx); trace != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		trace.Anomalies = r.odd[key]
		if odd, ok := r.odd[full]; ok {
			trace.Anomalies = odd
		}
	}
	return nil
}

func (b behaviour) act(ctx context.Context, op call.Operation) error {
	if b.deaf != nil {
		<-b.deaf
	}
	if b.hang {
		<-ctx.Done()
	}
	if b.stops != nil {
		select {
		case <-b.stops:
		case <-ctx.Done():
		}
	}
	if b.panics != nil {
		panic(b.panics)
	}
	// A timer of no time in a bubble now and then crashes Go 1.26's race detector
	// (runtime.(*timer).maybeRunChan): no delay is no timer.
	if b.delay > 0 {
		select {
		case <-time.After(b.delay):
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return call.Late(op, call.Expired, ctx.Err().Error())
	}
	return b.err
}

func (r *fakeRuntime) Version(ctx context.Context) (pleg.Version, error) {
	err := r.call(ctx, call.Version, "")
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.version, err
}

func (r *fakeRuntime) Status(ctx context.Context) ([]pleg.Condition, error) {
	err := r.call(ctx, call.Status, "")
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.conditions), err
}

func (r *fakeRuntime) ListPodSandbox(ctx context.Context, uid pleg.UID) ([]pleg.ListedSandbox, error) {
	if err := r.call(ctx, call.ListPodSandbox, string(uid)); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	listed := slices.Clone(r.sandboxes)
	other := func(s pleg.ListedSandbox) bool { return !r.unlabelled && uid != "" && s.Pod.UID != uid }
	return slices.DeleteFunc(listed, other), nil
}

func (r *fakeRuntime) ListContainers(ctx context.Context, uid pleg.UID) ([]pleg.ListedContainer, error) {
	if err := r.call(ctx, call.ListContainers, string(uid)); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	listed := slices.Clone(r.containers)
	other := func(c pleg.ListedContainer) bool { return !r.unlabelled && uid != "" && c.Pod.UID != uid }
	return slices.DeleteFunc(listed, other), nil
}

func (r *fakeRuntime) PodSandboxStatus(ctx context.Context, id string) (st pleg.SandboxStatus, err error) {
	if err := r.call(ctx, call.PodSandboxStatus, id); err != nil {
		return st, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.sandboxes {
		if s.ID == id {
			st = pleg.SandboxStatus{ID: id, Pod: s.Pod, State: s.State, CreatedAt: s.CreatedAt, IPs: []string{"10.0.0.1"}}
			if r.network != nil {
				r.network(&st)
			}
			return st, nil
		}
	}
	return st, notFound(call.PodSandboxStatus)
}

func (r *fakeRuntime) ContainerStatus(ctx context.Context, id string) (st pleg.ContainerStatus, err error) {
	if err := r.call(ctx, call.ContainerStatus, id); err != nil {
		return st, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.containers {
		if c.ID == id {
			st = r.statuses[id]
			st.ID, st.Name, st.State, st.CreatedAt = id, c.Name, c.State, c.CreatedAt
			return st, nil
		}
	}
	return st, notFound(call.ContainerStatus)
}

func (r *fakeRuntime) Raw(ctx context.Context, op call.Operation, id string) ([]byte, error) {
	if err := r.call(ctx, op, id); err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "{\n  \"id\": %q\n}", id), nil
}

func notFound(op call.Operation) error {
	return &call.Error{Op: op, Kind: call.ErrNotFound, Code: "NotFound", Text: "gone"}
}

func unavailable(op call.Operation) error {
	return &call.Error{Op: op, Kind: call.ErrUnavailable, Code: "Unavailable", Text: "nobody listens"}
}
