package pleg

import (
	"fmt"
	"time"
)

// A Signal is what a runtime or the kernel says has happened to a container or sandbox,
// without being asked.
type Signal uint8

const (
	SignalCreated Signal = iota // made and not started: no transition
	SignalStarted
	SignalStopped
	SignalDeleted
)

var signalNames = [...]string{"created", "started", "stopped", "deleted"}

// String returns a lower-case word for s.
func (s Signal) String() string { return Word(s, signalNames[:]) }

// An Upstream is one event that nobody asked for: of the runtime's event stream
// (CRI GetContainerEvents), or of the kernel. It is a plain value; whoever has it does
// not change what Status points to.
type Upstream struct {
	Signal Signal
	ID     string     // of the container or sandbox
	At     time.Time  // when it happened, by the clock of whoever says so; zero if nobody does
	Pod    PodRef     // zero where nobody says it
	Status *PodStatus // of the pod just then; nil where nobody says it

	// Ran is for how long at least it had run at its end, by whoever says so; zero if
	// nobody does.
	Ran time.Duration

	// Skipped counts what came since the one before and could not be handed on: too fast,
	// or nothing that can be read. All else may then be zero: without an ID it is no event.
	Skipped uint64
}

// Asks returns the pod that a kubelet in [Evented] relists alone after u; empty if u asks
// for nothing: only an end does, and only where the state of the pod's sandbox comes with
// it. (kubernetes issue 114371)
func (u *Upstream) Asks() UID {
	if u.Signal != SignalStopped || u.Status == nil || len(u.Status.Sandboxes) == 0 {
		return ""
	}
	return u.Status.UID
}

// A Mode says what a kubelet makes of the runtime's event stream.
type Mode uint8

const (
	Generic Mode = iota // nothing: it relists. Every kubelet but those with the gate EventedPLEG
	Evented             // kubelet 1.37 with that gate on: each end of a container or sandbox asks for a relist of its pod
)

var modeNames = [...]string{"generic", "evented"}

// String returns the word that the flag --mode takes.
func (m Mode) String() string { return Word(m, modeNames[:]) }

// ParseMode reads what String writes. It returns an error that names the choices for any
// other text.
func ParseMode(s string) (Mode, error) {
	for m, name := range modeNames {
		if s == name {
			return Mode(m), nil
		}
	}
	return 0, fmt.Errorf("mode %q: want generic or evented", s)
}

// Check returns an error if no kubelet of that release has the mode. Up to 1.36 the gate
// EventedPLEG means another thing, which Kubernetes has given up: the stream writes the
// cache itself.
func (m Mode) Check(r Release) error {
	if m == Evented && r < 37 {
		return fmt.Errorf("mode evented is that of kubelet 1.37, not of %v: up to 1.36 the gate EventedPLEG was an alpha mechanism that Kubernetes has replaced", r)
	}
	return nil
}
