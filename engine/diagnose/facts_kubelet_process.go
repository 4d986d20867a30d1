package diagnose

import (
	"maps"
	"slices"

	"github.com/plegtop/plegtop/engine/evidence"
)

// kubeletRoot returns the folder in which a kubelet keeps its pods, according to the mounts of a container of this
// runtime; empty if no container has such mounts.
func (f *Facts) kubeletRoot() string {
	roots := f.Look.Processes.KubeletRoots
	for _, id := range slices.Sorted(maps.Keys(roots)) {
		_, ours := f.ours(id)
		if ours || slices.ContainsFunc(f.deep().Objects.All, func(o evidence.Object) bool { return o.ID == id }) {
			return roots[id]
		}
	}
	return ""
}

// Unposted returns why nothing is posted for the node now, according to a look at its kubelet: the kubelet is not
// running, or its process does nothing. It is empty if the kubelet may be at work, or if nobody looked.
func Unposted(r *evidence.Report) string {
	if r == nil {
		return ""
	}
	p, runs := r.Processes.Kubelet()
	switch {
	case runs && kubeletStandsStill(r, p):
		l := describe("the kubelet's process", p)
		text, _ := sentence(l.template, l.values, r.At)
		return text
	case !runs && r.Processes.Whole() && r.Kubelet.Ping.Refused:
		return "no kubelet is there"
	}
	return ""
}

// kubeletStandsStill reports whether the kubelet's process was stopped or frozen from outside. If the kubelet answered
// in the same look, its process goes on again.
func kubeletStandsStill(r *evidence.Report, p evidence.Process) bool {
	k := &r.Kubelet
	return (evidence.DoingOf(&p, evidence.AsWorkload).Held() || p.State == evidence.Stopped) && !k.Ping.OK && !k.Health.OK && !k.Metrics.OK
}
