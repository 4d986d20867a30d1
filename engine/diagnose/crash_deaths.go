package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/plegtop/plegtop/engine/past"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A death is the end of one container.
type death struct {
	past.Death
	attempt int64     // -1 if only the event is left
	started time.Time // zero if it is not known, or if it never started
	message string
}

// lived returns how long the container ran; 0 if that is not known, or if it
// could not be started at all.
func (d death) lived() time.Duration {
	if d.started.IsZero() {
		return 0
	}
	return max(d.At.Sub(d.started), 0)
}

// end returns how it ended: its exit code, and the runtime's reason where that
// says more.
func (d death) end() string {
	switch {
	case !d.Known:
		return "no exit code"
	case d.Reason == "" || d.Reason == "Error" || d.Reason == "Completed":
		return "exit code " + strconv.Itoa(int(d.ExitCode))
	}
	return fmt.Sprintf("exit code %d (%s)", d.ExitCode, excerpt(d.Reason))
}

// deathsOf returns what is known of the deaths of one pod's containers of one
// name, the newest first: those that are still listed, of which there is one at
// least, and those that are remembered of the pod.
// What has no time is left out.
func deathsOf(containers []*pleg.ContainerStatus, remembered []past.Death) []death {
	var deaths []death
	for _, c := range containers {
		if c.State != pleg.Exited || c.FinishedAt.IsZero() {
			continue
		}
		deaths = append(deaths, death{
			Death:   past.Death{Container: c.Name, ID: c.ID, At: c.FinishedAt, Known: true, ExitCode: c.ExitCode, Reason: c.Reason},
			attempt: int64(c.Attempt), started: c.StartedAt, message: c.Message,
		})
	}
	for _, d := range remembered {
		again := d.Container != containers[0].Name || slices.ContainsFunc(deaths, func(l death) bool { return l.ID == d.ID && l.attempt >= 0 })
		if !again {
			deaths = append(deaths, death{Death: d, attempt: -1})
		}
	}
	slices.SortStableFunc(deaths, func(a, b death) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.attempt, a.attempt), cmp.Compare(a.ID, b.ID))
	})
	return slices.CompactFunc(deaths, func(a, b death) bool { // a broken runtime lists one twice
		return a.ID == b.ID && a.At.Equal(b.At)
	})
}

// lost reports whether nobody knows how the container ended: the runtime found it
// gone when it started, as after a start of the node.
func (d death) lost() bool { return d.Known && d.ExitCode == exitLost && d.Reason == reasonLost }

// crashRun returns the newest deaths as far back as each followed soon on the
// one before, after a life too short for the kubelet to forget its back-off.
func crashRun(deaths []death) []death {
	for i, d := range deaths {
		if d.lived() >= crashSteady || d.lost() || i > 0 && d.longPause(deaths[i-1]) {
			return deaths[:i]
		}
	}
	return deaths
}

// longPause reports whether more time than any back-off takes passed between d and
// the start of the very next container.
func (d death) longPause(next death) bool {
	begun := next.started
	if begun.IsZero() {
		begun = next.At.Add(-crashSteady)
	}
	adjacent := next.attempt < 0 || d.attempt < 0 || next.attempt <= d.attempt+1
	return adjacent && begun.Sub(d.At) > crashRecent
}
