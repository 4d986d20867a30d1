package pleg

import (
	"fmt"
	"time"
)

// What the stream may tell of before a relist has shown it. Beyond that its events are
// ignored, and the next relist finds the rest: a kubelet has no such bound, and a stream
// without sense would fill its memory.
const (
	mostAhead  = 1000   // pods
	mostTold   = 10_000 // ids
	mostWeight = 10_000 // of those pods, as [PodStatus.Weight] has it
)

// ahead is which pods are in the cache only because the stream told of them.
type ahead struct {
	pods   map[UID]glimpse
	weight int // of all of them
}

// A glimpse is what the stream told last of a pod that no relist has shown.
type glimpse struct {
	at     time.Time
	weight int
}

func (a *ahead) full(uid UID, st *PodStatus) bool {
	g, known := a.pods[uid]
	return !known && len(a.pods) >= mostAhead || a.weight-g.weight+st.Weight() > mostWeight
}

func (a *ahead) put(uid UID, g glimpse) {
	a.drop(uid)
	if a.pods == nil {
		a.pods = make(map[UID]glimpse)
	}
	a.pods[uid] = g
	a.weight += g.weight
}

func (a *ahead) drop(uid UID) {
	a.weight -= a.pods[uid].weight
	delete(a.pods, uid)
}

// Ahead reports whether only the stream has told of a pod, and no relist can have shown it:
// the one under way began before that.
func (c *Core) Ahead(uid UID) bool {
	g, ok := c.ahead.pods[uid]
	return ok && !g.at.Before(c.relist.at)
}

// write does with an event what a kubelet does from 1.26 to 1.36. (kubelet 1.36,
// EventedPLEG.processCRIEvents)
func (c *Core) write(now time.Time, u Upstream) Outcome {
	st := *u.Status
	uid := st.UID
	_, listed := c.records.byUID[uid]
	if !listed && c.ahead.full(uid, &st) || c.told.full(uid, u.ID) && c.recorded(uid, u.ID) == Absent {
		return Outcome{Ignored: "the stream tells of too much that no relist has shown"}
	}
	if len(st.IPs) == 0 {
		st.IPs = c.keptIPs(uid, &st)
	}
	was, _ := c.cache.Get(uid)
	c.gauges.move(was, &st) // also by what the cache refuses
	switch {
	case u.Signal == SignalDeleted && st.HasSandbox(u.ID):
		c.cache.Delete(uid)
		c.ahead.drop(uid)
	case u.Signal == SignalDeleted:
	case !c.cache.Set(uid, &st, nil, u.At):
		return Outcome{Ignored: "it is older than what the cache has of its pod"}
	case !listed:
		c.ahead.put(uid, glimpse{now, st.Weight()})
	}
	c.exits = st.Lookup()
	if c.exits.Container(u.ID) == nil {
		c.exits = was.Lookup() // a container that was removed has left its end there
	}
	c.send(now, u, &st)
	c.readEvents()
	return Outcome{}
}

// send makes the events of a signal: both of them for a DELETED, always, and none for a
// CREATED.
func (c *Core) send(now time.Time, u Upstream, st *PodStatus) {
	e := Event{ObjectRef: ObjectRef{Pod: st.PodRef, ID: u.ID, Sandbox: st.HasSandbox(u.ID)}, At: now, Streamed: true}
	var ran time.Time
	if s := c.exits.Container(u.ID); s != nil {
		if e.Container = s.Name; s.State == Running {
			ran = u.At
		}
	}
	was := c.recorded(st.UID, u.ID)
	switch u.Signal {
	case SignalCreated:
		c.made(st.UID, u.ID, now)
	case SignalStarted:
		c.tell(as(e, Started, Running), was, ran)
	case SignalStopped:
		c.tell(as(e, Died, Exited), was, ran)
	case SignalDeleted:
		c.tell(as(e, Died, Exited), was, ran)
		c.tell(as(e, Removed, Absent), was, ran)
	}
}

func as(e Event, kind Kind, to State) Event {
	e.Kind, e.To = kind, to
	return e
}

// move moves the gauges by what a status differs from the one before it, as the kubelet
// does while it uses the stream. Its count of pods goes by a container with the id of the
// sandbox, which hardly any runtime tells of. Where the cache has an error instead of a
// status the kubelet panics (kubernetes issue 128654); here there was nothing then.
func (g *Gauges) move(was, now *PodStatus) {
	if was != nil && len(was.Sandboxes) > 0 {
		g.add(was, -1)
	}
	g.add(now, 1)
}

// add counts what a status, which has a sandbox, holds so many times.
func (g *Gauges) add(s *PodStatus, times int) {
	for i := range s.Containers {
		g.Containers[min(s.Containers[i].State.listed(), Unknown)] += times
	}
	if c := s.Lookup().Container(s.Sandboxes[0].ID); c != nil && c.State == Running {
		g.RunningPods += times
	}
}

// HealthyEvented returns nil if the kubelet would call its EventedPLEG healthy at now, or
// an error with the kubelet's exact text. Up to 1.36 with the gate that is a health check
// of its own beside [Core.Healthy], also after a fall-back; else there is none. As in the
// kubelet it moves pleg_last_seen_seconds, to now, so that the age of the list does
// not show there any more.
func (c *Core) HealthyEvented(now time.Time) error {
	if !c.cache.evented {
		return nil
	}
	if c.unread >= c.capacity {
		return fmt.Errorf("EventedPLEG: pleg event channel capacity is full with %d events", c.unread)
	}
	c.lastSeen = time.Unix(now.Unix(), 0)
	return nil
}
