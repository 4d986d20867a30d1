package pleg

import "time"

// A Kind is the type of an [Event].
type Kind uint8

const (
	Started Kind = iota
	Died
	Removed
	Changed // into unknown; the kubelet computes it and never sends it
	PodSync // a reinspection found no change (1.36 and later)

	// A [Core] never makes these. They are derived from inspections and sent to nobody. The
	// proposal of PLEG has such events, but no kubelet.
	NetworkSetUp  // a sandbox has an address
	NetworkFailed // a sandbox came up without being ready, or never had an address
)

var kindNames = [...]string{
	"ContainerStarted", "ContainerDied", "ContainerRemoved", "ContainerChanged", "PodSync", "NetworkSetUp", "NetworkFailed",
}

// String returns the kubelet's name of the event type, such as "ContainerStarted".
func (k Kind) String() string { return Word(k, kindNames[:]) }

// A Delivery is the outcome of an event at the event channel.
type Delivery uint8

const (
	Delivered Delivery = iota
	Filtered           // not for the channel ([Changed])
	Discarded          // the channel was full; the event is never sent later
	Unseen             // only an event source reported it, no relist
	Derived            // no kubelet makes it (see [NetworkSetUp])
)

var deliveryNames = [...]string{"delivered", "filtered", "discarded", "unseen", "derived"}

// String returns a lower-case word for d.
func (d Delivery) String() string { return Word(d, deliveryNames[:]) }

// An Event reports that one container or sandbox was seen in a new state. A [PodSync] is about a
// pod as a whole.
//
// A container or sandbox that vanished before its end was seen has two events: the first leads
// to Exited, the second begins there. So each event of an id begins in the state where the event
// before ended. Created and Unknown count as one state.
type Event struct {
	Kind      Kind
	Delivery  Delivery
	ObjectRef // without an id for events of the pod
	From, To  State
	At        time.Time // when this relist began
	Exited    bool      // the event is Died, and ExitCode is from the fresh status
	ExitCode  int32
}

// Released returns the events since the last call, in order, with the filtered and the discarded
// ones. It returns nil if there are none. The slice is the caller's.
func (c *Core) Released() []Event {
	events := c.state.Released
	c.state.Released, c.batch = nil, len(events)
	return events
}

// releaseAll releases the events of a record's changes. st is the pod's fresh status, nil if the
// pod has gone.
func (c *Core) releaseAll(r *Record, st *PodStatus) {
	event := Event{ObjectRef: ObjectRef{Pod: r.PodRef}, At: c.state.Relist.At}
	changes, exits := r.changes(), st.Lookup()
	for _, x := range changes {
		for _, kind := range x.kinds() {
			e := x.event(kind, event)
			if s := exits.Container(x.id); kind == Died && s != nil && s.State == Exited { // no exit code if it vanished
				e.ExitCode, e.Exited = s.ExitCode, true
			}
			c.release(e)
		}
	}
	if len(changes) == 0 && c.rules.onDemand {
		event.Kind = PodSync
		c.release(event)
	}
	c.read()
}

// release offers an event to the channel. Whether the channel takes it or not, the event is
// released.
func (c *Core) release(e Event) {
	switch {
	case e.Kind == Changed:
		e.Delivery = Filtered
	case c.state.Unread >= c.capacity:
		e.Delivery = Discarded
	default:
		c.state.Unread++ // and Delivered, the zero value
	}
	if c.state.Released == nil {
		c.state.Released = make([]Event, 0, max(c.batch, 1))
	}
	c.state.Released = append(c.state.Released, e)
}

// Attend sets whether the event channel has a reader that keeps up. Such a reader empties the
// channel at once, and later after each pod's events. The kubelet's sync loop does that while it
// is well. Without such a reader, events stay in the channel. A new core has none.
func (c *Core) Attend(attended bool) {
	c.state.Attended = attended
	c.read()
}

// read lets the reader, if there is one, take what is in the channel.
func (c *Core) read() {
	if c.state.Attended {
		c.state.Unread = 0
	}
}

// Len returns how many delivered events nobody has read yet.
func (c *Core) Len() int { return c.state.Unread }

// Capacity returns how many events the channel takes.
func (c *Core) Capacity() int { return c.capacity }
