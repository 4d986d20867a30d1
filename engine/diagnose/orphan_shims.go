package diagnose

import (
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/past"
)

// OrphanShims is what goes on without the runtime: shims of which it lists no sandbox, and
// containers that run though they are listed as ended, or not listed.
const OrphanShims ID = "orphan-shims"

var orphanShimsKind = &kind{
	id: OrphanShims, find: orphanShims,
	needs: lists, because: haunts, pod: "left running", state: "left",
	critical: degradedWord,
	severity: "warning, critical", scenario: "a real node",
	when: "shims of this runtime without a sandbox, for a minute or more; at once where the runtime has begun since and something lives below them: it has forgotten them; " +
		"critical where they are two or more, and half of the shims from before it began, as after a start with another root or state folder. " +
		"A warning also for a container that runs on though it, or its sandbox, is listed as ended, as after a pause process was killed or a shim could not be reached at the " +
		"runtime's start; or though its sandbox is not listed, for 10 s; or though it is not listed itself, as after a start of the runtime with a full disk; or without its conmon",
}

const (
	// orphanGrown is the age from which a shim must have a sandbox: it is started
	// before that is listed, and may outlive it while it cleans up.
	orphanGrown = time.Minute
	// orphanFresh is how old the lists may be.
	orphanFresh = 30 * time.Second
	// orphanTold is how many are told one by one.
	orphanTold = 10
	// lostLeast is how many sandboxes a runtime has lost together at least, and a half of all, where
	// what it lost is its folders and not the sandboxes.
	lostLeast = 2
)

// An orphan is a shim whose sandbox is not listed.
type orphan struct {
	evidence.Process
	below   []evidence.Process // lives, and came from it
	mayLive bool               // something lives below it, or not all processes were seen
	origin
}

// forgotten reports whether the runtime began after the shim, while what is below that lives.
func (o orphan) forgotten() bool { return o.origin == ofEarlier && len(o.below) > 0 }

// orphanShims finds what goes on without the runtime.
func orphanShims(v *view) []Finding { return append(lostShims(v), leftRunning(v)...) }

// lostShims finds shims of this runtime whose sandbox it does not list. Those of which it lists
// containers are told with these. Shims of other runtimes, those that may have ended
// since the look, and lists from which something had to be left out accuse nobody.
func lostShims(v *view) []Finding {
	if v.evidence.Processes.Missing != "" || !listsAreWhole(v.Snapshot) {
		return nil
	}
	orphans, before, listed := orphansAmong(v)
	if len(orphans) == 0 {
		return nil
	}
	f := Finding{ID: OrphanShims, Severity: Warning, Group: "shims", Brief: "orphan shims"}
	if len(orphans) == 1 {
		f.Subject.ObjectRef = orphans[0].LooksAfter()
	}
	live := slices.DeleteFunc(slices.Clone(orphans), func(o orphan) bool { return len(o.below) == 0 || o.origin == ofPresent })
	lost := len(live) >= lostLeast && 2*len(live) >= before
	switch {
	case lost || slices.ContainsFunc(live, orphan.forgotten):
		v.forgot(&f, live, before, listed, lost)
	case len(orphans) == 1:
		f.Summary = fmt.Sprintf("1 shim has no sandbox: pid %d", orphans[0].PID)
		f.Next = v.endOrphan(orphans)
	default:
		f.Summary = fmt.Sprintf("%d shims have no sandbox", len(orphans))
		f.Next = v.endOrphan(orphans)
	}
	sayFirst(&f, orphans, orphanTold, "shim", func(o orphan) string {
		return fmt.Sprintf("%s (pid %d) of sandbox %s, %s old, %s; below it %s", o.Command, o.PID, o.Sandbox, span(o.Age), o.State, o.living())
	})
	f.say(fmt.Sprintf("sandboxes that the runtime lists: %s, with %s", thousands(v.Counts.Sandboxes), count(v.Counts.Containers, "container")))
	return []Finding{f}
}

// forgot is about sandboxes that live and that the runtime has forgotten: to end what they hold
// would end the work of the node, and a start that can read them brings them back. Of so many from
// before it began some are listed.
func (v *view) forgot(f *Finding, live []orphan, before, listed int, lost bool) {
	lists := "lists none"
	if listed > 0 {
		lists = fmt.Sprintf("lists only %d", listed)
	}
	since := ""
	if slices.ContainsFunc(live, orphan.forgotten) {
		since = " since it began " + going(v.byNow(v.youngRuntime()).Age) + " ago"
	}
	f.Summary = fmt.Sprintf("%s %s of the %s whose shims live%s", v.program(), lists, count(before, "sandbox"), since)
	f.say("a kubelet takes these pods for gone and begins each once more, beside the first; the node stays Ready")
	right, again := "make readable what its log names, as room on its disk", "it can read them"
	if lost {
		f.Severity = Critical
		f.Summary += ": it may have another root or state folder"
		right, again = "put root and state of its configuration right, or mount the disk that is not there", "its folders are right"
	}
	f.Next = v.rightFolders(live[0].Process, right)
	if !lost {
		f.Next = append(f.Next, v.makingFit()...)
	}
	for _, step := range v.restart("reads its sandboxes again") {
		f.Next = append(f.Next, step.after(again))
	}
}

// endOrphan returns what to do about shims that are left over. Only one that is known to hold
// nothing, or what this runtime has begun and removed, is ended.
func (v *view) endOrphan(orphans []orphan) []Step {
	var shims []evidence.Process
	for _, o := range orphans[:min(len(orphans), orphanTold)] {
		shims = append(shims, o.Process)
	}
	values := Values{"shims": pids(shims...), "sandbox": short(orphans[0].Sandbox)}
	end := slices.IndexFunc(orphans, func(o orphan) bool { return !o.mayLive })
	if alone := len(orphans) == 1 && orphans[0].origin == ofPresent && len(orphans[0].below) > 0; end < 0 && alone {
		end = 0
		values["below"], values["living"] = pids(orphans[0].below...), one(orphans[0].living())
	}
	if end >= 0 {
		values["pid"], values["start"] = pids(orphans[end].Process), one(startOf(orphans[end].Process))
	}
	return v.advise("shim.left-over", values)
}

// living names what lives below an orphan.
func (o orphan) living() string {
	var names []string
	for _, p := range o.below[:min(len(o.below), orphanTold)] {
		names = append(names, fmt.Sprintf("%s (pid %d)", p.Command, p.PID))
	}
	if n := len(o.below) - len(names); n > 0 {
		names = append(names, fmt.Sprintf("%d more", n))
	}
	switch {
	case len(names) > 0:
		return join(names)
	case o.mayLive:
		return "whatever could not be seen"
	}
	return "nothing lives"
}

// listsAreWhole reports whether what is not in the lists is not there.
func listsAreWhole(s *engine.Snapshot) bool {
	left := s.Anomalies.NoMetadata + s.Anomalies.NoID + s.Anomalies.NoPodUID
	both := s.Pods != nil && s.Failure == nil && s.Partial == "" && !s.Health.ListedAt.IsZero() // while the first list of containers hangs there are pods without any
	return both && s.Health.ListAge(s.At) <= orphanFresh && left == 0
}

// orphansAmong returns the shims of this runtime whose sandbox is not listed. It counts those that
// the runtime as it runs now has not begun, as far as is known, and of how many of them it lists
// something.
func orphansAmong(v *view) (orphans []orphan, before, listed int) {
	if len(v.Gone) >= past.MostGone {
		return nil, 0, 0
	}
	has := make(map[string]bool) // sandboxes of which containers are listed
	for p := range v.podsWith(func(f *podFacts) bool { return f.orphaned }) {
		for _, c := range seen(p).Orphans() {
			has[c.SandboxID] = true
		}
	}
	var live map[int][]evidence.Process
	for _, p := range v.evidence.Processes.Shims {
		if !p.Own || p.Sandbox == "" {
			continue
		}
		is := v.isListed(p.Sandbox) || has[p.Sandbox] // an old shim serves one container and has its id
		if v.origin(p) != ofPresent {
			before++
			if is {
				listed++
			}
		}
		if is {
			continue
		}
		if live == nil {
			live = v.childrenLive()
		}
		if o := v.orphan(p, live); v.isOrphan(o) {
			orphans = append(orphans, o)
		}
	}
	return orphans, before, listed
}

func (v *view) orphan(p evidence.Process, live map[int][]evidence.Process) orphan {
	o := orphan{Process: p, below: live[p.PID], origin: v.origin(p)}
	for _, one := range v.evidence.Processes.Containers[p.Sandbox] {
		if one.Lives() && one.Parent != p.PID {
			o.below = append(o.below, one)
		}
	}
	o.mayLive = len(o.below) > 0 || !v.evidence.Processes.Whole()
	return o
}

// isOrphan reports whether a shim has been without a sandbox for long enough. What a runtime
// removes does not live on: that it does after a start is enough. While its network is set up or
// taken down it is not listed.
func (v *view) isOrphan(o orphan) bool {
	works := func(h evidence.Process) bool { return h.Own && (h.Sandbox == o.Sandbox || h.Container == o.Sandbox) }
	if slices.ContainsFunc(v.evidence.Processes.Helpers, works) {
		return false
	}
	if o.forgotten() {
		return v.sandboxStays(o.Sandbox)
	}
	return o.Age > orphanGrown && v.Gone.Since(o.Sandbox).IsZero()
}
