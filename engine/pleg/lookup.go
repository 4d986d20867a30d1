package pleg

// A Lookup finds the containers of one status by their ids. Of equal ids the last
// counts, as for the kubelet's exit codes. It is made once for many questions:
// where there are many containers it has an index. Safe for concurrent use as long
// as the status is not changed.
type Lookup struct {
	status *PodStatus
	index  map[string]int // nil where there are few
}

// Lookup returns a Lookup in s, which may be nil: then nothing is found.
func (s *PodStatus) Lookup() Lookup {
	x := Lookup{status: s}
	if s != nil && len(s.Containers) > fewIDs {
		x.index = make(map[string]int, len(s.Containers))
		for i := range s.Containers {
			x.index[s.Containers[i].ID] = i
		}
	}
	return x
}

// Container returns the status of the container with that id, which is not to be
// changed; nil if there is none.
func (x Lookup) Container(id string) *ContainerStatus {
	if x.index != nil {
		if i, ok := x.index[id]; ok {
			return &x.status.Containers[i]
		}
		return nil
	}
	if x.status == nil {
		return nil
	}
	for i := len(x.status.Containers) - 1; i >= 0; i-- {
		if sameID(x.status.Containers[i].ID, id) {
			return &x.status.Containers[i]
		}
	}
	return nil
}

// exit returns the exit code of a container, and whether the status has it as
// exited: one that only vanished from the list left no code.
func (x Lookup) exit(id string) (code int32, exited bool) {
	c := x.Container(id)
	if c == nil || c.State != Exited {
		return 0, false
	}
	return c.ExitCode, true
}
