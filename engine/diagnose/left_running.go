package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// orphanedLasting is how long containers may run in a sandbox that is not ready:
	// a pod that is taken down looks so for a moment.
	orphanedLasting = time.Minute
	// leftLasting is how long before a look a container must have ended for what the
	// look found of it to be left: the runtime kills all of it, and waits for that. It is
	// also how long one must have been without a sandbox in the lists, which are not
	// made at once: a sandbox is removed after what was in it.
	leftLasting = 10 * time.Second
	// endTold is how soon CRI-O tells of an end: the conmon writes it into a folder that
	// the runtime watches.
	endTold = time.Second
)

// A left is what of a pod runs on.
type left struct {
	pleg.ObjectRef        // of the first of the containers
	sandbox        string // that is not ready, or not listed; empty if that is not the matter
	unlisted       bool   // the latter
	containers     []pleg.Container
	processes      []evidence.Process // that live of those; nil where their end is not known to be that of processes
	how            string
}

// leftRunning finds containers that run on though they, or their sandbox, are listed as
// ended, as where a pause process was killed, or a shim could not be reached when the
// runtime was started; and those whose conmon is gone. The kubelet makes the pod anew
// beside them, or never learns of their end.
func leftRunning(v *view) []Finding {
	var all []left
	crio := v.isCRIO() && v.seesShims()
	for p := range v.podsWith(func(f *podFacts) bool { return f.exited > 0 || f.orphaned || crio }) {
		l, is := v.ended(p)
		if !is {
			l, is = v.orphaned(p)
		}
		if !is && crio {
			l, is = v.unwatched(p)
		}
		if is {
			l.ObjectRef = evidence.ContainerOf(p.PodRef, &l.containers[0]).ObjectRef
			all = append(all, l)
		}
	}
	return append(v.unlistedRun(), oneEach(all, ghostMost, v.leftFinding, func(rest []left) Finding {
		return restOf(OrphanShims, more(len(rest), "pod")+" with containers that run on", v.advise("container.left-running-many", nil), rest, left.String)
	})...)
}

// ended returns the containers of a pod that are listed as exited, and of which the last
// look found processes that live.
func (v *view) ended(p *engine.Pod) (l left, is bool) {
	for _, c := range seen(p).Containers {
		if c.State != pleg.Exited || !v.evidence.Processes.Live(c.ID) {
			continue
		}
		status := p.Status.Lookup().Container(c.ID)
		if status == nil || status.FinishedAt.IsZero() || v.endedFor(status.FinishedAt) < leftLasting {
			continue
		}
		l.containers, is = append(l.containers, c), true
	}
	byName(l.containers)
	for _, c := range l.containers {
		found := v.evidence.Processes.Containers[c.ID]
		l.processes = append(l.processes, found[slices.IndexFunc(found, evidence.Process.Lives)])
	}
	l.how = "listed as exited, and runs on"
	return l, is
}

// endedFor returns for how long before the look a container had ended, at the least: the
// clock may have been set between its end, the look and now.
func (v *view) endedFor(at time.Time) time.Duration {
	age := min(v.evidence.At.Sub(at), v.At.Sub(at))
	if c := v.evidence.Clock; c.Steps > 0 {
		age = min(age, c.StepAge)
	}
	return age
}

// orphaned returns the containers of a pod that run in a sandbox that has ended, or that
// the runtime has lost. While an engine runs, lists tell for how long. In one bounded look a container must have been said to run
// when it was asked for, after the lists.
func (v *view) orphaned(p *engine.Pod) (l left, is bool) {
	l.containers = slices.DeleteFunc(seen(p).Orphans(), func(c pleg.Container) bool {
		return v.evidence.Processes.Missing == "" && !v.evidence.Processes.Live(c.ID) // a ghost, or elsewhere
	})
	if len(l.containers) == 0 {
		return l, false
	}
	byName(l.containers)
	l.sandbox = l.containers[0].SandboxID
	l.unlisted = !seen(p).HasSandbox(l.sandbox)
	since, lasting := answers.Later(p.Orphaned, v.Resumed), orphanedLasting
	if l.unlisted {
		_, listed := v.listed(l.sandbox)  // with another pod
		made := l.containers[0].CreatedAt // zero where the runtime does not say: it may be from between the two lists
		if listed || !listsAreWhole(v.Snapshot) || made.IsZero() || v.Health.ListedAt.Sub(made) < leftLasting {
			return l, false
		}
		lasting = leftLasting
	}
	switch {
	case !v.Policy.Bounds().Past:
		l.how, is = "running in a sandbox that is "+l.sandboxIs(), !slices.ContainsFunc(l.containers, func(c pleg.Container) bool {
			status := p.Status.Lookup().Container(c.ID)
			return status == nil || status.State != pleg.Running // the pod is being taken down
		})
	case !p.Orphaned.IsZero() && v.At.Sub(since) >= lasting:
		l.how, is = "running without its sandbox for at least "+going(v.At.Sub(since)), true
	}
	return l, is
}

// unwatched returns the containers of a pod of CRI-O's that live and have no conmon, while
// others have one: their end would not be seen.
func (v *view) unwatched(p *engine.Pod) (l left, is bool) {
	for _, c := range seen(p).Containers {
		if c.State != pleg.Running || v.hasConmon(c.ID) || len(v.conmons) == 0 {
			continue
		}
		if process, found := v.worst(c.ID); found && process.Lives() && (process.Age > orphanGrown || v.runsOn(p, c.ID)) {
			l.containers, is = append(l.containers, c), true
		}
	}
	byName(l.containers)
	l.how = "running without its conmon: its end would not be seen"
	return l, is
}

// runsOn reports whether the runtime said some time after the last look that a container
// runs: what is left of one at its end, when its conmon ends, is not told as running then.
// Who looks once must have been told so since that look began.
func (v *view) runsOn(p *engine.Pod, id string) bool {
	if v.Policy.Bounds().Past {
		return v.Health.ListedAt.After(v.evidence.At.Add(endTold))
	}
	status := p.Status.Lookup().Container(id)
	return status != nil && status.State == pleg.Running && p.InspectedAt.After(v.evidence.At.Add(-v.evidence.Took))
}

// byName sorts containers: a runtime lists them in another order each time, and a
// finding is to name the same one each time.
func byName(all []pleg.Container) {
	slices.SortFunc(all, func(a, b pleg.Container) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
}

// sandboxIs says what is wrong with the sandbox.
func (l left) sandboxIs() string {
	if l.unlisted {
		return "not listed"
	}
	return "not ready"
}

func (l left) subject() Subject { return Subject{ObjectRef: l.ObjectRef} }

func (l left) String() string {
	said := fmt.Sprintf("%s is %s", l.ObjectRef.Path(), l.how)
	switch n := len(l.containers) - 1; n {
	case 0:
		return said
	case 1:
		return said + ", and so is 1 more container of it"
	default:
		return fmt.Sprintf("%s, and so are %d more containers of it", said, n)
	}
}

func (v *view) leftFinding(l left) Finding {
	f := Finding{ID: OrphanShims, Severity: Warning, Summary: l.String(), Subject: l.subject()}
	for _, c := range l.containers {
		name := fmt.Sprintf("%s (%s)", cmp.Or(c.Name, "a container"), pleg.ShortID(c.ID))
		if l.sandbox != "" {
			f.say(fmt.Sprintf("%s is listed as running in sandbox %s, which is %s", name, pleg.ShortID(l.sandbox), l.sandboxIs()))
		} else if p, found := v.worst(c.ID); found {
			f.say(v.describe(name+" has a process", p))
		}
	}
	switch {
	case l.unlisted:
		if shim, found := v.shim(l.sandbox); found {
			f.say(v.describe("its shim", shim))
		}
		f.say("the kubelet finds no sandbox of the pod, and makes a new one")
		f.Next = v.advise("container.unlisted", Values{"id": short(l.containers[0].ID)})
		return f
	case l.sandbox != "":
		f.Next = v.advise("sandbox.not-ready", Values{"sandbox": short(l.sandbox)})
		return f
	}
	values := Values{"id": short(l.ID)}
	if shim, found := v.shim(l.containers[0].SandboxID); found {
		f.say(v.describe("its shim", shim))
		values["inLog"] = one(shim.Sandbox)
	}
	values["pid"], values["start"] = pids(l.processes...), startsOf(l.processes)
	f.Next = v.advise("container.left-running", values)
	return f
}
