package podworker

import (
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A Shadow has the pod workers that a kubelet would have if it saw the same. They do not act.
// They show which pods would have been woken, for what, and which pods wait for a status that
// the relist does not give.
//
// Add the pods that the relist has found before Advance. Remove the pods that have gone after
// Advance, since it still hands on their events.
type Shadow struct {
	*Set
	channel []pleg.Event // what the sync loop has not read yet; no more than the event channel holds
}

// NewShadow returns a shadow without pods. Its workers read the cache.
func NewShadow(cache *pleg.Cache) *Shadow { return &Shadow{Set: New(cache, false)} }

// Send takes in an event that the relist has released.
func (s *Shadow) Send(e pleg.Event) {
	if e.Delivery == pleg.Delivered {
		s.channel = append(s.channel, e)
	}
}

// Advance takes in newer statuses in the cache, and hands on the events if the sync loop has
// read the channel. A sync lasts until the loop has handed on all its events. So the events of
// one relist make one sync at once, and one more when a status is newer than that sync.
func (s *Shadow) Advance(now time.Time, read bool) {
	s.Set.Advance(now)
	begun := s.begin(now, nil)
	if read {
		for _, e := range s.channel {
			s.Event(now, e)
			begun = s.begin(now, begun)
		}
		s.channel = nil
	}
	for len(begun) > 0 {
		s.Done(now, begun[0])
		begun = s.begin(now, begun[1:]) // its status may be newer already
	}
}

// begin begins all syncs that are ready, and adds their pods to begun.
func (s *Shadow) begin(now time.Time, begun []pleg.UID) []pleg.UID {
	for uid, more := s.Next(now); more; uid, more = s.Next(now) {
		begun = append(begun, uid)
	}
	return begun
}

// A Checkpoint is the whole state of a [Shadow] between two calls of Advance.
type Checkpoint struct {
	Sums    Workers // but for All
	Records []Record
	Channel []pleg.Event
}

// Checkpoint returns the state, to be written down at once: it shares memory with s.
func (s *Shadow) Checkpoint() Checkpoint {
	c := Checkpoint{Sums: s.sums, Channel: s.channel}
	for _, w := range s.all {
		c.Records = append(c.Records, *w)
	}
	return c
}

// Restore returns a shadow in that state. The cache must be in the state of the same moment: it
// has the tickets of the workers that wait.
func Restore(cache *pleg.Cache, c Checkpoint) *Shadow {
	s := &Shadow{Set: New(cache, false), channel: c.Channel}
	s.sums = c.Sums
	for _, w := range c.Records {
		s.all = append(s.all, &w)
		s.byUID[w.Worker.Pod.UID] = &w
	}
	return s
}
