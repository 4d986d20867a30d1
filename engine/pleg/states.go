package pleg

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
