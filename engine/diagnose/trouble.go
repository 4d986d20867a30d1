package diagnose

import (
	"cmp"
	"errors"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// startGrace is how long a container may stay created before that is a problem. From create to start a healthy
	// runtime needs well under a second; a slow runtime with large volumes needs some seconds.
	startGrace = 30 * time.Second
	// manyExited is how many exited containers of one pod make the lists long: garbage collection leaves far fewer.
	manyExited = 1000
	// A pod has a problem if one of its containers was restarted restartsLeast times or more, the last time less than
	// crashSteady ago.
	restartsLeast = 3
)

// A Trouble is what is wrong with a pod. The zero value says that nothing is.
type Trouble struct {
	Severity Severity
	By       ID     // the finding that shows the trouble, the worst of several; empty if the pod itself shows it
	Text     string // a few words, none of them from the runtime; for several findings separated by commas, the worst first
	Beside   string // Text without the words about the end of a container, because the container itself says more about that
}

// State returns the state of the pod in one word, if only the finding knows it; otherwise it is empty.
func (t Trouble) State() string { return ruleOf(t.By).row().State }

// troubled returns the troubles of pods, by UID. A pod has one if a finding is about it, also as one of several pods,
// or if it shows one of these itself, the worst first: the runtime answered its last inspection with an error; a
// container is listed as unknown; a container was created 30 s ago or longer, and is not started; a container was
// restarted three times or more, the last time less than ten minutes ago; the pod has 1,000 exited containers, which
// make the lists long; a container exited with another code than 0. Only the newest container of each name counts: a
// trouble that a restart has mended is no trouble any more. If a pod has several troubles, the map has the worst
// one; if two are equally bad, the one of a finding comes first. What the whole runtime does is no trouble of a pod.
// The map must not be changed.
func (f *Facts) troubled(findings []Finding) map[pleg.UID]Trouble {
	all := accused(findings)
	for p, is := range f.podsWith(func(p *podFacts) bool { return p.failing || p.shows != nothingShown }) {
		t := shownTroubles[is.shows]
		if is.failing && f.Scope < answers.NoStatus && inspectionFails(p) {
			t = failingTrouble
		}
		if was, known := all[p.UID]; t.Text != "" && (!known || t.Severity > was.Severity) {
			all[p.UID] = t
		}
	}
	return all
}

// add returns the trouble with the words of another finding.
func (t Trouble) add(by ID, word string) Trouble {
	join := func(all, word string) string {
		if all == "" {
			return word
		}
		return all + ", " + word
	}
	t.Text = join(t.Text, word)
	if by != CrashLoop {
		t.Beside = join(t.Beside, word)
	}
	return t
}

// accused returns what findings say about pods, by UID; the worst finding of a pod comes first. Findings that are only
// worth knowing are left out, and pods without a UID too. It never returns nil.
func accused(findings []Finding) map[pleg.UID]Trouble {
	all, has := make(map[pleg.UID]Trouble), make(map[podWord]bool)
	for _, severity := range []Severity{Critical, Warning} {
		for _, f := range findings {
			word := ruleOf(f.ID).row().Pod
			if word == "" || f.Severity != severity {
				continue
			}
			for _, s := range append([]Subject{f.Subject}, f.Members...) {
				if s.Pod.UID == "" {
					continue
				}
				t, known := all[s.Pod.UID]
				if !known {
					t.Severity, t.By = severity, f.ID
				}
				if !has[podWord{s.Pod.UID, word}] {
					has[podWord{s.Pod.UID, word}] = true
					all[s.Pod.UID] = t.add(f.ID, word)
				}
			}
		}
	}
	return all
}

// A podWord is a pod, and a few words that a finding has about it.
type podWord struct {
	pod  pleg.UID
	word string
}

// inspectionFails reports whether the runtime answered the last inspection of a pod with an error. If the runtime was
// not there, or gave no answer, the pod need not be the reason. If the pod is the reason, a finding says that.
func inspectionFails(p *engine.Pod) bool {
	if f := p.Failure; f != nil {
		return answers.IsAnswer(f.Err) || errors.Is(f.Err, call.ErrDeadline) && f.Took() < answers.Late
	}
	return p.StatusErr != nil && answers.IsAnswer(p.StatusErr)
}

// A shown is what the containers of a pod show; the worst is last.
type shown uint8

const (
	nothingShown shown = iota
	badExit
	hoarding
	crashing
	notStarted
	unknownState
)

var shownTroubles = [...]Trouble{
	badExit:      {Text: "exited with an error"},
	hoarding:     {Severity: Warning, Text: "leaves exited containers", Beside: "leaves exited containers"},
	crashing:     {Severity: Warning, Text: "crash loop"},
	notStarted:   {Severity: Warning, Text: "not started", Beside: "not started"},
	unknownState: {Severity: Warning, Text: "state unknown", Beside: "state unknown"},
}

var failingTrouble = Trouble{Severity: Warning, Text: "failing inspection", Beside: "failing inspection"}

// containersShow returns the worst thing that the containers of a pod show, and until when that holds if the pod does
// not change, in seconds since 1970. For containers with the same name only the newest counts.
func containersShow(p *engine.Pod, at time.Time) (worst shown, until int64) {
	until = always
	pod := seenOf(p)
	newest, exited := make(map[string]uint32), 0
	for i := range pod.Containers {
		c := &pod.Containers[i]
		newest[c.Name] = max(newest[c.Name], c.Attempt)
		if c.State == pleg.Exited {
			exited++
		}
	}
	if exited >= manyExited {
		worst = hoarding
	}
	find := p.Status.Lookup()
	for i := range pod.Containers {
		c := &pod.Containers[i]
		if c.Attempt < newest[c.Name] {
			continue
		}
		worst = max(worst, containerShows(c, find, at))
		for _, limit := range [...]time.Duration{startGrace, crashSteady} {
			if then := c.CreatedAt.Add(limit); !c.CreatedAt.IsZero() && !then.Before(at) {
				until = min(until, then.Unix())
			}
		}
	}
	return worst, until
}

// containerShows returns what is wrong with one container.
func containerShows(c *pleg.Container, find pleg.Lookup, at time.Time) shown {
	age := at.Sub(cmp.Or(c.CreatedAt, at))
	switch {
	case c.State == pleg.Unknown:
		return unknownState
	case c.State == pleg.Created && age >= startGrace:
		return notStarted
	case c.Attempt >= restartsLeast && !c.CreatedAt.IsZero() && age < crashSteady:
		return crashing
	case c.State == pleg.Exited:
		if status := find.Container(c.ID); status != nil && status.State == pleg.Exited && status.ExitCode != 0 {
			return badExit
		}
	}
	return nothingShown
}
