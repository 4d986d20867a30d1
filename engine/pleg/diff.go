package pleg

// A change is one id of a pod with its state in the old record and in the new list. Most changes
// of a diff are none: both states are equal.
type change struct {
	id, name string // name of a container; empty for a sandbox
	from, to State
	sandbox  bool
}

// A differ finds what changed between two versions of a pod.
type differ struct {
	changes []change // of the last diff
}

// fewIDs is how many ids are searched one by one. Below, an index costs more than it saves. Above,
// the search would be quadratic.
const fewIDs = 64

// diff compares two versions of a pod, either of which may be nil, and reports whether anything
// changed. The kubelet's rules: the ids of old come first, each version's containers before its
// sandboxes; an id counts once, where it is listed first. So if a container and a sandbox share an
// id, the container decides.
func (d *differ) diff(old, current *Pod) (changed bool) {
	d.changes = d.changes[:0]
	index := make(map[string]int, max(old.size(), current.size()))
	old.each(func(c change) {
		if _, ok := index[c.id]; !ok {
			index[c.id] = len(d.changes)
			c.from, c.to = c.to, Absent
			d.changes = append(d.changes, c)
		}
	})
	current.each(func(c change) {
		if i, ok := index[c.id]; !ok {
			index[c.id] = len(d.changes)
			d.changes = append(d.changes, c)
		} else if d.changes[i].to == Absent {
			d.changes[i].to = c.to
		}
	})
	for i := range d.changes {
		changed = changed || len(d.changes[i].kinds()) > 0
	}
	return changed
}

// each calls f for each id that a pod lists, as if the id was new.
func (p *Pod) each(f func(change)) {
	if p == nil {
		return
	}
	for i := range p.Containers {
		c := &p.Containers[i]
		f(change{id: c.ID, name: c.Name, to: c.State.listed()})
	}
	for i := range p.Sandboxes {
		s := &p.Sandboxes[i]
		f(change{id: s.ID, sandbox: true, to: s.State.listed()})
	}
}

// The events of each change, in order.
var (
	started     = []Kind{Started}
	died        = []Kind{Died}
	removed     = []Kind{Removed}
	changed     = []Kind{Changed}
	diedRemoved = []Kind{Died, Removed}
)

// kinds returns the events that a change makes. Created counts as Unknown.
func (c *change) kinds() []Kind {
	from, to := c.from, c.to
	if from == Created {
		from = Unknown
	}
	if to == Created {
		to = Unknown
	}
	switch {
	case from == to:
		return nil
	case to == Running:
		return started
	case to == Exited:
		return died
	case to == Unknown:
		return changed
	case from == Exited:
		return removed // an earlier event reported its end
	}
	return diedRemoved
}

// event returns the event of one of the kinds. base has what all events of the pod share. What
// vanished while it ran must have ended before it was removed.
func (c *change) event(kind Kind, base Event) Event {
	base.Kind, base.ID, base.Container, base.Sandbox = kind, c.id, c.name, c.sandbox
	base.From, base.To = c.from, c.to
	switch {
	case kind == Removed:
		base.From = Exited
	case kind == Died && c.to == Absent:
		base.To = Exited
	}
	return base
}
