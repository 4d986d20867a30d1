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

// listed returns the object of an id as it is listed.
func (v *view) listed(id string) (evidence.Object, bool) {
	if p := v.podListing(id); p != nil {
		return p.Find(id)
	}
	return evidence.Object{}, false
}

// isListed reports whether an id is listed, at less cost.
func (v *view) isListed(id string) bool { return v.podListing(id) != nil }

// podListing returns the pod that is listed with an id; nil if none is.
func (v *view) podListing(id string) *engine.Pod {
	if id == "" {
		return nil
	}
	return v.objects().PodOf(v.Pods, id)
}

// objects returns the index of what is listed.
func (v *view) objects() *engine.Objects {
	if v.index == nil {
		if v.index = v.Objects; v.index == nil {
			v.index = engine.ObjectsOf(v.Pods)
		}
	}
	return v.index
}

// ours returns the object of an id as it is listed, or, where a list is missing, as it is
// on the node if a shim that was started for our socket holds it, or a helper of ours is
// about it.
func (v *view) ours(id string) (evidence.Object, bool) {
	if o, known := v.listed(id); known || id == "" {
		return o, known
	}
	if v.Failure == nil && v.Partial == "" && !v.Health.ListedAt.IsZero() {
		return evidence.Object{}, false
	}
	o, known := v.held()[id]
	return o, known
}

// held returns what on the node our runtime's shims and helpers are about.
func (v *view) held() map[string]evidence.Object {
	if v.unlisted != nil {
		return v.unlisted
	}
	v.unlisted = make(map[string]evidence.Object)
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
func (v *view) shown(id string) (evidence.Object, bool) {
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
func (v *view) asked(f call.Flight) evidence.Object {
	o := evidence.Object{ObjectRef: f.Object()}
	if !o.Sandbox {
		o.SandboxID = v.sandbox(f)
	}
	return o
}

// called returns the names that an object goes by, or its id.
func called(o pleg.ObjectRef) string {
	switch {
	case o.Pod != (pleg.PodRef{}):
		return o.Path()
	case o.Sandbox:
		return "sandbox " + pleg.ShortID(o.ID) + ", which is not listed"
	}
	return "container " + pleg.ShortID(o.ID) + ", which is not listed"
}
