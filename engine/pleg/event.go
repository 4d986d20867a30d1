package pleg

import "time"

// A Kind is the type of an [Event].
type Kind uint8

const (
	Started Kind = iota
	Died
	Removed
	Changed      // into a state that says nothing; made by the kubelet, never sent
	PodSync      // a reinspection found no change (1.36 and later)
	ConditionMet // a watch condition holds (1.32 to 1.35)
)

var kindNames = [...]string{
	"ContainerStarted", "ContainerDied", "ContainerRemoved", "ContainerChanged", "PodSync", "ConditionMet",
}

// String returns the kubelet's name of the event type, such as
// "ContainerStarted".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// A Delivery says what became of an event at the event channel.
type Delivery uint8

const (
	Delivered Delivery = iota
	Filtered           // never meant for the channel ([Changed])
	Discarded          // the channel was full; it is never sent again
)

var deliveryNames = [...]string{"delivered", "filtered", "discarded"}

// String returns a lower-case word for d.
func (d Delivery) String() string {
	if int(d) < len(deliveryNames) {
		return deliveryNames[d]
	}
	return "unknown"
}

// An Event reports that one container or sandbox was seen in a new state, or,
// for [PodSync] and [ConditionMet], something about a pod as a whole.
// Events are plain values: once released they never change.
//
// What vanished without being seen to end has two events. The first leads to
// Exited, where the second begins, so that each event of an id starts where the
// one before has led. Created and Unknown count as one state in this: the step
// between them makes no event.
type Event struct {
	Kind      Kind
	Delivery  Delivery
	Pod       PodRef
	ID        string // of the container or sandbox; empty for events of the pod
	Container string // its name; empty for a sandbox
	Sandbox   bool
	From, To  State
	At        time.Time // when this relist began
	Exited    bool      // Died, and the fresh status has the container as exited: ExitCode holds
	ExitCode  int32
}
