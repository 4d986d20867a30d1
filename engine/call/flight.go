package call

import (
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// An Asker says for what a call was made. Only calls of a relist hold up PLEG.
type Asker uint8

const (
	ByRelist     Asker = iota // for a relist, or an inspection that was asked for
	ByStatusLoop              // Status and Version, every 5 s
	ByProbe                   // while a call hangs: whether others are answered
	BySweep                   // to look at every sandbox and container
	ByRequest                 // for one raw answer
	BySearch                  // for what can be seen while the lists fail
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

// Elapsed returns how long the call has been out, as of at.
func (f Flight) Elapsed(at time.Time) time.Duration { return at.Sub(f.Since) }

// Object returns what a call is about: no id for one that is not about one object.
func (f Flight) Object() pleg.ObjectRef {
	return pleg.ObjectRef{ID: f.ID, Pod: f.Pod, Container: f.Container, Sandbox: f.Op == PodSandboxStatus}
}

// SameTarget reports whether two calls would ask the runtime for the same thing. All
// lists are the same, of one kind or the other, of one pod or of all: they cost the most,
// and wait for the same locks.
func (f Flight) SameTarget(g Flight) bool {
	return f.Op == g.Op && f.ID == g.ID || f.Op.IsList() && g.Op.IsList()
}
