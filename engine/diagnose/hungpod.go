package diagnose

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
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
		if p.StatusErr != nil && r.ranOut(p.StatusErr, p.InspectLast) {
			r.notePod(p)
		}
	}
}

func (r *reading) notePod(p *engine.Pod) {
	f, known := failedCall(p)
	if !known || !aboutObject(f.Op) {
		return
	}
	f.Since = p.FailingSince.Add(-p.InspectLast)
	if p.FailingSince.IsZero() {
		f.Since = r.At.Add(-p.InspectLast)
	}
	if onePass(r.Snapshot) && r.swept(p.PodRef) {
		return // the sweep tells more exactly which call it was, and for how long
	}
	h := hang{Flight: f, took: r.longestCall(p), inRow: p.Failures, err: p.StatusErr}
	for i := range r.objects {
		if o := r.objects[i]; o.Pod == f.Pod && o.Op == f.Op && (o.Container == f.Container || f.Container == "") {
			r.objects[i] = merge(o, h)
			return
		}
	}
	r.note(h)
}

// swept reports whether a sweep found that an object of a pod hangs.
func (r *reading) swept(pod pleg.PodRef) bool {
	return slices.ContainsFunc(r.objects, func(h hang) bool { return h.swept && h.Pod == pod })
}

// longestCall returns how long the call that ended an inspection was out at most:
// the inspection is made of several.
func (r *reading) longestCall(p *engine.Pod) time.Duration {
	if r.Timeout <= 0 {
		return p.InspectLast
	}
	return min(p.InspectLast, r.Timeout)
}

// failedCall returns the call that a pod's last inspection failed with, as far
// as its error tells.
func failedCall(p *engine.Pod) (f engine.Flight, known bool) {
	e, ok := errors.AsType[*call.Error](p.StatusErr)
	if !ok {
		return f, false
	}
	f = engine.Flight{By: engine.ByRelist, Op: e.Op, Pod: p.PodRef}
	listed := p.Seen()
	switch {
	case listed == nil:
	case f.Op == call.PodSandboxStatus && len(listed.Sandboxes) > 0:
		f.ID = listed.Sandboxes[0].ID
	case f.Op == call.ContainerStatus:
		f.Container, f.ID = namedContainer(listed.Containers, p.StatusErr.Error())
	}
	return f, true
}

// namedContainer returns the container that an inspection's error names, and of
// several with that name the one that matters most: the running or the newest.
func namedContainer(containers []pleg.Container, text string) (name, id string) {
	var best *pleg.Container
	for i := range containers {
		c := &containers[i]
		named := strings.HasPrefix(text, "inspect container "+cmp.Or(c.Name, c.ID)+" of pod ")
		if (named || len(containers) == 1) && (best == nil || weight(c) > weight(best)) {
			best = c
		}
	}
	if best == nil {
		return "", ""
	}
	return best.Name, best.ID
}

func weight(c *pleg.Container) uint64 {
	if c.State == pleg.Running {
		return 1<<32 + uint64(c.Attempt)
	}
	return uint64(c.Attempt)
}
