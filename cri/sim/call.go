package sim

import (
	"time"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// A Call is one call that the server saw, as it came in.
type Call struct {
	Method    string // of CRI, such as "ContainerStatus"
	ID        string // in full, of the sandbox or container that is asked for; as asked for if there is none
	Pod       string // namespace/name, where the call is about one pod
	Container string // its name, where the call is about one container
	Verbose   bool
	At        time.Time // by the server's clock
}

// A Match says which calls are meant: those that have every field that it
// sets. The zero value means all of them.
type Match struct {
	Method    string
	ID        string // in full
	Pod       string // namespace/name
	Container string // name
}

func (m Match) matches(c Call) bool {
	return (m.Method == "" || m.Method == c.Method) &&
		(m.ID == "" || m.ID == c.ID) &&
		(m.Pod == "" || m.Pod == c.Pod) &&
		(m.Container == "" || m.Container == c.Container)
}

// describe says what a request asks for.
func (w *world) describe(method string, request any) Call {
	call := Call{Method: method, At: w.clock}
	if v, ok := request.(interface{ GetVerbose() bool }); ok {
		call.Verbose = v.GetVerbose()
	}
	var p *pod
	switch r := request.(type) {
	case interface{ GetPodSandboxId() string }:
		call.ID = r.GetPodSandboxId()
		if s, err := find(w.sandboxOf, call.ID); err == nil {
			call.ID, p = s.status.Id, s.pod
		}
	case interface{ GetContainerId() string }:
		call.ID = r.GetContainerId()
		if c, err := find(w.containerOf, call.ID); err == nil {
			call.ID, call.Container, p = c.status.Id, c.spec.name, c.pod
		}
	case interface{ GetFilter() *cri.PodSandboxFilter }:
		p = w.pod(r.GetFilter().GetLabelSelector()[labelPodUID])
	case interface{ GetFilter() *cri.ContainerFilter }:
		p = w.pod(r.GetFilter().GetLabelSelector()[labelPodUID])
	}
	if p != nil {
		call.Pod = p.ref()
	}
	return call
}

// pod returns the pod with that UID, or nil.
func (w *world) pod(uid string) *pod {
	for _, p := range w.pods {
		if p.uid == uid {
			return p
		}
	}
	return nil
}
