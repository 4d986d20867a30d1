package pleg

// A channel is the kubelet's event channel, as a count.
type channel struct {
	length, capacity int
	attended         bool // by a reader that takes its turn after each pod
}

// offer says what becomes of an event, and counts it if it is delivered.
func (h *channel) offer(k Kind) Delivery {
	switch {
	case k == Changed:
		return Filtered
	case h.length >= h.capacity:
		return Discarded
	}
	h.length++
	return Delivered
}

// turn lets the reader take its turn.
func (h *channel) turn() {
	if h.attended {
		h.length = 0
	}
}

// Attend says whether, from now on, the event channel has a reader that keeps
// up: it takes what is in the channel at once, and later the events of each pod
// before those of the next. The kubelet's sync loop is such a reader while it
// is well, since it runs beside the relist. Without one, as at first, events
// stay until [Core.Drain].
func (c *Core) Attend(attended bool) {
	c.channel.attended = attended
	c.channel.turn()
}

// Drain empties the event channel, as its reader does when the kubelet's sync
// loop gets round to it, and returns how many events were in it.
func (c *Core) Drain() int {
	n := c.channel.length
	c.channel.length = 0
	return n
}

// Len returns how many delivered events nobody has read yet.
func (c *Core) Len() int { return c.channel.length }

// Capacity returns how many events the channel holds; 0 if it takes none.
func (c *Core) Capacity() int { return c.channel.capacity }
