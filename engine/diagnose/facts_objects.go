package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// listed returns the sandbox or container with an id as it is listed.
func (f *Facts) listed(id string) (evidence.Object, bool) {
	if p := f.podListing(id); p != nil {
		return p.Find(id)
	}
	return evidence.Object{}, false
}

// podListing returns the pod that lists an id; nil if none does.
func (f *Facts) podListing(id string) *engine.Pod {
	if id == "" {
		return nil
	}
	return f.objects().PodOf(f.Pods, id)
}

// objects returns the index of the listed objects.
func (f *Facts) objects() *engine.Objects {
	if f.index == nil {
		if f.index = f.Objects; f.index == nil {
			f.index = engine.ObjectsOf(f.Pods)
		}
	}
	return f.index
}

// ours returns the object with an id as it is listed. If a list is missing, it returns the object as the node shows it;
// then a shim for our socket must hold the object, or a helper of our runtime must work on it.
func (f *Facts) ours(id string) (evidence.Object, bool) {
	if o, known := f.listed(id); known || id == "" {
		return o, known
	}
	if f.Failure == nil && f.Partial == "" && !f.Health.ListedAt.IsZero() {
		return evidence.Object{}, false
	}
	o, known := f.heldObjects()[id]
	return o, known
}

// heldObjects returns the objects that the shims and helpers of our runtime are for, by id.
func (f *Facts) heldObjects() map[string]evidence.Object {
	if f.held != nil {
		return f.held
	}
	f.held = make(map[string]evidence.Object)
	shims := make(map[int]string) // their sandboxes, by pid
	for _, p := range f.Look.Processes.Shims {
		if p.Own {
			shims[p.PID] = p.Sandbox
			f.hold(p.Sandbox, p.Sandbox)
		}
	}
	for id, processes := range f.Look.Processes.Containers {
		i := slices.IndexFunc(processes, func(p evidence.Process) bool { _, ours := shims[p.Parent]; return ours })
		if i >= 0 {
			f.hold(id, shims[processes[i].Parent])
		}
	}
	for _, p := range f.Look.Processes.Helpers {
		if p.Own {
			f.hold(p.Container, "")
		}
	}
	return f.held
}

// hold adds an object of our runtime.
func (f *Facts) hold(id, sandbox string) {
	if _, known := f.held[id]; known || id == "" {
		return
	}
	o, _ := f.onNode(id)
	o.ID, o.SandboxID, o.State = id, cmp.Or(sandbox, o.SandboxID), pleg.Running
	o.Sandbox = o.Sandbox || id == o.SandboxID
	if o.Pod.Name == "" {
		if in, known := f.listed(o.SandboxID); known {
			o.Pod = in.Pod
		} else {
			o.Pod = cmp.Or(f.held[o.SandboxID].Pod, o.Pod)
		}
	}
	f.held[id] = o
}

// onNode returns what the node shows about an object, without the runtime's lists.
func (f *Facts) onNode(id string) (evidence.Object, bool) {
	if f.shown == nil {
		f.shown = f.Look.Objects()
	}
	i, found := slices.BinarySearchFunc(f.shown, id, func(o evidence.Object, id string) int { return strings.Compare(o.ID, id) })
	if !found {
		return evidence.Object{}, false
	}
	return f.shown[i], true
}

// objectOf returns the object that a call is about.
func (f *Facts) objectOf(c call.Flight) evidence.Object {
	o := evidence.Object{ObjectRef: c.Object()}
	if !o.Sandbox {
		o.SandboxID = f.sandboxOf(c)
	}
	return o
}

// sandboxOf returns the sandbox that a status call is about, or the sandbox of the container that it is about; empty if
// that is not known.
func (f *Facts) sandboxOf(c call.Flight) string {
	if c.Op == call.PodSandboxStatus {
		return c.ID
	}
	if o, known := f.listed(c.ID); known {
		return o.SandboxID
	}
	if o, known := f.onNode(c.ID); known && o.SandboxID != "" {
		return o.SandboxID
	}
	for _, p := range f.Look.Processes.Containers[c.ID] {
		for _, shim := range f.Look.Processes.Shims {
			if shim.PID == p.Parent {
				return shim.Sandbox
			}
		}
	}
	return ""
}

// called returns the names of an object, or its id if it is not listed.
func called(o pleg.ObjectRef) string {
	switch {
	case o.Pod != (pleg.PodRef{}):
		return o.Path()
	case o.Sandbox:
		return "sandbox " + pleg.ShortID(o.ID) + ", which is not listed"
	}
	return "container " + pleg.ShortID(o.ID) + ", which is not listed"
}
