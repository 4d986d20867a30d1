package diagnose

import (
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

// catchesUp is how long the kubelet gets to recover after the runtime hung or failed. It was seen ready again 10 s
// after the end of a hang of minutes.
const catchesUp = time.Minute

// kubeletQuestions are the questions about itself that the kubelet is asked. The one that tells most comes first.
var kubeletQuestions = []struct {
	name   string
	answer func(*evidence.Kubelet) evidence.Answer
}{
	{"/healthz/syncloop", func(k *evidence.Kubelet) evidence.Answer { return k.SyncLoop }},
	{"/healthz", func(k *evidence.Kubelet) evidence.Answer { return k.Health }},
	{"the ping", func(k *evidence.Kubelet) evidence.Answer { return k.Ping }},
	{"/metrics", func(k *evidence.Kubelet) evidence.Answer { return k.Metrics }},
}

// badAnswer returns in words that the kubelet took a question and gave no answer, or a bad one. It is empty for a good
// answer. It is also empty for a kubelet that does not take the question, because that kubelet is not running.
func badAnswer(name string, a evidence.Answer) string {
	switch {
	case !a.Asked, a.OK:
	case a.TimedOut:
		return fmt.Sprintf("%s gives no answer within %s", name, span(a.Took))
	case a.Text != "":
		return fmt.Sprintf("%s fails: %s", name, excerpt(a.Text))
	}
	return ""
}

// silentKubelet returns in words which answer of the kubelet is bad or missing for the second time; empty if none is. A
// busy machine may miss one answer. The kubelet's metrics wait for every shim and do not count.
func (f *Facts) silentKubelet() string {
	before := f.Memory.LookBefore
	for _, q := range kubeletQuestions[:3] {
		bad := badAnswer(q.name, q.answer(&f.Look.Kubelet))
		if bad != "" && (f.once() || before != nil && badAnswer(q.name, q.answer(&before.Kubelet)) != "") {
			return bad
		}
	}
	return ""
}

// kubeletCaughtUp reports whether our relists had long been good when the kubelet was last read. An older answer may be
// bad because of the runtime.
func (f *Facts) kubeletCaughtUp() bool {
	read := f.Look.At
	if f.Look.Kubelet.Metrics.OK {
		read = f.Look.Kubelet.ReadAt
	}
	return read.Sub(f.Memory.IdleSince) >= catchesUp
}

// kubeletRelist returns the time since the kubelet's last good relist began; 0 if the kubelet does not report it.
func (f *Facts) kubeletRelist() time.Duration {
	k := f.Look.Kubelet
	if !k.Metrics.OK || k.LastSeen.IsZero() || k.Alpha() {
		return 0
	}
	return max(f.Look.At.Sub(k.LastSeen), 0)
}

// kubeletLines returns lines about what the kubelet reports of itself, and what is known of its process.
func (f *Facts) kubeletLines() (lines []line) {
	for _, q := range kubeletQuestions {
		a := q.answer(&f.Look.Kubelet)
		if bad := badAnswer(q.name, a); bad != "" {
			lines = append(lines, lineOf("kubelet-bad", Values{"text": bad, "url": a.URL}))
		} else if a.OK {
			lines = append(lines, lineOf("kubelet-good", Values{"name": q.name, "took": a.Took}))
		}
	}
	if d := f.kubeletRelist(); d > 0 {
		lines = append(lines, lineOf("kubelet-seen", Values{"age": age(d)}))
	}
	if !f.Health.ListedAt.IsZero() {
		lines = append(lines, lineOf("our-relist", Values{"age": age(max(f.Health.ListAge(f.at()), 0)), "took": f.Relists.Last}))
	}
	if p, runs := f.Look.Processes.Kubelet(); runs && p.State.Stuck() {
		lines = append(lines, f.describe("the kubelet's process", p))
	}
	return lines
}
