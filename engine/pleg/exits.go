package pleg

// exits looks up exit codes in one status.
type exits struct {
	status *PodStatus
	index  map[string]int // of the containers, where there are many; kept for reuse
}

// of sets the status to look in; nil for a pod that is gone.
func (x *exits) of(st *PodStatus) {
	x.status = st
	if st == nil || len(st.Containers) <= fewIDs {
		return
	}
	if x.index == nil {
		x.index = make(map[string]int, len(st.Containers))
	}
	clear(x.index)
	for i := range st.Containers {
		x.index[st.Containers[i].ID] = i
	}
}

// code returns the exit code of a container, and whether the status has it as
// exited: one that only vanished from the list left no code.
func (x *exits) code(id string) (int32, bool) {
	i := x.find(id)
	if i < 0 || x.status.Containers[i].State != Exited {
		return 0, false
	}
	return x.status.Containers[i].ExitCode, true
}

func (x *exits) find(id string) int {
	if x.status == nil {
		return -1
	}
	if len(x.status.Containers) > fewIDs {
		if i, ok := x.index[id]; ok {
			return i
		}
		return -1
	}
	for i := len(x.status.Containers) - 1; i >= 0; i-- { // of equal ids the last counts
		if x.status.Containers[i].ID == id {
			return i
		}
	}
	return -1
}
