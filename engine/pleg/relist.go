package pleg

import "time"

// A scope is how much of the relist's work a relist does.
type scope uint8

const (
	idle       scope = iota
	everything       // all records
	onePod           // one record
	inspection       // one inspection and nothing else
)

// A relist is how far the present relist has come.
type relist struct {
	scope    scope
	at       time.Time // its start
	observed time.Time // when its only pod was listed; onePod only
	one      [1]*record
	walk     []*record // whose turn comes, in order
	turn     int       // index of the next one
	retrying bool      // in the second pass, that of the retries

	changes []change // of all records, in order; each waits for its record's turn

	// The pod whose inspection is awaited.
	pending *record
	pod     *Pod // what is inspected; the pod as it was, in a retry phase
}

// only makes a record the only one whose turn comes.
func (l *relist) only(r *record) {
	l.one[0] = r
	l.walk = l.one[:]
}

// keptChanges is how much room for changes is kept from one relist to the next:
// enough for a thousand pods that all change, but not for a storm.
const keptChanges = 4096

// end keeps the buffers for the next relist, but nothing of what is in them.
func (l *relist) end() {
	if cap(l.changes) > keptChanges {
		l.changes = nil
	}
	clear(l.changes)
	*l = relist{changes: l.changes[:0]}
}

// next returns the record whose turn it is.
func (l *relist) next() (*record, bool) {
	if l.turn == len(l.walk) {
		return nil, false
	}
	l.turn++
	return l.walk[l.turn-1], true
}

func (l *relist) await(r *record, p *Pod) { l.pending, l.pod = r, p }

// An Inspection is one pod to be inspected.
type Inspection struct {
	Pod       *Pod // as listed; in a second pass, as the relist listed it whose failure is made up for
	ListAgain bool // the kubelet lists the pod again, by its label, before it asks for states
	Retry     bool // the last inspection of this pod failed
}

// Next returns the next pod that needs an inspection; until that is settled it
// returns the same one again. Pods that need none are settled on the way, those
// that are gone with their events. It returns false once nothing is left.
func (c *Core) Next() (Inspection, bool) {
	l := &c.relist
	for l.pending == nil {
		if r, ok := l.next(); ok {
			c.consider(r)
		} else if !c.beginRetries() {
			return Inspection{}, false
		}
	}
	return Inspection{Pod: l.pod, ListAgain: c.rules.listAgain, Retry: l.pending.failed}, true
}

// Pending returns how many inspections the rest of this relist takes, as far
// as is known: one that fails now may be made again in a second pass.
func (c *Core) Pending() int {
	l := &c.relist
	n := 0
	if l.pending != nil {
		n++
	}
	for _, r := range l.walk[min(l.turn, len(l.walk)):] {
		if c.inspects(r) {
			n++
		}
	}
	if c.rules.retryPhase && l.scope == everything && !l.retrying {
		n += c.retries()
	}
	return n
}

func (c *Core) inspects(r *record) bool {
	switch {
	case r.gone:
		return false
	case c.relist.scope == inspection:
		return true
	case c.relist.retrying:
		return r.due
	}
	retry := r.due && !c.rules.retryPhase
	return r.current != nil && (r.changed() || retry)
}

// retries counts the pods that the second pass has to inspect even if all that
// is left of the first goes well.
func (c *Core) retries() int {
	n := 0
	for _, r := range c.relist.walk {
		if r.due && (r.again || !r.changed()) {
			n++
		}
	}
	return n
}

// beginRetries begins the second pass over all pods, if there is one.
func (c *Core) beginRetries() bool {
	l := &c.relist
	if !c.rules.retryPhase || l.scope != everything || l.retrying {
		return false
	}
	l.retrying, l.turn = true, 0
	return true
}

// consider gives a record its turn: either nothing is left to be done for it
// afterwards, or its inspection is awaited.
func (c *Core) consider(r *record) {
	switch {
	case r.gone:
	case c.relist.scope == inspection:
		c.relist.await(r, r.seen())
	case c.relist.retrying:
		c.retry(r)
	default:
		c.reconcile(r)
	}
}

func (c *Core) reconcile(r *record) {
	l := &c.relist
	retry := r.due && !c.rules.retryPhase
	if retry { // before the inspection: what is asked for during it holds for the next
		r.due = false
	}
	switch {
	case !r.changed() && !retry:
	case r.current == nil:
		c.cache.Delete(r.UID)
		c.advance(r, nil)
	default:
		l.await(r, r.current)
	}
}

// retry gives a record its turn in the second pass. Whoever failed only in the
// first pass of this relist waits for the next one.
func (c *Core) retry(r *record) {
	if r.due {
		c.relist.await(r, r.stale)
		return
	}
	r.due, r.again = r.again, false
}
