package diagnose

import (
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// KubeletGone is a node whose pods no kubelet looks after.
const KubeletGone ID = "kubelet-gone"

// leaseLasts is how long the control plane still considers a node Ready after its kubelet went silent.
// (kube-controller-manager, --node-monitor-grace-period: 40 s, and 50 s from 1.32 on)
const leaseLasts = 40 * time.Second

// No kubelet is there, although there was one in this run, or although containers of its pods run. The rule ignores a
// machine that never had a kubelet.
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
