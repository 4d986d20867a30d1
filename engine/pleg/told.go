package pleg

import "time"

// toldLasts is how long it is kept what was told of an id. Within that time a relist may
// say again what the stream has told, and the stream what a relist has: a runtime sends
// its events before its lists show them, or long after.
const (
	toldLasts = 2 * EventedPeriod
	toldWrong = time.Minute // if the lists show otherwise
)

// A tale is what was told of one id, by the stream or by relists.
type tale struct {
	state   State             // that the last event has led to
	said    [Removed + 1]bool // of Started, Died, Removed
	at      time.Time         // when something was told last, or CREATED came
	foreign bool              // no relist had the id when the stream told of it
	gone    bool              // the lists had it no more, at the time at the latest: its removal may yet be told
}

// told is what was told of the ids of each pod, where a kubelet with two writers of
// events would tell it twice. Of an id that is not in it, its record says what was told.
type told struct {
	of      map[UID]map[string]tale
	foreign int // how many were when they came
}

// full reports that no new id can be told of.
func (t *told) full(uid UID, id string) bool {
	_, known := t.of[uid][id]
	return !known && t.foreign >= mostTold
}

// tale returns what was told of an id, and whether more is known of it than that its
// record has it in the state was.
func (c *Core) tale(uid UID, id string, was State) (t tale, known bool) {
	if t, known = c.told.of[uid][id]; known {
		return t, true
	}
	t.state = was
	t.said[Started] = t.state == Running || t.state == Exited
	t.said[Died] = t.state == Exited
	t.foreign = t.state == Absent
	return t, false
}

// recorded returns the state in which the record of a pod has an id.
func (c *Core) recorded(uid UID, id string) State {
	r, ok := c.records.byUID[uid]
	if !ok {
		return Absent
	}
	was := states{pod: r.old}
	return was.state(id)
}

func (c *Core) remember(uid UID, id string, t tale) {
	l := &c.told
	if l.of == nil {
		l.of = make(map[UID]map[string]tale)
	}
	tales := l.of[uid]
	if tales == nil {
		tales = make(map[string]tale)
		l.of[uid] = tales
	}
	if _, known := tales[id]; !known && t.foreign {
		l.foreign++
	}
	tales[id] = t
}

// made notes a CREATED, which makes no event.
func (c *Core) made(uid UID, id string, now time.Time) {
	t, known := c.tale(uid, id, c.recorded(uid, id))
	if !known && t.state == Absent {
		t.state, t.at = Created, now
		c.remember(uid, id, t)
	}
}

// tell releases an event and marks it if it says again what was told. was is the state in
// which the record has the id. ran is when whoever tells it saw the id run; zero if never.
func (c *Core) tell(e Event, was State, ran time.Time) {
	t, known := c.tale(e.Pod.UID, e.ID, was)
	if e.Kind > Removed || !known && !c.Evented() {
		c.release(e)
		return
	}
	runs := ran.After(t.at) // else that is older than what was told
	e.Again = t.said[e.Kind] && !(e.Kind == Started && runs && t.said[Died])
	if !e.Again {
		t.lead(&e, runs)
	}
	if c.release(e) != Discarded && !e.Again {
		c.remember(e.Pod.UID, e.ID, t)
	}
}

// lead lets an event that is news begin where the one before has led, and go on to where
// that leads: nowhere if a start is told only after the end.
func (t *tale) lead(e *Event, runs bool) {
	e.From = t.state
	switch {
	case e.Kind == Removed:
		e.From = Exited
	case e.Kind == Started && t.said[Died] && !runs:
		e.To = t.state
	case e.Kind == Started:
		t.said = [Removed + 1]bool{}
	}
	t.said[e.Kind] = true
	t.state, t.at = e.To, e.At
}

// forgetTold forgets, at the end of a relist of all pods, what was told long ago, and
// which pods only the stream knew, unless the relist could not settle them.
func (c *Core) forgetTold() {
	if c.relist.scope != everything || len(c.told.of) == 0 && len(c.ahead.pods) == 0 {
		return
	}
	for uid, g := range c.ahead.pods {
		r := c.records.byUID[uid]
		if r == nil && g.at.Before(c.relist.at) {
			c.cache.Delete(uid)
		}
		if r != nil || g.at.Before(c.relist.at) {
			c.ahead.drop(uid)
		}
	}
	c.told.foreign = 0
	for uid, tales := range c.told.of {
		c.forgetTales(tales, c.records.byUID[uid])
		if len(tales) == 0 {
			delete(c.told.of, uid)
		}
	}
}

// forgetTales forgets the tales of one pod that are too old, and sooner those that its
// record shows to be wrong. A record that did not settle may tell all of them again.
func (c *Core) forgetTales(tales map[string]tale, r *record) {
	var was *Pod
	settled := true
	if r != nil {
		was, settled = r.old, r.current == nil || !r.changed()
	}
	listed := &c.differ.now
	listed.of(was, was.size() > fewIDs)
	for id, t := range tales {
		age, s := c.relist.at.Sub(t.at), listed.state(id)
		if settled && s == Absent && !t.said[Removed] && !t.gone {
			t.gone, t.at, age = true, c.relist.at, 0
			tales[id] = t
		}
		if settled && (age > toldLasts || age > toldWrong && s != Absent && s != t.state) {
			delete(tales, id)
		} else if t.foreign {
			c.told.foreign++
		}
	}
	listed.pod = nil // it would keep its whole list
}
