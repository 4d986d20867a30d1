package engine

// A ring keeps the newest events for readers that are behind. Its memory grows
// up to its size and no further. Not safe for concurrent use.
type ring struct {
	size   int
	events []Event // the event with sequence number s is at (s-1) modulo size
	last   uint64  // sequence number of the newest event
}

// add numbers e and keeps it, in place of the oldest if the ring is full.
func (r *ring) add(e Event) Event {
	r.last++
	e.Seq = r.last
	if len(r.events) < r.size {
		r.events = append(r.events, e)
	} else {
		r.events[(e.Seq-1)%uint64(r.size)] = e
	}
	return e
}

// between returns the events after the one numbered after, up to the one
// numbered upto, and how many of them the ring has no more.
func (r *ring) between(after, upto uint64) (events []Event, lost uint64) {
	if after >= upto {
		return nil, 0
	}
	first := max(after, r.last-uint64(len(r.events))) + 1
	first = min(first, upto+1)
	for seq := first; seq <= upto; seq++ {
		if events == nil {
			events = make([]Event, 0, upto+1-first)
		}
		events = append(events, r.events[(seq-1)%uint64(r.size)])
	}
	return events, first - after - 1
}
