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
func (s Signal) String() string {
	if int(s) < len(signalNames) {
		return signalNames[s]
	}
	return "unknown"
}

// An Upstream is one event that nobody asked for: of the runtime's event stream
// (CRI GetContainerEvents), or of the kernel. It is a plain value; whoever has it does
// not change what Status points to.
type Upstream struct {
	Signal Signal
	ID     string     // of the container or sandbox
	At     time.Time  // when it happened, by the clock of whoever says so; zero if nobody does
	Pod    PodRef     // zero where nobody says it
	Status *PodStatus // of the pod just then; nil where nobody says it

	// Skipped counts what came since the one before and could not be handed on: too fast,
	// or nothing that can be read. All else may then be zero: without an ID it is no event.
	Skipped uint64
}

// A Mode says what a kubelet makes of the runtime's event stream.
type Mode uint8

const (
	Generic Mode = iota // nothing: it relists. Every kubelet but those with the gate EventedPLEG
	Evented             // as the release does it with that gate on: up to 1.36 events write the cache and the channel, in 1.37 some of them ask for a relist
	Preview             // as proposed upstream and in no release: each end asks for a relist of its pod
)

var modeNames = [...]string{"generic", "evented", "preview"}

// String returns the word that the flag --mode takes.
func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return "unknown"
}

// ParseMode reads what String writes. It returns an error that names the choices for any
// other text.
func ParseMode(s string) (Mode, error) {
	for m, name := range modeNames {
		if s == name {
			return Mode(m), nil
		}
	}
	return 0, fmt.Errorf("mode %q: want generic, evented or preview", s)
}

// An Outcome is what an [Upstream] led to.
type Outcome struct {
	Ignored string // why it led to nothing, in plain words; empty if it led to something
	Relist  UID    // of the pod that is to be relisted alone; empty for none
}

// Apply takes in one event of the runtime's stream at now, as the mode wants it. Events
// that it makes are released at once. In [Generic] it ignores all of them.
func (c *Core) Apply(now time.Time, u Upstream) Outcome {
	return Outcome{Ignored: "the mode is generic"}
}
