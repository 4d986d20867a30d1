package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/waits"
)

// KubeletGone is a node whose pods no kubelet looks after.
const KubeletGone ID = "kubelet-gone"

var kubeletGoneKind = &kind{
	id: KubeletGone, find: kubeletGone,
	replaces: KubeletStuck,
	critical: "KUBELET GONE", warned: Headline{Word: "KUBELET GONE"},
	words: []nodeWord{(*view).kernelSaid, (*view).kubeletUnits}, killed: kubeletKilled,
	severity: "critical", scenario: "a real node",
	when: "nobody listens at the kubelet's port and no process is one, though there was one in this run, or containers run with mounts that only a kubelet " +
		"makes, which this runtime lists or has a folder of; a warning for the first 40 s, and in `check`, which cannot tell for how long. Not on a machine that never had one, nor by a kubelet that serves another runtime; that of a node within this one, as of kind, is not its own; k3s and microk8s have theirs " +
		"within",
}

// leaseLasts is for how long a node whose kubelet says nothing is still believed:
// the control plane then takes it for not ready. (kube-controller-manager:
// --node-monitor-grace-period, 40 s, and 50 s from 1.32 on.)
const leaseLasts = 40 * time.Second

// kubeletGone tells that no kubelet is there, though there was one in this run, or
// though containers of its pods run. A machine that never had one is none of its
// business.
func kubeletGone(v *view) []Finding {
	r, log := v.evidence, v.Memory.Kubelet
	switch {
	case !r.Kubelet.Ping.Asked || r.Kubelet.Listens():
		return nil
	case v.Policy.Bounds().Past && !log.Gone.Before(r.At):
		return nil // a restart takes a moment
	}
	if _, runs := r.Processes.Kubelet(); runs {
		return nil
	}
	blind, root := !v.evidence.Processes.Whole(), v.kubeletRoot()
	f := Finding{ID: KubeletGone, Severity: Warning}
	if v.Policy.Bounds().Past && v.At.Sub(answers.Later(log.Seen, log.Gone)) >= leaseLasts {
		f.Severity = Critical
	}
	switch {
	case !log.Seen.IsZero():
		f.Summary = "the kubelet is gone: it was there " + going(v.At.Sub(log.Seen)) + " ago"
		if p := log.Process; p.PID != 0 {
			f.say(fmt.Sprintf("its process was pid %d (%s)", p.PID, p.Command))
		}
	case !blind && root != "":
		f.Summary = "no kubelet runs here, though containers of its pods do"
	default:
		return nil
	}
	if root != "" {
		f.say("containers run with mounts from " + root + ", as only a kubelet makes them")
	}
	if !blind {
		f.say("no process of the node's own is named " + join(knowledge.Kubelets))
	}
	f.say("nobody listens at "+r.Kubelet.Ping.URL,
		"its pods run on, but none is started, stopped, probed or restarted",
		"nothing is posted: after 40 to 50 s the control plane takes the node for NotReady, and 5 min later evicts its pods")
	f.Next = v.advise("kubelet.gone", nil)
	return []Finding{f}
}

// kubeletRoot returns the folder where a kubelet keeps its pods, by a container of this
// runtime's: one that it lists or, as far as its lists are missing, has a shim or a folder
// of. Empty if none has mounts from such a folder.
func (v *view) kubeletRoot() string {
	roots := v.evidence.Processes.KubeletRoots
	for _, id := range slices.Sorted(maps.Keys(roots)) {
		_, ours := v.ours(id)
		if ours || slices.ContainsFunc(v.deep().Objects.All, func(o evidence.Object) bool { return o.ID == id }) {
			return roots[id]
		}
	}
	return ""
}

// Unposted returns why nothing is posted for the node now, by a look at its kubelet: it
// is not there, or its process does nothing. It is empty where the kubelet may be at work,
// or nobody looked.
func Unposted(r *evidence.Report) string {
	if r == nil {
		return ""
	}
	p, runs := r.Processes.Kubelet()
	switch {
	case runs && standsStill(r, p):
		return describe("the kubelet's process", p)
	case !runs && r.Processes.Whole() && r.Kubelet.Ping.Refused:
		return "no kubelet is there"
	}
	return ""
}

// standsStill reports whether the kubelet's process was stopped or frozen from outside.
// One that answered in the same look goes on by now.
func standsStill(r *evidence.Report, p evidence.Process) bool {
	k := &r.Kubelet
	return (waits.Held(&p) || p.State == evidence.Stopped) && !k.Ping.OK && !k.Health.OK && !k.Metrics.OK
}

// kubeletServices returns the services that the kubelet runs in, or ran in, or mostly does.
func (v *view) kubeletServices() []string {
	unit := v.Memory.Kubelet.Process.Unit
	if p, runs := v.evidence.Processes.Kubelet(); runs && p.Unit != "" {
		unit = p.Unit
	}
	switch f := v.flavours()[0]; {
	case unit != "":
	case len(f.KubeletUnits) > 0:
		return f.KubeletUnits
	default:
		return v.units()
	}
	return one(strings.TrimSuffix(unit, ".service"))
}
