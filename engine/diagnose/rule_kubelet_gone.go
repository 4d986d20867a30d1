package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// KubeletGone is a node whose pods no kubelet looks after.
const KubeletGone ID = "kubelet-gone"

// leaseLasts is for how long the control plane believes a node whose kubelet says nothing. (kube-controller-manager,
// --node-monitor-grace-period: 40 s, and 50 s from 1.32 on)
const leaseLasts = 40 * time.Second

// No kubelet is there, though there was one in this run, or though containers of its pods run. A machine that never had
// one is none of our business.
var kubeletGone = Rule{
	ID: KubeletGone, Word: KubeletIsGone, Warned: KubeletIsGone,
	Find: func(f *Facts, report func(Match)) {
		r, was := f.Look, f.Memory.Kubelet
		if !r.Kubelet.Ping.Asked || r.Kubelet.Listens() || !f.once() && !was.Gone.Before(r.At) { // a restart takes a moment
			return
		}
		if _, runs := r.Processes.Kubelet(); runs {
			return
		}
		whole, root := r.Processes.Whole(), f.kubeletRoot()
		if was.Seen.IsZero() && (!whole || root == "") {
			return
		}
		m := Match{Severity: Warning, Values: Values{"root": root, "url": r.Kubelet.Ping.URL}}
		if !f.once() && f.at().Sub(answers.Later(was.Seen, was.Gone)) >= leaseLasts {
			m.Severity = Critical
		}
		if was.Seen.IsZero() {
			m.Variant = "never-seen"
		} else {
			m.Values["age"] = age(f.at().Sub(was.Seen))
		}
		if was.Process.PID != 0 {
			m.Values["was"] = fmt.Sprintf("pid %d (%s)", was.Process.PID, was.Process.Command)
		}
		if whole {
			m.Values["names"] = knowledge.Kubelets
		}
		report(m)
	},
}

// kubeletRoot returns the folder in which a kubelet keeps its pods, by the mounts of a container of this runtime; empty
// if none has such mounts.
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

// Unposted returns why nothing is posted for the node now, by a look at its kubelet: it is not there, or its process
// does nothing. It is empty if the kubelet may be at work, or nobody looked.
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

// kubeletStandsStill reports whether the kubelet's process was stopped or frozen from outside. A kubelet that answered in
// the same look goes on by now.
func kubeletStandsStill(r *evidence.Report, p evidence.Process) bool {
	k := &r.Kubelet
	return (evidence.DoingOf(&p, evidence.AsWorkload).Held() || p.State == evidence.Stopped) && !k.Ping.OK && !k.Health.OK && !k.Metrics.OK
}
