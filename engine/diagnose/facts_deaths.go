package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// crashSettled is how long a container must run to count as recovered. If its last life was longer, it must run
	// crashOutlive times as long as that.
	crashSettled = time.Minute
	crashOutlive = 3
	// If only one exit with code 0 is known, the container must have started crashCompleted times before that exit
	// counts as one of many: a job that succeeds in the end has mostly failed before.
	crashCompleted = 5
	// namedDeaths is how many deaths of one container are named.
	namedDeaths = 8
)

// A crash is a container that dies again and again.
type crash struct {
	pod    *pleg.PodRef
	newest *pleg.ContainerStatus
	run    []*pleg.ContainerStatus // short lives that ended one after the other, newest first; not empty
	times  int                     // how often it died, as far as is known
	end    string                  // how it ended last
}

// object returns the newest container.
func (c *crash) object() pleg.ObjectRef {
	return pleg.ObjectRef{ID: c.newest.ID, Pod: *c.pod, Container: c.newest.Name}
}

// crashesOf adds the containers of one pod that crash. If the newest sandbox of the pod has ended, no container of the
// pod is started any more, or all are started anew. Then it adds none.
func (f *Facts) crashesOf(p *engine.Pod, found []*crash) []*crash {
	if p.Status == nil || len(p.Status.Sandboxes) == 0 || p.Status.Sandboxes[0].State == pleg.Exited {
		return found
	}
	for rest := byName(p.Status.Containers); len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Name == rest[0].Name {
			n++
		}
		named := rest[:n:n]
		rest = rest[n:]
		newest := named[0]
		dead := slices.DeleteFunc(named, func(c *pleg.ContainerStatus) bool { return c.State != pleg.Exited || c.FinishedAt.IsZero() })
		c := crash{pod: &p.PodRef, newest: newest, run: dead}
		if i := slices.IndexFunc(dead, endsRun); i >= 0 {
			c.run = dead[:i]
		} else if c.times = int(newest.Attempt); newest.State == pleg.Exited { // nothing says that the earlier deaths were different
			c.times++
		}
		c.times = max(c.times, len(c.run))
		if len(c.run) > 0 && c.times >= crashDeaths && c.goesOn(f.at(), f.Resumed) && !c.completed(p.Status) {
			c.end = endOf(c.run[0])
			found = append(found, &c)
		}
	}
	return found
}

// byName returns containers sorted by name. Containers with the same name are sorted by their attempts, the last first:
// the time of creation does not tell the order once the clock was set. A broken runtime lists one container twice; it
// is returned once.
func byName(containers []pleg.ContainerStatus) []*pleg.ContainerStatus {
	all := make([]*pleg.ContainerStatus, len(containers))
	for i := range containers {
		all[i] = &containers[i]
	}
	slices.SortStableFunc(all, func(a, b *pleg.ContainerStatus) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(b.Attempt, a.Attempt))
	})
	return slices.CompactFunc(all, func(a, b *pleg.ContainerStatus) bool { return *a == *b })
}

// endsRun reports whether a death is no crash: the container lived for so long that the kubelet forgot its back-off, or
// the runtime found it gone when the runtime started, for example after a boot.
func endsRun(c *pleg.ContainerStatus) bool {
	return lived(c) >= crashSteady || c.ExitCode == exitLost && c.Reason == lostReason
}

// lived returns how long a dead container ran; 0 if that is not known, or if it could not be started.
func lived(c *pleg.ContainerStatus) time.Duration {
	if c.StartedAt.IsZero() {
		return 0
	}
	return max(c.FinishedAt.Sub(c.StartedAt), 0)
}

// endOf returns how a container ended: its exit code, and the runtime's reason if that says more.
func endOf(c *pleg.ContainerStatus) string {
	if c.Reason == "" || c.Reason == "Error" || c.Reason == "Completed" {
		return "exit code " + strconv.Itoa(int(c.ExitCode))
	}
	return fmt.Sprintf("exit code %d (%s)", c.ExitCode, excerpt(c.Reason))
}

// goesOn reports whether the last death is recent and after the last pause, and the newest container has not run for
// long since.
func (c *crash) goesOn(at, resumed time.Time) bool {
	last := c.run[0].FinishedAt
	if since := at.Sub(last); since < -sameClockWithin || since > crashRecent || !last.After(resumed) {
		return false
	}
	return c.newest.State != pleg.Running || at.Sub(c.newest.StartedAt) < max(crashSettled, crashOutlive*lived(c.run[0]))
}

// completed reports whether the container may simply have done its work, at the first attempt or at a later one.
func (c *crash) completed(s *pleg.PodStatus) bool {
	isDone := func(d *pleg.ContainerStatus) bool { return d.ExitCode == 0 }
	if c.newest.State != pleg.Exited || !isDone(c.run[0]) || slices.ContainsFunc(c.run[1:], isDone) {
		return false
	}
	return c.newest.Attempt+1 < crashCompleted || slices.ContainsFunc(s.Containers, func(o pleg.ContainerStatus) bool {
		return o.Name != c.newest.Name && !o.CreatedAt.Before(c.newest.FinishedAt) // as after an init container
	})
}

func (c *crash) say(f *Facts, m *Match) { m.Values = c.values(f.at()) }
func (c *crash) draw(*Facts, *Match)    {} // that is all

// values returns what sentences and steps need about a crash.
func (c *crash) values(at time.Time) Values {
	var deaths []string
	for _, d := range c.run[:min(len(c.run), namedDeaths)] {
		deaths = append(deaths, fmt.Sprintf("%s after %s at %s (%s)", endOf(d), span(lived(d)), clock(d.FinishedAt, at), pleg.ShortID(d.ID)))
	}
	last := c.run[0]
	return Values{
		"path": c.object().Path(), "times": many{c.times, "time"}, "end": c.end, "age": age(max(at.Sub(last.FinishedAt), 0)), "deaths": deaths,
		"container": cmp.Or(c.newest.Name, "a container"), "message": last.Message, "attempt": int(c.newest.Attempt), "state": c.newest.State,
		"id": short(last.ID), "owner": strings.Trim(ownerPath(*c.pod), "/"), mending(last): true,
	}
}

// mending returns a name for what has to change after this end of a container, as the row of remedies.yaml uses it.
// (128 + the signal; OCI runtimes)
func mending(c *pleg.ContainerStatus) string {
	switch {
	case c.Reason == "OOMKilled":
		return "ofMemory"
	case c.ExitCode == 126 || c.ExitCode == 127 || c.Reason == "StartError":
		return "notRun"
	case c.ExitCode == 128+9 || c.ExitCode == 128+15:
		return "killed"
	case c.ExitCode == 0:
		return "ended"
	}
	return "otherwise"
}
