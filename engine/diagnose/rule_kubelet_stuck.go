package diagnose

import (
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// KubeletStuck is a kubelet that stands still though the runtime answers.
const KubeletStuck ID = "kubelet-stuck"

const (
	// kubeletLate is the part of the threshold, one in so many, for which the kubelet's relist may be missing: half of it
	// leaves time to look.
	kubeletLate = 2
	// kubeletLateLeast is for short thresholds: the kubelet's own is 3 min however short ours is, and its figures have
	// whole seconds.
	kubeletLateLeast = 10 * time.Second
	// catchesUp is how long the kubelet gets after a runtime that hung or failed. It was seen ready again 10 s after a
	// runtime that had hung for minutes.
	catchesUp = time.Minute
)

// The kubelet stands still while the runtime answers us well: then it is the kubelet, or a call that we do not make. Its
// metrics alone show nothing: they wait for every shim.
var kubeletStuck = Rule{
	ID: KubeletStuck, Needs: Unpaused, Word: KubeletIsStuck,
	Find: func(f *Facts, report func(Match)) {
		p, runs := f.Look.Processes.Kubelet()
		if runs && kubeletStandsStill(f.Look, p) {
			report(f.heldKubelet(p))
			return
		}
		m, stuck := f.silentKubelet()
		if !stuck {
			m, stuck = f.lateKubelet()
		}
		if !stuck || f.Memory.IdleSince.IsZero() {
			return
		}
		if f.once() {
			m.Severity, m.Values["once"] = Warning, "yes"
		}
		if runs {
			m.Values = m.Values.with(processValues(p))
		}
		m.Lines = map[string][]line{"kubelet": f.kubeletLines()}
		report(m)
	},
}

// heldKubelet is about a kubelet that was stopped or frozen from outside.
func (f *Facts) heldKubelet(p evidence.Process) Match {
	p = f.byNow(p)
	v := processValues(p).with(Values{"number": pid(p.PID), "state": p.State, "tracer": tracerOf(p.Tracer)})
	if p.For >= time.Second {
		v["lasting"] = lasting(&p)
	}
	return Match{
		Variant: "held", Severity: Critical, Values: v, Lines: map[string][]line{"kubelet": f.kubeletLines()},
		Steps: map[string][]Step{"+go-on": f.letGoOn(p, "")},
	}
}

// kubeletQuestions are what the kubelet is asked about itself, what says most first.
var kubeletQuestions = []struct {
	name   string
	answer func(*evidence.Kubelet) evidence.Answer
}{
	{"/healthz/syncloop", func(k *evidence.Kubelet) evidence.Answer { return k.SyncLoop }},
	{"/healthz", func(k *evidence.Kubelet) evidence.Answer { return k.Health }},
	{"the ping", func(k *evidence.Kubelet) evidence.Answer { return k.Ping }},
}

// badAnswer reports whether the kubelet took a question and gave no answer, or a bad one. A kubelet that does not take it
// is not there.
func badAnswer(a evidence.Answer) bool { return a.Asked && !a.OK && (a.TimedOut || a.Text != "") }

// badAnswerText says how a question was answered.
func badAnswerText(name string, a evidence.Answer) string {
	if a.TimedOut {
		return fmt.Sprintf("%s gives no answer within %s", name, span(a.Took))
	}
	return fmt.Sprintf("%s fails: %s", name, excerpt(a.Text))
}

// silentKubelet is about an answer of the kubelet that is bad or does not come, twice: a busy machine may leave one out.
func (f *Facts) silentKubelet() (m Match, silent bool) {
	before := f.Memory.LookBefore
	if !f.once() && (before == nil || !f.kubeletCaughtUp()) {
		return m, false
	}
	for _, q := range kubeletQuestions {
		if a := q.answer(&f.Look.Kubelet); badAnswer(a) && (f.once() || badAnswer(q.answer(&before.Kubelet))) {
			return Match{Severity: Critical, Values: Values{"text": badAnswerText(q.name, a)}}, true
		}
	}
	return m, false
}

// lateKubelet is about a kubelet whose relists are behind ours.
func (f *Facts) lateKubelet() (m Match, late bool) {
	k := &f.Look.Kubelet
	after := max(f.Threshold/kubeletLate, kubeletLateLeast)
	m.Severity = Warning
	switch seen := f.kubeletRelist(); {
	case !f.once() && !f.kubeletCaughtUp():
		return m, false
	case k.Alpha(): // it relists every 5 min, and says nothing of when; only the count of its relists can stand still
		period, threshold := evidence.AlphaPeriod, evidence.AlphaThreshold
		if k.FellBack() {
			period, threshold = 0, pleg.DefaultThreshold
		}
		if k.StillFor > threshold {
			m.Severity = Critical
		}
		m.Variant, m.Values = "evented", Values{"still": age(k.StillFor), "period": evidence.AlphaPeriod}
		if k.FellBack() {
			m.Variant = "evented-given-up"
		}
		return m, k.StillFor > period+pleg.DefaultThreshold/kubeletLate
	case seen > after:
		if seen > pleg.DefaultThreshold { // the kubelet's own, which no flag of it changes
			m.Severity = Critical
		}
		m.Variant, m.Values = "behind", Values{"theirs": age(seen), "ours": age(max(f.Health.ListAge(f.at()), 0))}
		return m, true
	case k.LastSeen.IsZero() && k.StillFor > after:
		m.Variant, m.Values = "stands", Values{"still": age(k.StillFor), "ours": f.Relists.P50}
		return m, true
	}
	return m, false
}

// kubeletCaughtUp reports whether the kubelet was last read when our relists had long been good. What is older is about
// the runtime.
func (f *Facts) kubeletCaughtUp() bool {
	since, read := f.Memory.IdleSince, f.Look.At
	if f.Look.Kubelet.Metrics.OK {
		read = f.Look.Kubelet.ReadAt
	}
	return !since.IsZero() && read.Sub(since) >= catchesUp
}

// kubeletRelist returns the time since the kubelet's last good relist began; 0 if it did not say.
func (f *Facts) kubeletRelist() time.Duration {
	k := f.Look.Kubelet
	if !k.Metrics.OK || k.LastSeen.IsZero() || k.Alpha() {
		return 0
	}
	return max(f.Look.At.Sub(k.LastSeen), 0)
}

// kubeletLines say what the kubelet said of itself, and what is known of its process.
func (f *Facts) kubeletLines() (lines []line) {
	k := &f.Look.Kubelet
	add := func(name string, a evidence.Answer) {
		switch {
		case badAnswer(a):
			lines = append(lines, lineOf("kubelet-bad", Values{"text": badAnswerText(name, a), "url": a.URL}))
			if a.Text != excerpt(a.Text) {
				lines = append(lines, verbatim(a.Text))
			}
		case a.OK:
			lines = append(lines, lineOf("kubelet-good", Values{"name": name, "took": a.Took}))
		}
	}
	for _, q := range kubeletQuestions {
		add(q.name, q.answer(k))
	}
	add("/metrics", k.Metrics)
	if d := f.kubeletRelist(); d > 0 {
		lines = append(lines, lineOf("kubelet-seen", Values{"age": age(d)}))
	}
	if k.StillFor > 0 {
		lines = append(lines, lineOf("kubelet-count", Values{"n": k.Relist.Count, "age": age(k.StillFor)}))
	}
	if !f.Health.ListedAt.IsZero() {
		lines = append(lines, lineOf("our-relist", Values{"age": age(max(f.Health.ListAge(f.at()), 0)), "took": f.Relists.Last}))
	}
	if p, runs := f.Look.Processes.Kubelet(); runs && p.State.Stuck() {
		lines = append(lines, f.describe("the kubelet's process", p))
	}
	return lines
}
