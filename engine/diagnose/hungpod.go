package diagnose

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

// inspectedSince reports whether the pod of a call was inspected well after a
// moment, so that its object cannot hang any more.
func (r *reading) inspectedSince(f engine.Flight, since time.Time) bool {
	i, found := slices.BinarySearchFunc(r.Pods, f.Pod, func(p *engine.Pod, pod pleg.PodRef) int {
		return cmp.Or(cmp.Compare(p.Namespace, pod.Namespace), cmp.Compare(p.Name, pod.Name), cmp.Compare(p.UID, pod.UID))
	})
	return found && r.Pods[i].StatusErr == nil && r.Pods[i].InspectedAt.After(since)
}

// notePods keeps the pods whose last inspection was ended by the deadline of
// one of its calls.
func (r *reading) notePods() {
	for _, p := range r.Pods {
		if p.Failure != nil && r.ranOut(p.Failure.Err, p.Failure.Took()) {
			r.notePod(p)
		}
	}
}

func (r *reading) notePod(p *engine.Pod) {
	f := p.Failure
	if !aboutObject(f.Op) || onePass(r.Snapshot) && r.swept(p.PodRef) {
		return // the sweep tells for how long
	}
	h := hang{Flight: f.Flight, took: f.Took(), inRow: f.InRow, err: f.Err}
	if began := f.First.Add(-h.took); f.InRow > 1 && began.Before(h.Since) {
		h.Since = began
	}
	r.note(h)
}

// swept reports whether a sweep found that an object of a pod hangs.
func (r *reading) swept(pod pleg.PodRef) bool {
	return slices.ContainsFunc(r.objects, func(h hang) bool { return h.swept && h.Pod == pod })
}
