package diagnose

import (
	"cmp"
	"errors"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// startGrace is how long a container may stay created before that is a
	// problem. Between create and start a healthy runtime needs well under a
	// second; a slow one with large volumes some seconds.
	startGrace = 30 * time.Second
	// restartsLeast is how often a container must have been restarted, the last time
	// less than crashSteady ago, for its pod to have a problem.
	restartsLeast = 3
)

// A Trouble is what is wrong with a pod. The zero value says that nothing is.
type Trouble struct {
	Severity Severity
	By       ID     // of the finding that says so; empty if the pod itself shows it
	Text     string // in a few words, none of them from the runtime
}

// troubleWords are what findings say of a pod. What another finding says of one is
// not worth a mark.
var troubleWords = map[ID]string{
	InspectHung: "status hangs", InspectFailing: "inspection fails", CrashLoop: "crash loop", GhostRunning: "no process",
	ProcessStuck: "process stuck", EventsDiscarded: "events lost",
}

// Troubled returns the pods that have a problem, by UID: those that a finding is
// about, also as one of several, and those that show one themselves, see
// [PodTrouble]. Of several the worst is told, a finding first. None is in trouble for
// what the whole runtime does. It is made anew with each call.
func (u Update) Troubled() map[pleg.UID]Trouble {
	v := newView(Input{Snapshot: u.Snapshot})
	defer views.Put(v)
	shown := PodTrouble
	if v.scope >= everyStatus {
		shown = containersTrouble
	}
	all := Accused(u.Findings)
	for _, p := range u.Snapshot.Pods {
		was, known := all[p.UID]
		if t := shown(p, u.Snapshot.At); t.Text != "" && (!known || t.Severity > was.Severity) {
			all[p.UID] = t
		}
	}
	return all
}

// Accused returns what findings say of pods, by UID, the worst of each. What is only
// worth knowing is no problem, and a pod without a UID is left out. It is never nil.
func Accused(findings []Finding) map[pleg.UID]Trouble {
	all := make(map[pleg.UID]Trouble)
	for _, f := range findings {
		for _, s := range append([]Subject{f.Subject}, f.Members...) {
			if text := troubleWords[f.ID]; text != "" && s.Pod.UID != "" && f.Severity > all[s.Pod.UID].Severity {
				all[s.Pod.UID] = Trouble{f.Severity, f.ID, text}
			}
		}
	}
	return all
}

// PodTrouble returns what a pod itself shows to be wrong, as of at: in this order,
// its last inspection was answered with an error; a container is listed as unknown;
// one has been created for 30 s and not started; one was restarted three times or
// more, the last time less than ten minutes ago; one exited with another code than 0.
// Only the newest container of each name counts: what a restart has mended is no
// trouble any more.
func PodTrouble(p *engine.Pod, at time.Time) Trouble {
	if inspectionFails(p) {
		return Trouble{Severity: Warning, Text: "inspection fails"}
	}
	return containersTrouble(p, at)
}

// inspectionFails reports whether the runtime answered the last inspection of a pod
// with an error. That it was not there, or gave no answer, need not be for the pod:
// where it is, a finding says so.
func inspectionFails(p *engine.Pod) bool {
	if f := p.Failure; f != nil {
		return isAnswer(f.Err) || errors.Is(f.Err, call.ErrDeadline) && f.Took() < callLate
	}
	return p.StatusErr != nil && isAnswer(p.StatusErr)
}

// containersTrouble returns the worst that the containers of a pod show.
func containersTrouble(p *engine.Pod, at time.Time) Trouble {
	worst, rank := Trouble{}, 0
	pod := seen(p)
	for i := range pod.Containers {
		if c := &pod.Containers[i]; !superseded(pod, c) {
			if t, r := containerTrouble(p, c, at); r > rank {
				worst, rank = t, r
			}
		}
	}
	return worst
}

// superseded reports whether a later container of the same name is listed.
func superseded(pod *pleg.Pod, c *pleg.Container) bool {
	for i := range pod.Containers {
		if o := &pod.Containers[i]; o.Attempt > c.Attempt && o.Name == c.Name {
			return true
		}
	}
	return false
}

// containerTrouble returns what is wrong with one container, and how it ranks.
func containerTrouble(p *engine.Pod, c *pleg.Container, at time.Time) (Trouble, int) {
	age := at.Sub(cmp.Or(c.CreatedAt, at))
	switch status := statusOf(p, c.ID); {
	case c.State == pleg.Unknown:
		return Trouble{Severity: Warning, Text: "state unknown"}, 4
	case c.State == pleg.Created && age >= startGrace:
		return Trouble{Severity: Warning, Text: "created, not started"}, 3
	case c.Attempt >= restartsLeast && !c.CreatedAt.IsZero() && age < crashSteady:
		return Trouble{Severity: Warning, Text: "crash loop"}, 2
	case c.State == pleg.Exited && status != nil && status.State == pleg.Exited && status.ExitCode != 0:
		return Trouble{Text: "exited with an error"}, 1
	}
	return Trouble{}, 0
}
