package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/past"
	"github.com/plegtop/plegtop/engine/pleg"
)

// CrashLoop is a container that dies again and again.
const CrashLoop ID = "crash-loop"

var crashLoopKind = &kind{
	id: CrashLoop, find: crashLoop,
	needs: lists, app: true,
	pod:      "crash loop",
	severity: "warning", scenario: "`tour`",
	when: "a container died 3 times or more, by its attempts too, the last time within 6 minutes, and has not run for long since",
}

const (
	// crashDeaths is how often a container must have died. Two deaths are what a
	// start before its database costs; the third is the kubelet's back-off at work.
	crashDeaths = 3
	// crashRecent is how long ago the last death may be: the kubelet's longest
	// back-off of 5 min, and some time for the start.
	crashRecent = 6 * time.Minute
	// crashAhead is how far in the future a death may seem to lie, by a runtime
	// whose clock is not ours.
	crashAhead = 30 * time.Second
	// crashSteady is the life after which the kubelet forgets its back-off: what
	// lasted so long does not crash in a loop.
	crashSteady = 10 * time.Minute
	// crashSettled is the least time that a container has to run to count as
	// recovered; one that used to live longer has to outlive that, too.
	crashSettled = time.Minute
	// crashOutlive is by how much.
	crashOutlive = 3
	// crashCompleted is how often a container must have started for an exit with
	// code 0, of which no other is listed, to be one of many: a job that succeeds
	// at last has mostly done so before.
	crashCompleted = 5
	// crashMost is how many findings there are, each of the containers of one name in
	// one owner's pods.
	crashMost = 10
	// crashEnds is how many ways in which several of them ended are told.
	crashEnds = 4
	// crashTold is how many of its deaths are told one by one.
	crashTold = 8
)

// A crash is a container that dies again and again.
type crash struct {
	pleg.ObjectRef // of the newest
	status         *pleg.PodStatus
	newest         *pleg.ContainerStatus
	chain          []death // short lives that ended one after the other, newest first; not empty
	times          uint64  // how often it died, as far as is known
}

// crashLoop finds containers that keep dying. One snapshot is enough for it: the
// attempt of the newest container says how often it was started, and what is
// left of the dead ones how they ended. The pod remembers those of which nothing
// is left.
func crashLoop(v *view) []Finding {
	var crashes []*crash
	since := v.At.Add(-crashRecent).Unix()
	died := func(f *podFacts) bool {
		return f.died >= since && f.deaths >= crashDeaths || f.remembered > 0 && f.deaths+f.remembered >= crashDeaths
	}
	for p := range v.podsWith(died) {
		crashes = v.crashesOf(p, crashes)
	}
	slices.SortStableFunc(crashes, func(a, b *crash) int {
		return cmp.Or(cmp.Compare(b.times, a.times), b.chain[0].At.Compare(a.chain[0].At))
	})
	return folded(v, CrashLoop, crashes, crashMost, (*crash).name, func(alike []*crash) Finding { return crashFinding(v, alike) }, func(rest []*crash) Finding {
		return restOf(CrashLoop, more(len(rest), "container")+" died again and again", v.advise("container.crashes-many", nil), rest, (*crash).String)
	})
}

// crashesOf adds the containers of one pod that crash. In a pod whose newest
// sandbox has ended nothing is started any more, or all of it anew.
func (v *view) crashesOf(p *engine.Pod, found []*crash) []*crash {
	if p.Status == nil || len(p.Status.Sandboxes) > 0 && p.Status.Sandboxes[0].State == pleg.Exited {
		return found
	}
	for rest := byAge(p.Status.Containers); len(rest) > 0; {
		newest, n := rest[0], 1
		for n < len(rest) && rest[n].Name == newest.Name {
			n++
		}
		all := rest[:n]
		rest = rest[n:]
		died := uint64(newest.Attempt)
		if newest.State == pleg.Exited {
			died++
		}
		deaths := deathsOf(all, p.Deaths)
		if len(deaths) == 0 {
			continue
		}
		c := &crash{status: p.Status, newest: newest, chain: crashRun(deaths)}
		c.ObjectRef = pleg.ObjectRef{ID: newest.ID, Pod: p.PodRef, Container: newest.Name}
		c.times = uint64(len(c.chain))
		if len(c.chain) == len(deaths) { // nothing says that the earlier ones were different
			c.times = max(c.times, died)
		}
		if len(c.chain) > 0 && c.times >= crashDeaths && c.goesOn(v.At) && c.chain[0].At.After(v.Resumed) && !c.completed() {
			found = append(found, c)
		}
	}
	return found
}

// fresh reports whether a death is one of the present.
func fresh(since time.Duration) bool { return since >= -crashAhead && since <= crashRecent }

// byAge returns the containers of one name after those of another, the newest first: of
// several that are as new the one that is listed first.
func byAge(all []pleg.ContainerStatus) []*pleg.ContainerStatus {
	sorted := make([]*pleg.ContainerStatus, len(all))
	for i := range all {
		sorted[i] = &all[i]
	}
	slices.SortStableFunc(sorted, func(a, b *pleg.ContainerStatus) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(b.Attempt, a.Attempt), b.CreatedAt.Compare(a.CreatedAt))
	})
	return sorted
}

// goesOn reports whether the last death is recent and nothing has lasted since.
func (c *crash) goesOn(at time.Time) bool {
	since := at.Sub(c.chain[0].At)
	if !fresh(since) || c.newest.State == pleg.Exited {
		return fresh(since)
	}
	lived := slices.MaxFunc(c.chain, func(a, b death) int { return cmp.Compare(a.lived(), b.lived()) }).lived()
	return c.lives(at) < max(crashSettled, crashOutlive*lived)
}

// lives returns for how long the newest container has run; one that was made and
// not yet started has not. The back-off before it is no time of its own.
func (c *crash) lives(at time.Time) time.Duration {
	since := at.Sub(c.chain[0].At)
	if began := c.newest.StartedAt; c.newest.State == pleg.Running && began.After(c.chain[0].At) {
		return at.Sub(began)
	}
	if c.newest.State == pleg.Created {
		return 0
	}
	return since
}

// completed reports whether the container may simply have done its work, at the
// first attempt or at a later one. A container that is started again after an
// exit with code 0 crashes in the kubelet's eyes; that nothing shows that is
// taken for the end.
func (c *crash) completed() bool {
	if c.newest.State != pleg.Exited || !c.chain[0].Known || c.chain[0].ExitCode != 0 {
		return false
	}
	for _, d := range c.chain[1:] {
		if d.Known && d.ExitCode == 0 {
			return false
		}
	}
	return c.newest.Attempt+1 < crashCompleted || len(c.status.Sandboxes) == 0 || c.led()
}

// led reports whether another container of the pod was made after this one had
// ended, as is done after an init container.
func (c *crash) led() bool {
	return slices.ContainsFunc(c.status.Containers, func(o pleg.ContainerStatus) bool {
		return o.Name != c.Container && !o.CreatedAt.Before(c.newest.FinishedAt)
	})
}

// name names one trouble: the containers of one name in the pods of one owner. It
// stays the same from one restart to the next, however each of them ends, and for a
// pod that is made anew under the same name.
func (c *crash) name() group {
	return groupOf(pleg.ObjectRef{Pod: c.Pod, Container: c.Container}, manner{})
}

// ends says in which ways containers ended at last, the first few.
func ends(all []*crash) string {
	var ends []string
	known := make(map[past.Death]bool)
	for _, c := range all {
		d := past.Death{Known: c.chain[0].Known, ExitCode: c.chain[0].ExitCode, Reason: c.chain[0].Reason}
		if known[d] || len(ends) == crashEnds {
			continue
		}
		known[d] = true
		if end := c.chain[0].end(); !slices.Contains(ends, end) {
			ends = append(ends, end)
		}
	}
	return strings.Join(ends, " or ")
}

func (c *crash) subject() Subject { return Subject{ObjectRef: c.ObjectRef} }

// String says whose container died, how often, and how at last.
func (c *crash) String() string {
	return fmt.Sprintf("%s died %s, last with %s", c.ObjectRef.Path(), count(c.times, "time"), c.chain[0].end())
}

// The ways to end that say what has to change.
const (
	exitKilled     = 128 + 9  // by SIGKILL: for want of memory, or by a probe that failed
	exitEnded      = 128 + 15 // by SIGTERM: as by a probe that failed
	exitNotRun     = 126
	exitNotFound   = 127
	reasonOOM      = "OOMKilled"
	reasonNotBegun = "StartError"
)

// mending says what ends the crashes, by how the last one ended.
func (c *crash) mending() string {
	of := " of " + strings.Trim(ownerOf(c.Pod), "/")
	switch d := c.chain[0]; {
	case !d.Known:
	case d.Reason == reasonOOM:
		return "raise the memory limit" + of + ", or fix what takes so much"
	case d.ExitCode == exitNotRun || d.ExitCode == exitNotFound || d.Reason == reasonNotBegun:
		return "fix the command or the image" + of + ": it cannot be run"
	case d.ExitCode == exitKilled || d.ExitCode == exitEnded:
		return "see whether a liveness probe kills it, and fix that" + of + "; or roll it back"
	case d.ExitCode == 0:
		return "fix the command" + of + ": it ends by itself, and is to run on"
	}
	return "fix what its log names, or roll back the last change" + of
}

// crashFinding is about one container, or about those of several pods of one owner
// that crash alike, of which the first is the worst.
func crashFinding(v *view, alike []*crash) Finding {
	c := alike[0]
	last := c.chain[0]
	f := Finding{
		ID: CrashLoop, Severity: Warning, Since: c.chain[len(c.chain)-1].At,
		Summary: fmt.Sprintf("%s died %s, last %s ago with %s",
			c.ObjectRef.Path(), count(c.times, "time"), going(max(v.At.Sub(last.At), 0)), last.end()),
		Subject:  c.subject(),
		Evidence: c.evidence(v.At),
		Next:     v.advise("container.crashes", Values{"id": short(last.ID), "mend": one(c.mending())}),
	}
	if len(alike) > 1 {
		f.Summary = fmt.Sprintf("%s: %s died up to %s, last with %s", podsOf(alike), cmp.Or(c.Container, "a container"), count(c.times, "time"), ends(alike))
		f = about(f, alike, (*crash).String)
	}
	return f
}

func (c *crash) evidence(at time.Time) []string {
	var ends, names []string
	for _, d := range slices.Backward(c.chain[:min(len(c.chain), crashTold)]) {
		ends = append(ends, d.end())
		names = append(names, fmt.Sprintf("%s at %s", pleg.ShortID(d.ID), clock(d.At, at)))
	}
	which := "ended, oldest first: "
	if n := len(c.chain); n > crashTold {
		which = fmt.Sprintf("the last %d of %d ended, oldest first: ", crashTold, n)
	}
	var lines []string
	if m := c.chain[0].message; m != "" { // says more than any exit code
		lines = append(lines, "message: "+m)
	}
	lines = append(lines, which+join(ends))
	if n := len(c.chain); n > 1 {
		took := c.chain[0].At.Sub(c.chain[n-1].At)
		line := fmt.Sprintf("%s in %s", count(n, "death"), span(took))
		if n > 2 { // between two there is one time, which is said
			line += ": one every " + span(took/time.Duration(n-1))
		}
		lines = append(lines, line)
	}
	return append(lines, c.present(at), "container "+join(names))
}

func (c *crash) present(at time.Time) string {
	state := fmt.Sprintf("attempt %d is %s", c.newest.Attempt, c.newest.State)
	if c.newest.State != pleg.Exited {
		return fmt.Sprintf("%s, %s after the last death", state, going(max(at.Sub(c.chain[0].At), 0)))
	}
	if lived := c.chain[0].lived(); lived > 0 {
		return fmt.Sprintf("%s; it ran for %s", state, span(lived))
	}
	return state
}
