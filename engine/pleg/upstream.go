package pleg

import (
	"fmt"
	"slices"
	"time"
)

// StreamAttempts is how often a kubelet 1.37 opens the runtime's event stream before it gives the
// stream up for good. It never resets the count.
const StreamAttempts = 5

// A Signal is a change of a container or sandbox that a runtime or the kernel reports by itself.
type Signal uint8

const (
	SignalCreated Signal = iota // not started yet: no transition
	SignalStarted
	SignalStopped
	SignalDeleted
)

var signalNames = [...]string{"created", "started", "stopped", "deleted"}

// String returns a lower-case word for s.
func (s Signal) String() string { return Word(s, signalNames[:]) }

// An Upstream is one event of the runtime's event stream (CRI GetContainerEvents) or of the
// kernel. Nobody changes what Status points to.
type Upstream struct {
	Signal Signal
	ID     string        // of the container or sandbox
	At     time.Time     // when it happened, by the source's clock; zero if unknown
	Pod    PodRef        // zero if unknown
	Status *PodStatus    // of the pod at that moment; nil if unknown
	Ran    time.Duration // it had run at least this long at its end; zero if unknown

	// Skipped counts the events that were lost since the previous Upstream: they came too fast or
	// could not be read. An Upstream without ID has only this field.
	Skipped uint64
}

// Asks returns the pod that an [Evented] kubelet relists alone because of u, or "" for none. Only
// a stop with the status of the pod's sandbox asks for a relist. (kubernetes issue 114371)
func (u *Upstream) Asks() UID {
	if u.Signal != SignalStopped || u.Status == nil || len(u.Status.Sandboxes) == 0 {
		return ""
	}
	return u.Status.UID
}

// A Mode is what a kubelet does with the runtime's event stream.
type Mode uint8

const (
	Generic Mode = iota // it ignores the stream and relists. Every kubelet without the gate EventedPLEG
	Evented             // kubelet 1.37 with that gate: each stop of a container or sandbox requests a relist of its pod
)

var modeNames = [...]string{"generic", "evented"}

// String returns the word that the flag --mode takes.
func (m Mode) String() string { return Word(m, modeNames[:]) }

// ParseMode reads what String writes. For any other text it returns an error that names the
// choices.
func ParseMode(s string) (Mode, error) {
	if i := slices.Index(modeNames[:], s); i >= 0 {
		return Mode(i), nil
	}
	return 0, fmt.Errorf("mode %q: want generic or evented", s)
}

// Check returns an error if no kubelet of that release has the mode. Up to 1.36 the gate
// EventedPLEG means another mechanism, which Kubernetes has given up: there the stream writes the
// cache itself.
func (m Mode) Check(r Release) error {
	if m == Evented && r < 37 {
		return fmt.Errorf("mode evented is that of kubelet 1.37, not of %v: up to 1.36 the gate EventedPLEG was an alpha mechanism that Kubernetes has replaced", r)
	}
	return nil
}
