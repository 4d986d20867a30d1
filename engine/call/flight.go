// Package call describes the RPCs to the runtime. It has types for one call: its operation,
// target, outcome and size. A [Table] has what is known of each target. This package decides
// whether a call is late or hangs, and how much of the runtime is in trouble.
//
// It is pure: time is an argument. Everything but a [Table] is a plain value and safe to
// copy; a [Trace] belongs to the call that it travels with.
package call

import (
	"context"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// An Asker says why a call was made. Only calls of a relist hold up PLEG.
type Asker uint8

const (
	ByRelist     Asker = iota // for a relist, or an inspection that was asked for
	ByStatusLoop              // Status and Version, every 5 s
	ByProbe                   // while a call hangs, to see whether others are answered
	BySweep                   // to look at every sandbox and container
	ByRequest                 // for one raw answer
	BySearch                  // to see something while the lists fail
	AskerCount                // how many there are
)

// A Flight is a call that has not returned yet.
type Flight struct {
	By        Asker       `line:"-"`
	Op        Operation   `line:"operation"`
	Pod       pleg.PodRef `line:",inline"`                   // zero for calls that are not about one pod
	Container string      `line:"container,omitempty,raw"`   // its name; empty for a sandbox
	ID        string      `line:"containerId,omitempty,raw"` // of the container or sandbox
	Since     time.Time   `line:"-"`
}

// Ours reports whether no kubelet would make the call.
func (f Flight) Ours() bool { return f.By != ByRelist && f.By != ByStatusLoop }

// Elapsed returns how long the call has been out, as of at.
func (f Flight) Elapsed(at time.Time) time.Duration { return at.Sub(f.Since) }

// Object returns the object of a call. It has no id if the call is not about one object.
func (f Flight) Object() pleg.ObjectRef {
	return pleg.ObjectRef{ID: f.ID, Pod: f.Pod, Container: f.Container, Sandbox: f.Op == PodSandboxStatus}
}

// SameTarget reports whether two calls would ask the runtime for the same thing. All lists have
// the same target, lists of sandboxes or containers, of one pod or of all: they cost the most,
// and wait for the same locks.
func (f Flight) SameTarget(g Flight) bool {
	return f.Op == g.Op && f.ID == g.ID || f.Op.IsList() && g.Op.IsList()
}

// An Operation is a method of the CRI RuntimeService.
type Operation uint8

// The operations that plegtop ever performs on a runtime. None of them changes
// anything there.
const (
	Version Operation = iota
	Status
	ListPodSandbox
	ListContainers
	PodSandboxStatus
	ContainerStatus
	GetContainerEvents
	operations
)

var operationNames = [operations]string{
	"Version", "Status", "ListPodSandbox", "ListContainers", "PodSandboxStatus", "ContainerStatus", "GetContainerEvents",
}

// String returns the CRI method's name, or "unknown" for any other value.
func (o Operation) String() string { return pleg.Word(o, operationNames[:]) }

// AboutObject reports whether a call is about one sandbox or container.
func (o Operation) AboutObject() bool { return o == PodSandboxStatus || o == ContainerStatus }

// IsList reports whether a call lists sandboxes or containers.
func (o Operation) IsList() bool { return o == ListPodSandbox || o == ListContainers }

// Operations returns all operations in the order in which a screen lists them.
func Operations() []Operation {
	return []Operation{Version, Status, ListPodSandbox, ListContainers, PodSandboxStatus, ContainerStatus, GetContainerEvents}
}

// A Trace collects what the transport knows of one call and its caller does
// not. The caller puts it in the context with [WithTrace]; the transport fills
// it in before the call returns, so it may be read after that without a lock.
type Trace struct {
	RequestBytes  int64 // on the wire, after compression, without framing
	ResponseBytes int64

	// Anomalies counts the parts of the answer that had to be left out or changed. It is zero for a
	// call that failed.
	Anomalies pleg.Anomalies
}

type traceKey struct{}

// WithTrace returns a context that carries t to the transport.
func WithTrace(ctx context.Context, t *Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceOf returns the trace that ctx carries, or nil.
func TraceOf(ctx context.Context) *Trace {
	t, _ := ctx.Value(traceKey{}).(*Trace)
	return t
}
