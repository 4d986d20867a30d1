package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A death is the end of one container.
type death struct {
	id      string
	attempt int64     // -1 if only the event is left
	started time.Time // zero if it is not known, or if it never started

	finished time.Time
	known    bool // that the container ended by itself, with this code
	code     int32
	reason   string
	message  string
}

// lived returns how long the container ran; 0 if that is not known, or if it
// could not be started at all.
func (d death) lived() time.Duration {
	if d.started.IsZero() {
		return 0
	}
	return max(d.finished.Sub(d.started), 0)
}

// end returns how it ended: its exit code, and the runtime's reason where that
// says more.
func (d death) end() string {
	switch {
	case !d.known:
		return "no exit code"
	case d.reason == "" || d.reason == "Error" || d.reason == "Completed":
		return "exit code " + strconv.Itoa(int(d.code))
	}
	return fmt.Sprintf("exit code %d (%s)", d.code, excerpt(d.reason))
}

// deathsOf returns what is known of the deaths of one pod's containers of one
// name, the newest first: those that are still listed, of which there is one at
// least, and those that are remembered of the pod.
// What has no time is left out.
func deathsOf(containers []*pleg.ContainerStatus, remembered []ledger.Death) []death {
	var deaths []death
	for _, c := range containers {
		if c.State != pleg.Exited || c.FinishedAt.IsZero() {
			continue
		}
		deaths = append(deaths, death{
			id: c.ID, attempt: int64(c.Attempt), started: c.StartedAt, finished: c.FinishedAt,
			known: true, code: c.ExitCode, reason: c.Reason, message: c.Message,
		})
	}
	for _, d := range remembered {
		again := d.Container != containers[0].Name || slices.ContainsFunc(deaths, func(l death) bool { return l.id == d.ID && l.attempt >= 0 })
		if !again {
			deaths = append(deaths, death{id: d.ID, attempt: -1, finished: d.At, known: d.Known, code: d.ExitCode, reason: d.Reason})
		}
	}
	slices.SortStableFunc(deaths, func(a, b death) int {
		return cmp.Or(b.finished.Compare(a.finished), cmp.Compare(b.attempt, a.attempt), cmp.Compare(a.id, b.id))
	})
	return slices.CompactFunc(deaths, func(a, b death) bool { // a broken runtime lists one twice
		return a.id == b.id && a.finished.Equal(b.finished)
	})
}

// lost reports whether nobody knows how the container ended: the runtime found it
// gone when it started, as after a start of the node.
func (d death) lost() bool { return d.known && d.code == exitLost && d.reason == "Unknown" }

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
		begun = next.finished.Add(-crashSteady)
	}
	adjacent := next.attempt < 0 || d.attempt < 0 || next.attempt <= d.attempt+1
	return adjacent && begun.Sub(d.finished) > crashRecent
}
