package diagnose

import (
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// KubeletStuck is a kubelet that stands still though the runtime answers.
const KubeletStuck ID = "kubelet-stuck"

var kubeletStuckKind = &kind{
	id: KubeletStuck, find: kubeletStuck,
	needs: unpaused, because: stands,
	critical: "KUBELET STUCK",
	words:    []nodeWord{(*view).kernelSaid, (*view).kubeletUnits}, killed: kubeletKilled,
	severity: "critical", scenario: "a real node",
	when: "its process is stopped or frozen; or ours has been fine for a minute, and by what was read then its last relist is older than 3 min, or its " +
		"`/healthz`, `/healthz/syncloop` or ping is bad twice; a warning from half of that on, and in `check`, where one look cannot tell a runtime that is " +
		"just back. Not for metrics that do not answer: they wait for every shim. Of one with EventedPLEG on the count of its relists tells, which may stand for 5 min. A kubelet that was told another runtime's endpoint is not asked",
}

const (
	// kubeletLate is the part of the threshold for which the kubelet's relist may
	// be away before it is told: half of it leaves time to look.
	kubeletLate = 2
	// kubeletLateLeast is for short thresholds: the kubelet's own is 3 min however
	// short ours is, and its figures have whole seconds.
	kubeletLateLeast = 10 * time.Second
	// kubeletThreshold is the kubelet's, which no flag of it changes.
	kubeletThreshold = pleg.DefaultThreshold
	// kubeletCatchesUp is how long the kubelet gets after a runtime that hung or
	// failed: it was seen ready again 10 s after one that had hung for minutes.
	kubeletCatchesUp = time.Minute
)

// kubeletStuck tells that the kubelet stands still while the runtime answers us
// well: then it is the kubelet, or one of its calls that we do not make. One that
// was stopped is told whatever the runtime does. That its metrics alone do not
// answer is none: they wait for every shim.
func kubeletStuck(v *view) []Finding {
	p, runs := v.evidence.Processes.Kubelet()
	if runs && standsStill(v.evidence, p) {
		return []Finding{v.kubeletHeld(p)}
	}
	f := Finding{ID: KubeletStuck, Severity: Critical}
	if f.Summary = v.kubeletSilent(); f.Summary == "" {
		f.Severity, f.Summary = v.kubeletBehind()
	}
	if f.Summary == "" || v.Memory.IdleSince.IsZero() {
		return nil
	}
	if !v.Policy.Bounds().Past {
		f.Severity = Warning
		f.say("as one look shows it: a runtime that has been back for less than a minute looks the same")
	}
	f.sayOfKubelet(v)
	values := Values{}
	if runs {
		values = v.processValues(p)
	}
	f.Next = v.advise("kubelet.stuck", values)
	return []Finding{f}
}

// kubeletHeld tells of a kubelet that was stopped or frozen from outside.
func (v *view) kubeletHeld(p evidence.Process) Finding {
	p = v.byNow(p)
	f := Finding{
		ID: KubeletStuck, Severity: Critical, Summary: fmt.Sprintf("the kubelet's process, pid %d, is %v", p.PID, p.State),
		Next: append(v.advise("process.state", v.processValues(p)), v.letGoOn(p, "")...),
	}
	if p.For >= time.Second {
		f.Summary += lasting(&p)
	}
	f.Summary += tracedBy(p.Tracer)
	f.sayOfKubelet(v)
	f.say("nothing is posted: after 40 to 50 s the control plane takes the node for NotReady")
	return f
}

// kubeletSilent says which of the kubelet's own answers is bad, or does not come. A
// busy machine may leave one of them out, and what healthz says after a runtime that
// was away speaks of that.
func (v *view) kubeletSilent() string {
	before, now := v.Memory.LookBefore, v.evidence
	if v.Policy.Bounds().Past && before == nil {
		return ""
	}
	for _, q := range kubeletQuestions {
		bad := refuses(q.answer(&now.Kubelet))
		if bad && (!v.Policy.Bounds().Past || refuses(q.answer(&before.Kubelet)) && v.caughtUp()) {
			return trouble(q.name, q.answer(&now.Kubelet))
		}
	}
	return ""
}

// kubeletBehind says how far the kubelet's relists are behind ours, by what was read
// of it when it had had its time to catch up.
func (v *view) kubeletBehind() (Severity, string) {
	k := &v.evidence.Kubelet
	late := max(v.Threshold/kubeletLate, kubeletLateLeast)
	switch seen := lastSeen(v); {
	case v.Policy.Bounds().Past && !v.caughtUp():
	case k.Alpha():
		return alphaBehind(k)
	case seen > late:
		severity := Warning
		if seen > kubeletThreshold {
			severity = Critical
		}
		return severity, fmt.Sprintf("the last relist of the kubelet began %s ago, ours %s ago", going(seen), going(ours(v)))
	case k.LastSeen.IsZero() && k.StillFor > late:
		return Warning, fmt.Sprintf("no relist of the kubelet has ended for at least %s, ours take %s", going(k.StillFor), span(v.Relists.P50))
	}
	return 0, ""
}

// alphaBehind says how far the relists of a kubelet are behind that goes by the runtime's
// events, or did: by their count alone, which looks must have seen stand still.
func alphaBehind(k *evidence.Kubelet) (Severity, string) {
	late, threshold, how := evidence.AlphaPeriod+kubeletThreshold/kubeletLate, evidence.AlphaThreshold, "which goes by the runtime's events and relists every "+span(evidence.AlphaPeriod)
	if k.FellBack() {
		late, threshold, how = kubeletThreshold/kubeletLate, kubeletThreshold, "which has given the runtime's events up"
	}
	severity := Warning
	switch {
	case k.StillFor <= late:
		return 0, ""
	case k.StillFor > threshold:
		severity = Critical
	}
	return severity, fmt.Sprintf("no relist has ended for at least %s of the kubelet, %s", going(k.StillFor), how)
}

// caughtUp reports whether the kubelet was last read when our relists had long been
// good: what is older speaks of the runtime.
func (v *view) caughtUp() bool {
	since := v.Memory.IdleSince
	read := v.evidence.At
	if v.evidence.Kubelet.Metrics.OK {
		read = v.evidence.Kubelet.ReadAt
	}
	return !since.IsZero() && read.Sub(since) >= kubeletCatchesUp
}

func ours(v *view) time.Duration { return max(v.Health.ListAge(v.At), 0) }

// lastSeen returns the time since the kubelet's last good relist began; 0 if it
// did not say, as one that goes by events does not.
func lastSeen(v *view) time.Duration {
	k := v.evidence.Kubelet
	if !k.Metrics.OK || k.LastSeen.IsZero() || k.Alpha() {
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

// kubeletQuestions are what the kubelet is asked of itself, what says most first.
var kubeletQuestions = []struct {
	name   string
	answer func(*evidence.Kubelet) evidence.Answer
}{
	{"/healthz/syncloop", func(k *evidence.Kubelet) evidence.Answer { return k.SyncLoop }},
	{"/healthz", func(k *evidence.Kubelet) evidence.Answer { return k.Health }},
	{"the ping", func(k *evidence.Kubelet) evidence.Answer { return k.Ping }},
}

// sayOfKubelet adds what the kubelet said of itself, and what is known of its process.
func (f *Finding) sayOfKubelet(v *view) {
	k := &v.evidence.Kubelet
	tell := func(name string, a evidence.Answer) {
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
	for _, q := range kubeletQuestions {
		tell(q.name, q.answer(k))
	}
	tell("/metrics", k.Metrics)
	if d := lastSeen(v); d > 0 {
		f.say("kubelet_pleg_last_seen_seconds is " + going(d) + " old")
	}
	if k.StillFor > 0 {
		f.say(fmt.Sprintf("its count of relists has stood at %s for at least %s", thousands(k.Relist.Count), going(k.StillFor)))
	}
	if !v.Health.ListedAt.IsZero() {
		f.say(fmt.Sprintf("our last relist began %s ago and took %s", going(ours(v)), span(v.Relists.Last)))
	}
	if p, runs := v.evidence.Processes.Kubelet(); runs && p.State.Stuck() {
		f.say(v.describe("the kubelet's process", p))
	}
}
