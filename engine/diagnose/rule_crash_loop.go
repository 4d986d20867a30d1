package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/past"
	"github.com/plegtop/plegtop/engine/pleg"
)

// CrashLoop is a container that dies again and again.
const CrashLoop ID = "crash-loop"

const (
	// crashDeaths is how often a container must have died. Two deaths are what a start before its database costs; the third is
	// the kubelet's back-off at work.
	crashDeaths = 3
	// crashRecent is how long ago the last death may be: the kubelet's longest back-off of 5 min, and some time for the start.
	crashRecent = 6 * time.Minute
	// crashAhead is how far in the future a death may seem to be, by a runtime whose clock is not ours.
	crashAhead = 30 * time.Second
	// crashSteady is the life after which the kubelet forgets its back-off.
	crashSteady = 10 * time.Minute
	// crashSettled is how long a container must run to count as recovered. One that used to live longer must outlive that
	// crashOutlive times.
	crashSettled = time.Minute
	crashOutlive = 3
	// crashCompleted is how often a container must have started for an exit with code 0, the only one known, to be one of many:
	// a job that succeeds at last has mostly failed before.
	crashCompleted = 5
	// crashMost is how many owners whose pods crash have a finding each. Where more crash alike it is one trouble.
	crashMost = 10
	// namedEnds is how many different ends of several containers are named, namedDeaths how many deaths of one.
	namedEnds, namedDeaths = 4, 8
)

// A container dies again and again. One snapshot shows it: the attempt of the newest container says how often it was started,
// and what is left of the dead ones how they ended. The pod remembers those of which nothing is left.
var crashLoop = Rule{
	ID: CrashLoop, Needs: Lists, App: true, Most: crashMost, ByOwner: true,
	Find: func(f *Facts, report func(Match)) {
		var crashes []*crash
		since := f.at().Add(-crashRecent).Unix()
		for p := range f.podsWith(func(p *podFacts) bool {
			return p.died >= since && p.deaths >= crashDeaths || p.remembered > 0 && p.deaths+p.remembered >= crashDeaths
		}) {
			crashes = f.crashesOf(p, crashes)
		}
		slices.SortStableFunc(crashes, func(a, b *crash) int {
			return cmp.Or(cmp.Compare(b.times, a.times), b.run[0].At.Compare(a.run[0].At))
		})
		like := mostAlike(f, CrashLoop, crashes, crashMost+1, func(c *crash) (pleg.ObjectRef, string) { return c.ObjectRef, c.run[0].end() })
		if like != "" {
			report(f.crashingAlike(crashes, like))
		}
		for _, c := range crashes {
			if like == "" || c.run[0].end() != like {
				report(f.crashing(c))
			}
		}
	},
}

// A crash is a container that dies again and again.
type crash struct {
	pleg.ObjectRef // of the newest
	status         *pleg.PodStatus
	newest         *pleg.ContainerStatus
	run            []death // short lives that ended one after the other, newest first; not empty
	times          uint64  // how often it died, as far as is known
}

// A death is the end of one container.
type death struct {
	past.Death
	attempt int64     // -1 if only the event is left
	started time.Time // zero if it is not known, or if it never started
	message string
}

// crashesOf adds the containers of one pod that crash. In a pod whose newest sandbox has ended nothing is started any more, or
// everything anew.
func (f *Facts) crashesOf(p *engine.Pod, found []*crash) []*crash {
	if p.Status == nil || len(p.Status.Sandboxes) > 0 && p.Status.Sandboxes[0].State == pleg.Exited {
		return found
	}
	for rest := newestByName(p.Status.Containers); len(rest) > 0; {
		newest, n := rest[0], 1
		for n < len(rest) && rest[n].Name == newest.Name {
			n++
		}
		deaths := deathsOf(rest[:n], p.Deaths)
		rest = rest[n:]
		died := uint64(newest.Attempt)
		if newest.State == pleg.Exited {
			died++
		}
		c := &crash{status: p.Status, newest: newest, run: crashRun(deaths)}
		if len(c.run) == 0 {
			continue
		}
		c.ObjectRef = pleg.ObjectRef{ID: newest.ID, Pod: p.PodRef, Container: newest.Name}
		c.times = uint64(len(c.run))
		if len(c.run) == len(deaths) { // nothing says that the earlier deaths were different
			c.times = max(c.times, died)
		}
		if c.times >= crashDeaths && c.goesOn(f.at()) && c.run[0].At.After(f.Resumed) && !c.completed() {
			found = append(found, c)
		}
	}
	return found
}

// newestByName returns the containers of one name after those of another, the newest first.
func newestByName(all []pleg.ContainerStatus) []*pleg.ContainerStatus {
	sorted := make([]*pleg.ContainerStatus, len(all))
	for i := range all {
		sorted[i] = &all[i]
	}
	slices.SortStableFunc(sorted, func(a, b *pleg.ContainerStatus) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(b.Attempt, a.Attempt), b.CreatedAt.Compare(a.CreatedAt))
	})
	return sorted
}

// deathsOf returns what is known of the deaths of one pod's containers of one name, the newest first. What has no time is left
// out.
func deathsOf(containers []*pleg.ContainerStatus, remembered []past.Death) (deaths []death) {
	for _, c := range containers {
		if c.State == pleg.Exited && !c.FinishedAt.IsZero() {
			deaths = append(deaths, death{
				Death:   past.Death{Container: c.Name, ID: c.ID, At: c.FinishedAt, Known: true, ExitCode: c.ExitCode, Reason: c.Reason},
				attempt: int64(c.Attempt), started: c.StartedAt, message: c.Message,
			})
		}
	}
	for _, d := range remembered {
		listed := slices.ContainsFunc(deaths, func(l death) bool { return l.ID == d.ID && l.attempt >= 0 })
		if d.Container == containers[0].Name && !listed {
			deaths = append(deaths, death{Death: d, attempt: -1})
		}
	}
	slices.SortStableFunc(deaths, func(a, b death) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.attempt, a.attempt), cmp.Compare(a.ID, b.ID))
	})
	return slices.CompactFunc(deaths, func(a, b death) bool { return a.ID == b.ID && a.At.Equal(b.At) }) // a broken runtime lists one twice
}

// crashRun returns the newest deaths as far back as each followed soon on the one before, after a life too short for the kubelet
// to forget its back-off. A container that the runtime found gone when it started, as after a boot, did not crash.
func crashRun(deaths []death) []death {
	for i, d := range deaths {
		lost := d.Known && d.ExitCode == exitLost && d.Reason == lostReason
		if d.lived() >= crashSteady || lost || i > 0 && d.longPause(deaths[i-1]) {
			return deaths[:i]
		}
	}
	return deaths
}

// lived returns how long the container ran; 0 if that is not known, or if it could not be started.
func (d death) lived() time.Duration {
	if d.started.IsZero() {
		return 0
	}
	return max(d.At.Sub(d.started), 0)
}

// longPause reports whether more time than any back-off takes passed between d and the start of the very next container.
func (d death) longPause(next death) bool {
	begun := next.started
	if begun.IsZero() {
		begun = next.At.Add(-crashSteady)
	}
	adjacent := next.attempt < 0 || d.attempt < 0 || next.attempt <= d.attempt+1
	return adjacent && begun.Sub(d.At) > crashRecent
}

// end says how it ended: with its exit code, and the runtime's reason if that says more.
func (d death) end() string {
	switch {
	case !d.Known:
		return "no exit code"
	case d.Reason == "" || d.Reason == "Error" || d.Reason == "Completed":
		return "exit code " + strconv.Itoa(int(d.ExitCode))
	}
	return fmt.Sprintf("exit code %d (%s)", d.ExitCode, excerpt(d.Reason))
}

// goesOn reports whether the last death is recent and nothing has lasted since.
func (c *crash) goesOn(at time.Time) bool {
	since := at.Sub(c.run[0].At)
	if since < -crashAhead || since > crashRecent {
		return false
	}
	lived := time.Duration(0)
	for _, d := range c.run {
		lived = max(lived, d.lived())
	}
	lives := since
	switch began := c.newest.StartedAt; {
	case c.newest.State == pleg.Exited || c.newest.State == pleg.Created:
		return true // the back-off before it starts is no time of its own
	case c.newest.State == pleg.Running && began.After(c.run[0].At):
		lives = at.Sub(began)
	}
	return lives < max(crashSettled, crashOutlive*lived)
}

// completed reports whether the container may simply have done its work, at the first attempt or at a later one.
func (c *crash) completed() bool {
	if c.newest.State != pleg.Exited || !c.run[0].Known || c.run[0].ExitCode != 0 {
		return false
	}
	if slices.ContainsFunc(c.run[1:], func(d death) bool { return d.Known && d.ExitCode == 0 }) {
		return false
	}
	next := func(o pleg.ContainerStatus) bool {
		return o.Name != c.Container && !o.CreatedAt.Before(c.newest.FinishedAt)
	} // as after an init container
	return c.newest.Attempt+1 < crashCompleted || len(c.status.Sandboxes) == 0 || slices.ContainsFunc(c.status.Containers, next)
}

// The ends that say what has to change, as the row of remedies.yaml has them. (128 + the signal; OCI runtimes)
var mendings = map[string]func(death) bool{
	"ofMemory": func(d death) bool { return d.Reason == "OOMKilled" },
	"notRun":   func(d death) bool { return d.ExitCode == 126 || d.ExitCode == 127 || d.Reason == "StartError" },
	"killed":   func(d death) bool { return d.ExitCode == 128+9 || d.ExitCode == 128+15 },
	"ended":    func(d death) bool { return d.ExitCode == 0 },
}

func (f *Facts) crashing(c *crash) Match {
	return Match{
		Severity: Warning, Since: c.run[len(c.run)-1].At, Subject: Subject{ObjectRef: c.ObjectRef},
		Say: func(m *Match) { m.Values = c.named() },
		Draw: func(m *Match) {
			m.Values = m.Values.with(c.values(f.at()))
			m.Lines = map[string][]line{"deaths": c.lines(f.at())}
		},
	}
}

// crashingAlike is about the containers of many owners that all end in one way.
func (f *Facts) crashingAlike(crashes []*crash, end string) Match {
	m := Match{Variant: "alike", Severity: Warning, Alone: true, Group: end}
	pods := make(map[pleg.PodRef]bool)
	for _, c := range crashes {
		if c.run[0].end() != end {
			continue
		}
		pods[c.Pod] = true
		if m.Count++; m.Count <= membersMost {
			m.Members = append(m.Members, Member{Subject{ObjectRef: c.ObjectRef}, c.named()})
		}
	}
	m.Values = Values{"containers": many{m.Count, "container"}, "pods": many{len(pods), "pod"}, "end": end}
	return m
}

// named are what its line as a member needs of a crash.
func (c *crash) named() Values {
	return Values{"path": c.ObjectRef.Path(), "times": many{int(c.times), "time"}, "end": c.run[0].end()}
}

// values are what sentences and steps need of a crash, but for those that its line as a member has.
func (c *crash) values(at time.Time) Values {
	last := c.run[0]
	v := Values{
		"age": age(max(at.Sub(last.At), 0)), "container": cmp.Or(c.Container, "a container"), "message": last.message,
		"id": short(last.ID), "owner": strings.Trim(ownerPath(c.Pod), "/"),
	}
	for _, how := range []string{"ofMemory", "notRun", "killed", "ended"} {
		if last.Known && mendings[how](last) {
			v[how] = true
			return v
		}
	}
	v["otherwise"] = true
	return v
}

// lines say how and when the container died, and what it does now.
func (c *crash) lines(at time.Time) []line {
	var ends, names []string
	for _, d := range slices.Backward(c.run[:min(len(c.run), namedDeaths)]) {
		ends = append(ends, d.end())
		names = append(names, fmt.Sprintf("%s at %s", pleg.ShortID(d.ID), clock(d.At, at)))
	}
	n := len(c.run)
	v := Values{"ends": ends, "names": names, "attempt": int(c.newest.Attempt), "state": c.newest.State}
	if n > namedDeaths {
		v["of"] = fmt.Sprintf("the last %d of %d ended", namedDeaths, n)
	} else {
		v["of"] = "ended"
	}
	lines := []line{lineOf("crash.ends", v)}
	if n > 1 {
		took := c.run[0].At.Sub(c.run[n-1].At)
		v["deaths"], v["took"] = many{n, "death"}, took
		if n > 2 { // between two deaths there is one time, which is named
			v["each"] = took / time.Duration(n-1)
		}
		lines = append(lines, lineOf("crash.rate", v))
	}
	if c.newest.State != pleg.Exited {
		v["after"] = age(max(at.Sub(c.run[0].At), 0))
	} else if lived := c.run[0].lived(); lived > 0 {
		v["lived"] = lived
	}
	return append(lines, lineOf("crash.now", v), lineOf("crash.ids", v))
}

// endsOf names the different ends of several containers.
func endsOf(all []*Match) string {
	var ends []string
	for _, m := range all {
		if end, _ := m.Values["end"].(string); len(ends) < namedEnds && !slices.Contains(ends, end) {
			ends = append(ends, end)
		}
	}
	return strings.Join(ends, " or ")
}
