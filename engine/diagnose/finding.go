package diagnose

import (
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// An ID names a kind of finding. It is part of the JSON contract.
type ID string

// The kinds of findings.
const (
	RuntimeDown         ID = "runtime-down"
	RuntimeUnresponsive ID = "runtime-unresponsive"
	ListHung            ID = "list-hung"
	ListTooBig          ID = "list-too-big"
	InspectHung         ID = "inspect-hung"
	InspectFailing      ID = "inspect-failing"
	RelistSlowChurn     ID = "relist-slow-churn"
	RuntimeSlow         ID = "runtime-slow"
	PLEGUnhealthy       ID = "pleg-unhealthy"
	PLEGFlapping        ID = "pleg-flapping"
	RuntimeNotReady     ID = "runtime-not-ready"
	NetworkNotReady     ID = "network-not-ready"
	EventsDiscarded     ID = "events-discarded"
	CrashLoop           ID = "crash-loop"
	GhostRunning        ID = "ghost-running"
	ProcessStuck        ID = "process-stuck"
	OrphanShims         ID = "orphan-shims"
	HostPressure        ID = "host-pressure"
	KubeletStuck        ID = "kubelet-stuck"
	ClockStep           ID = "clock-step"
	EventDrift          ID = "event-drift"
)

// Severity says how bad a finding is. The zero value is the mildest.
type Severity uint8

const (
	Info     Severity = iota // worth knowing; nothing to do
	Warning                  // leads to trouble, or is a small one
	Critical                 // the node is, or will soon be, unhealthy
)

// String returns the word of the JSON contract.
func (s Severity) String() string {
	return [...]string{"info", "warning", "critical"}[min(s, Critical)]
}

// A Subject is what a finding is about, as far as it is about one thing. Names
// are as the runtime gave them, not cleaned.
type Subject struct {
	Operation   string // a CRI method's name, or empty
	Pod         pleg.PodRef
	Container   string // its name; empty for a sandbox
	ContainerID string // of the container or, without one, the sandbox
}

// on returns the subject of a call.
func on(op call.Operation, pod pleg.PodRef, container, id string) Subject {
	return Subject{Operation: op.String(), Pod: pod, Container: container, ContainerID: id}
}

// A Step is something to do next.
type Step struct {
	Text    string // what it is good for, or what to do where no command does it
	Command string // for a shell, its arguments quoted; may be empty
	Risky   bool   // changes something on the node
}

// String returns the step in one line.
func (s Step) String() string {
	out := s.Text
	if s.Command != "" {
		out = s.Command + "  # " + s.Text
	}
	if s.Risky {
		return "risky: " + out
	}
	return out
}

// A Finding is one thing that is wrong, or that explains another. Texts hold
// what the runtime said word for word and are not cleaned.
type Finding struct {
	ID       ID
	Severity Severity
	Summary  string // one sentence with the figures, without a full stop
	Subject  Subject
	Evidence []string // lines with figures, the strongest first
	Next     []Step   // the safe first
	Cause    ID       // of another finding that explains this one; empty for a cause
}
