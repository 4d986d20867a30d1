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

// A Mode says what a kubelet makes of the runtime's event stream.
type Mode uint8

const (
	Generic Mode = iota // nothing: it relists. Every kubelet but those with the gate EventedPLEG
	Evented             // as the release does it with that gate on: up to 1.36 events write the cache and the channel, in 1.37 some of them ask for a relist
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

// An Outcome is what an [Upstream] led to.
type Outcome struct {
	Ignored string // why it led to nothing, in plain words; empty if it led to something
	Relist  UID    // of the pod that is to be relisted alone; empty for none
}

// A Use is what becomes of the stream's events.
type Use uint8

// The values of [Use].
const (
	StreamUnused Use = iota // others than PLEG may look at it
	StreamWrites            // the cache and the channel: 1.26 to 1.36 with the gate EventedPLEG
	StreamAsks              // for a relist of the pod at an end that nobody expected: 1.37
)

// Use returns what a kubelet of that mode and release makes of the stream. The gate
// EventedPLEG is there from 1.26 on; 1.37 has it do something else.
func (m Mode) Use(r Release) Use {
	switch {
	case m != Evented || r < 26:
		return StreamUnused
	case r < 37:
		return StreamWrites
	}
	return StreamAsks
}

// Writes reports whether a kubelet of that mode and release has the stream write its cache
// and its channel, and relists only to be safe.
func (m Mode) Writes(r Release) bool { return m.Use(r) == StreamWrites }

// used is what becomes of the stream's events now.
func (c *Core) used() Use {
	if c.fellBack {
		return StreamUnused
	}
	return c.mode.Use(c.followed)
}

// Mode returns the mode that holds now. It is [Generic] whatever the [Config] says once
// the stream was given up, and for 1.25, which knows no stream.
func (c *Core) Mode() Mode {
	if c.used() == StreamUnused {
		return Generic
	}
	return c.mode
}

// Evented reports whether events of the stream write cache and channel now, as up to 1.36
// in [Evented]: then the relist is but a safety net, each [EventedPeriod].
func (c *Core) Evented() bool { return c.used() == StreamWrites }

// Apply takes in one event of the runtime's stream at now, as the mode wants it. Events
// that it makes are released at once, also while a relist is under way. It may be called
// between any two other calls.
func (c *Core) Apply(now time.Time, u Upstream) Outcome {
	how := c.used()
	switch {
	case how == StreamUnused && c.fellBack:
		return Outcome{Ignored: "the event stream was given up"}
	case how == StreamUnused:
		return Outcome{Ignored: "the mode is generic"}
	case u.Status == nil || len(u.Status.Sandboxes) == 0 || u.Status.UID == "":
		return Outcome{Ignored: "it does not say the state of its pod's sandbox"} // kubernetes issue 114371
	case how == StreamWrites:
		return c.write(now, u)
	case u.Signal != SignalStopped:
		return Outcome{Ignored: "only an end asks for a relist"}
	case !unexpected(u):
		return Outcome{Ignored: "only an end that was not expected asks for a relist"}
	}
	return Outcome{Relist: u.Status.UID}
}

// unexpected reports whether a container ended as nobody wants it to, by the status that
// came with the event (kubelet 1.37). A sandbox has no such status.
func unexpected(u Upstream) bool {
	c := u.Status.Lookup().Container(u.ID)
	return c != nil && (c.Reason == "OOMKilled" || c.State == Exited && c.ExitCode != 0)
}

// FallBack gives the stream up for good: its events are ignored from now on, and what the
// relist does is all there is. Up to 1.36 the threshold is that of [Config] again; what
// the gate EventedPLEG means to cache and health stays, as in the kubelet.
func (c *Core) FallBack() { c.fellBack = true }

// Touch moves the cache's global time to now, as a kubelet up to 1.36 does every
// [TouchEvery] while the stream is in use, so that no pod worker is stuck because an event
// was lost. In any other mode it does nothing.
func (c *Core) Touch(now time.Time) {
	if c.Evented() {
		c.cache.UpdateTime(now)
	}
}

// Threshold returns the age of the last good list above which PLEG is unhealthy now.
func (c *Core) Threshold() time.Duration {
	if c.Evented() {
		return EventedThreshold
	}
	return c.threshold
}

// OnDemand reports whether one pod can be relisted alone (see [Core.BeginPod]).
func (c *Core) OnDemand() bool { return c.rules.onDemand }
