package pleg

var (
	kindStarted     = []Kind{Started}
	kindDied        = []Kind{Died}
	kindRemoved     = []Kind{Removed}
	kindChanged     = []Kind{Changed}
	kindDiedRemoved = []Kind{Died, Removed}
)

// transition returns the events that going from one state to another makes.
func transition(from, to State) []Kind {
	from, to = from.compared(), to.compared()
	switch {
	case from == to:
		return nil
	case to == Running:
		return kindStarted
	case to == Exited:
		return kindDied
	case to == Unknown:
		return kindChanged
	case from == Exited:
		return kindRemoved // that it died was said before
	default:
		return kindDiedRemoved
	}
}

// A change is one id that is in another state than it was.
type change struct {
	id, name string // name of a container; empty for a sandbox
	from, to State
	sandbox  bool
}

// event returns the change's event of one kind, which shares what base says.
// What vanished while it ran must have ended before it was removed.
func (x *change) event(kind Kind, base Event) Event {
	base.Kind, base.ID, base.Container, base.Sandbox = kind, x.id, x.name, x.sandbox
	base.From, base.To = x.from, x.to
	switch {
	case kind == Removed:
		base.From = Exited
	case kind == Died && x.to == Absent:
		base.To = Exited
	}
	return base
}

// A differ finds the changes between two states of a pod. It keeps its indexes
// from one use to the next.
type differ struct {
	was, now states
	changes  []change
	first    int // where this diff's changes begin
}

// diff appends the changes that lead from was to now, each of which makes an
// event at least. Either pod may be nil. Ids are taken in the order of the
// lists, those of was first, and each is compared once, however often it is
// listed.
func (d *differ) diff(changes []change, was, now *Pod) []change {
	indexed := was.size()+now.size() > fewIDs
	d.was.of(was, indexed)
	d.now.of(now, indexed)
	d.changes, d.first = changes, len(changes)
	d.compareAll(was, false)
	d.compareAll(now, true)
	changes, d.changes = d.changes, nil
	d.was.pod, d.now.pod = nil, nil // one pod would keep its whole list
	return changes
}

func (d *differ) compareAll(p *Pod, fresh bool) {
	if p == nil {
		return
	}
	for i := range p.Containers {
		d.compare(p.Containers[i].ID, p.Containers[i].Name, false, fresh)
	}
	for i := range p.Sandboxes {
		d.compare(p.Sandboxes[i].ID, "", true, fresh)
	}
}

// compare compares one id. In the second half, that of the fresh ids, whatever
// was there before has been compared.
func (d *differ) compare(id, name string, sandbox, fresh bool) {
	from := d.was.state(id)
	if fresh && from != Absent {
		return
	}
	to := d.now.state(id)
	if from.compared() == to.compared() || d.reported(id) {
		return
	}
	d.changes = append(d.changes, change{id, name, from, to, sandbox})
	d.was.put(id, to)
}

// reported reports whether id has its change already. An indexed pod takes no
// search: put has made both of its states equal.
func (d *differ) reported(id string) bool {
	if d.was.indexed {
		return false
	}
	for i := range d.changes[d.first:] {
		if sameID(d.changes[d.first+i].id, id) {
			return true
		}
	}
	return false
}

// fewIDs is how many ids are searched one by one. Below, an index costs more
// than it saves; above, the search would be quadratic.
const fewIDs = 64

// states looks up the states of one pod's ids: containers first, then
// sandboxes, and of equal ids the first, as the kubelet does.
type states struct {
	pod     *Pod
	indexed bool
	index   map[string]State // in use if indexed, else kept for the next time
}

// of sets the pod to look in, which may be nil.
func (s *states) of(p *Pod, indexed bool) {
	s.pod, s.indexed = p, indexed
	if !indexed {
		return
	}
	if s.index == nil {
		s.index = make(map[string]State, p.size())
	}
	clear(s.index)
	if p == nil {
		return
	}
	for i := len(p.Sandboxes) - 1; i >= 0; i-- { // backwards, so that the first wins
		s.index[p.Sandboxes[i].ID] = p.Sandboxes[i].State.listed()
	}
	for i := len(p.Containers) - 1; i >= 0; i-- {
		s.index[p.Containers[i].ID] = p.Containers[i].State.listed()
	}
}

// state returns the state of an id, Absent if the pod is nil or lacks it.
func (s *states) state(id string) State {
	if s.indexed {
		return s.index[id]
	}
	if s.pod == nil {
		return Absent
	}
	for i := range s.pod.Containers {
		if sameID(s.pod.Containers[i].ID, id) {
			return s.pod.Containers[i].State.listed()
		}
	}
	for i := range s.pod.Sandboxes {
		if sameID(s.pod.Sandboxes[i].ID, id) {
			return s.pod.Sandboxes[i].State.listed()
		}
	}
	return Absent
}

// put changes what state returns for an id, where there is an index.
func (s *states) put(id string, to State) {
	if s.indexed {
		s.index[id] = to
	}
}

// listed returns the state of something that is in a list, and so is not absent.
func (s State) listed() State {
	if s == Absent {
		return Unknown
	}
	return s
}

// compared returns the state as the diff sees it.
func (s State) compared() State {
	if s == Created {
		return Unknown
	}
	return s
}
