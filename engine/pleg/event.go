package pleg

import (
	"time"
)

// A Kind is the type of an [Event].
type Kind uint8

const (
	Started Kind = iota
	Died
	Removed
	Changed // into a state that says nothing; made by the kubelet, never sent
	PodSync // a reinspection found no change (1.36 and later)

	// What no core makes: derived from what was inspected, and sent to nobody. The
	// proposal of PLEG has such events, and no kubelet.
	NetworkSetUp  // a sandbox has an address
	NetworkFailed // a sandbox came up without being ready, or never had an address
)

var kindNames = [...]string{
	"ContainerStarted", "ContainerDied", "ContainerRemoved", "ContainerChanged", "PodSync", "NetworkSetUp", "NetworkFailed",
}

// String returns the kubelet's name of the event type, such as
// "ContainerStarted".
func (k Kind) String() string { return Word(k, kindNames[:]) }

// A Delivery says what became of an event at the event channel.
type Delivery uint8

const (
	Delivered Delivery = iota
	Filtered           // never meant for the channel ([Changed])
	Discarded          // the channel was full; it is never sent again
	Unseen             // no relist has seen it: only an event source has
	Derived            // no kubelet makes it (see [NetworkSetUp])
)

var deliveryNames = [...]string{"delivered", "filtered", "discarded", "unseen", "derived"}

// String returns a lower-case word for d.
func (d Delivery) String() string { return Word(d, deliveryNames[:]) }

// An Event reports that one container or sandbox was seen in a new state, or,
// for [PodSync], something about a pod as a whole.
// Events are plain values: once released they never change.
//
// What vanished without being seen to end has two events. The first leads to
// Exited, where the second begins, so that each event of an id starts where the
// one before has led. Created and Unknown count as one state in this: the step
// between them makes no event.
type Event struct {
	Kind      Kind
	Delivery  Delivery
	ObjectRef // without an id for events of the pod
	From, To  State
	At        time.Time // when this relist began
	Exited    bool      // Died, and the fresh status has the container as exited: ExitCode holds
	ExitCode  int32
}

// Attend says whether, from now on, the event channel has a reader that keeps
// up: it takes what is in the channel at once, and later the events of each pod
// before those of the next. The kubelet's sync loop is such a reader while it
// is well, since it runs beside the relist. Without one, as at first, events
// stay until [Core.Drain].
func (c *Core) Attend(attended bool) {
	c.attended = attended
	c.readEvents()
}

// Drain empties the event channel, as its reader does when the kubelet's sync
// loop gets round to it, and returns how many events were in it.
func (c *Core) Drain() int {
	n := c.unread
	c.unread = 0
	return n
}

// Len returns how many delivered events nobody has read yet.
func (c *Core) Len() int { return c.unread }

// Capacity returns how many events the channel holds; 0 if it takes none.
func (c *Core) Capacity() int { return c.capacity }

// readEvents lets the reader, if there is one, take what is in the channel.
func (c *Core) readEvents() {
	if c.attended {
		c.unread = 0
	}
}
