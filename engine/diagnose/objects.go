package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
)

// listed returns the object of an id as it is listed.
func (v *view) listed(id string) (waits.Object, bool) {
	if v.index == nil {
		if v.index = v.Objects; v.index == nil {
			v.index = engine.ObjectsOf(v.Pods)
		}
	}
	p := v.index.PodOf(v.Pods, id)
	if p == nil || id == "" {
		return waits.Object{}, false
	}
	for _, sb := range p.Seen().Sandboxes {
		if sb.ID == id {
			return waits.Object{ObjectRef: pleg.ObjectRef{Pod: p.PodRef, ID: sb.ID, Sandbox: true}, State: sb.State}, true
		}
	}
	i := slices.IndexFunc(p.Seen().Containers, func(c pleg.Container) bool { return c.ID == id })
	return containerObject(p, p.Seen().Containers[i]), true
}

func containerObject(p *engine.Pod, c pleg.Container) waits.Object {
	return waits.Object{ObjectRef: pleg.ObjectRef{Pod: p.PodRef, Container: c.Name, ID: c.ID}, SandboxID: c.SandboxID, State: c.State}
}

// ours returns the object of an id as it is listed, or, where a list is missing, as it is
// on the node if a shim that was started for our socket holds it, or a helper of ours is
// about it.
func (v *view) ours(id string) (waits.Object, bool) {
	if o, known := v.listed(id); known || id == "" {
		return o, known
	}
	if v.Failure == nil && v.Partial == "" && !v.Health.ListedAt.IsZero() {
		return waits.Object{}, false
	}
	o, known := v.held()[id]
	return o, known
}

// held returns what on the node our runtime's shims and helpers are about.
func (v *view) held() map[string]waits.Object {
	if v.unlisted != nil {
		return v.unlisted
	}
	v.unlisted = make(map[string]waits.Object)
	add := func(id, sandbox string) {
		if _, known := v.unlisted[id]; known || id == "" {
			return
		}
		o, _ := v.shown(id)
		o.ID, o.SandboxID, o.State = id, cmp.Or(sandbox, o.SandboxID), pleg.Running
		o.Sandbox = o.Sandbox || id == o.SandboxID
		if o.Pod.Name == "" {
			if in, known := v.listed(o.SandboxID); known {
				o.Pod = in.Pod
			} else {
				o.Pod = cmp.Or(v.unlisted[o.SandboxID].Pod, o.Pod)
			}
		}
		v.unlisted[id] = o
	}
	shims := make(map[int]string) // of this runtime: their sandbox
	for _, p := range v.evidence.Processes.Shims {
		if p.Own {
			shims[p.PID] = p.Sandbox
			add(p.Sandbox, p.Sandbox)
		}
	}
	for id, processes := range v.evidence.Processes.Containers {
		i := slices.IndexFunc(processes, func(p evidence.Process) bool { _, ours := shims[p.Parent]; return ours })
		if i >= 0 {
			add(id, shims[processes[i].Parent])
		}
	}
	for _, p := range v.evidence.Processes.Helpers {
		if p.Own {
			add(p.Container, "")
		}
	}
	return v.unlisted
}

// shown returns what the node shows of an object without the runtime's lists.
func (v *view) shown(id string) (waits.Object, bool) {
	o, known := v.shownBy(id)
	return waits.Object{
		ObjectRef: pleg.ObjectRef{
			Pod: pleg.PodRef{Namespace: o.Namespace, Name: o.Pod, UID: pleg.UID(o.UID)}, Container: o.Container, ID: id, Sandbox: o.Sandbox,
		},
		SandboxID: o.SandboxID,
	}, known
}

func (v *view) shownBy(id string) (evidence.Object, bool) {
	if v.objectsShown == nil {
		v.objectsShown = v.evidence.Objects()
	}
	i, found := slices.BinarySearchFunc(v.objectsShown, id, func(o evidence.Object, id string) int { return strings.Compare(o.ID, id) })
	if !found {
		return evidence.Object{}, false
	}
	return v.objectsShown[i], true
}

// asked returns the object that a call is about.
func (v *view) asked(f call.Flight) waits.Object {
	o := waits.Object{ObjectRef: f.Object()}
	if !o.Sandbox {
		o.SandboxID = v.sandbox(f)
	}
	return o
}

// subjectOf returns an object as a subject without a call.
func subjectOf(o waits.Object) Subject {
	return Subject{Pod: o.Pod, Container: o.Container, ContainerID: o.ID}
}

// called returns the names that an object goes by, or its id.
func called(o waits.Object) string {
	switch {
	case o.Pod != (pleg.PodRef{}):
		return objectName(o.Pod, o.Container)
	case o.Sandbox:
		return "sandbox " + pleg.ShortID(o.ID) + ", which is not listed"
	}
	return "container " + pleg.ShortID(o.ID) + ", which is not listed"
}
