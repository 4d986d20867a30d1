package engine

import (
	"maps"
	"slices"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// Objects finds the pod of a container or sandbox by its id. It is never changed. Snapshots share
// it until an object comes or goes.
type Objects struct {
	pods map[string]pleg.PodRef // by id
}

// ObjectsOf returns the index of pods. If two pods list one id now, the first in order gets it.
func ObjectsOf(all []*Pod) *Objects {
	o := &Objects{pods: make(map[string]pleg.PodRef, 4*len(all))}
	for _, p := range all { // first what they listed before: what is listed now replaces it
		if p.Old != p.Seen() {
			o.add(p.PodRef, p.Old)
		}
	}
	for _, p := range slices.Backward(all) {
		o.add(p.PodRef, p.Seen())
	}
	return o
}

func (o *Objects) add(ref pleg.PodRef, p *pleg.Pod) {
	if p == nil {
		return
	}
	for i := range p.Sandboxes {
		o.pods[p.Sandboxes[i].ID] = ref
	}
	for i := range p.Containers {
		o.pods[p.Containers[i].ID] = ref
	}
}

// Equal reports whether both have the same objects.
func (o *Objects) Equal(p *Objects) bool {
	return o == p || o != nil && p != nil && maps.Equal(o.pods, p.pods)
}

// PodOf returns the pod that lists a container or sandbox; nil if none does. all is the pods of a
// snapshot that has this index.
func (o *Objects) PodOf(all []*Pod, id string) *Pod {
	ref, known := o.pods[id]
	if !known {
		return nil
	}
	p := podIn(all, ref)
	if p == nil {
		return nil
	}
	if _, lists := p.Find(id); !lists {
		return nil
	}
	return p
}

// Has reports whether a pod lists a container or sandbox, or did before its last change.
func (o *Objects) Has(id string) bool {
	_, known := o.pods[id]
	return known
}

// podIn returns a pod of a snapshot, given its pods; nil if it is not among them.
func podIn(all []*Pod, ref pleg.PodRef) *Pod {
	i, found := slices.BinarySearchFunc(all, ref, func(p *Pod, ref pleg.PodRef) int { return p.PodRef.Compare(ref) })
	if !found {
		return nil
	}
	return all[i]
}

// Pod returns a pod that is listed; nil if it is not.
func (s *Snapshot) Pod(ref pleg.PodRef) *Pod { return podIn(s.Pods, ref) }

// Find returns the sandbox or container with an id, as the pod was last seen.
func (p *Pod) Find(id string) (evidence.Object, bool) { return find(p.Seen(), id) }

// find returns the sandbox or container with an id in a pod, which may be nil.
func find(p *pleg.Pod, id string) (o evidence.Object, known bool) {
	if p == nil {
		return o, false
	}
	for i := range p.Sandboxes {
		if s := &p.Sandboxes[i]; s.ID == id {
			return evidence.Object{ObjectRef: pleg.ObjectRef{ID: id, Pod: p.PodRef, Sandbox: true}, State: s.State}, true
		}
	}
	for i := range p.Containers {
		if c := &p.Containers[i]; c.ID == id {
			return evidence.ContainerOf(p.PodRef, c), true
		}
	}
	return o, false
}
