package diagnose

import (
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

const (
	// kubeletLate is the part of the threshold for which the kubelet's relist may
	// be away before it is told: half of it leaves time to look.
	kubeletLate = 2
	// kubeletLateLeast is for short thresholds: the kubelet's own is 3 min however
	// short ours is, and its figures have whole seconds.
	kubeletLateLeast = 10 * time.Second
	// kubeletThreshold is the kubelet's, which no flag of it changes.
	kubeletThreshold = 3 * time.Minute
)

// kubeletStuck tells that the kubelet stands still while the runtime answers us
// well: then it is the kubelet, or one of its calls that we do not make.
func kubeletStuck(v *view) []Finding {
	if v.evidence == nil || !relistIsFine(v) {
		return nil
	}
	k := &v.evidence.Kubelet
	f := Finding{ID: KubeletStuck, Severity: Warning}
	late := max(v.Threshold/kubeletLate, kubeletLateLeast)
	switch seen := lastSeen(v); {
	case refuses(k.Healthz):
		f.Severity = Critical
		f.Summary = trouble("healthz", k.Healthz)
	case seen > late:
		f.Summary = fmt.Sprintf("the last relist of the kubelet began %s ago, ours %s ago", going(seen), going(ours(v)))
		if seen > kubeletThreshold {
			f.Severity = Critical
		}
	case k.LastSeen.IsZero() && k.StillFor > late:
		f.Summary = fmt.Sprintf("no relist of the kubelet has ended for %s, ours take %s", going(k.StillFor), span(v.Relists.P50))
	case k.Metrics.TimedOut && k.Healthz.OK:
		f.Summary = fmt.Sprintf("healthz is answered in %s, but the metrics not within %s", span(k.Healthz.Took), span(k.Metrics.Took))
	default:
		return nil
	}
	f.sayOfKubelet(v)
	f.Next = []Step{
		{Text: "what the kubelet says of itself", Command: "journalctl -u kubelet --since -10min --no-pager"},
		{Text: "whether the kubelet or a shim is stopped (T) or cannot be woken (D)", Command: "ps -eo pid,state,wchan:32,etime,args"},
		{Text: "the kubelet writes its goroutines to the journal and ends", Command: "systemctl kill -s ABRT kubelet", Risky: true},
	}
	return []Finding{f}
}

// relistIsFine reports whether our own relist leaves nothing to be desired.
func relistIsFine(v *view) bool {
	s := v.Snapshot
	return s.Health.Healthy && s.Failure == nil && !s.Health.ListedAt.IsZero() && ours(v) <= s.Threshold/kubeletLate
}

func ours(v *view) time.Duration { return max(v.Health.ListAge(v.At), 0) }

// lastSeen returns the time since the kubelet's last good relist began; 0 if it
// did not say.
func lastSeen(v *view) time.Duration {
	k := v.evidence.Kubelet
	if !k.Metrics.OK || k.LastSeen.IsZero() {
		return 0
	}
	return max(v.evidence.At.Sub(k.LastSeen), 0)
}

// refuses reports whether there is somebody who took the question and gave no
// answer, or a bad one. Who does not even take it is not there.
func refuses(a evidence.Answer) bool {
	return a.Asked && !a.OK && (a.TimedOut || a.Text != "")
}

func trouble(name string, a evidence.Answer) string {
	if a.TimedOut {
		return fmt.Sprintf("%s gives no answer within %s", name, span(a.Took))
	}
	return fmt.Sprintf("%s fails: %s", name, excerpt(a.Text))
}

// sayOfKubelet adds what the kubelet said of itself, and what is known of its process.
func (f *Finding) sayOfKubelet(v *view) {
	k := &v.evidence.Kubelet
	for i, a := range []evidence.Answer{k.Healthz, k.Metrics} {
		name := [...]string{"healthz", "metrics"}[i]
		switch {
		case refuses(a):
			f.say(trouble(name, a) + " (" + a.URL + ")")
			if a.Text != excerpt(a.Text) {
				f.say(a.Text)
			}
		case a.OK:
			f.say(name + " answered in " + span(a.Took))
		}
	}
	if d := lastSeen(v); d > 0 {
		f.say("kubelet_pleg_last_seen_seconds is " + going(d) + " old")
	}
	if k.StillFor > 0 {
		f.say(fmt.Sprintf("its count of relists has stood at %s for %s", thousands(k.Relist.Count), going(k.StillFor)))
	}
	f.say(fmt.Sprintf("our last relist began %s ago and took %s", going(ours(v)), span(v.Relists.Last)))
	for _, p := range v.evidence.Processes.Daemons {
		if slices.Contains(kubeletPrograms, p.Command) && p.State.Stuck() {
			f.say(describe("the kubelet's process", p))
		}
	}
}

// kubeletPrograms are the names of the programs that are a kubelet, or have one in
// them, as k3s, microk8s and the old hyperkube do.
var kubeletPrograms = []string{"kubelet", "k3s", "k3s-server", "k3s-agent", "kubelite", "hyperkube"}
