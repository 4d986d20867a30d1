package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

// What is remembered of deaths: enough to tell intervals and exit codes, for
// more containers than a node has that crash.
const (
	deathsKept = 8
	keysMost   = 1000
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
// name, the newest first: those that are still listed, and those remembered.
// What has no time is left out.
func deathsOf(containers []*pleg.ContainerStatus, remembered []death) []death {
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
		if !slices.ContainsFunc(deaths, func(l death) bool { return l.id == d.id && l.attempt >= 0 }) {
			deaths = append(deaths, d)
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

// A deathLog remembers how containers died. Their dead remains are soon removed:
// the kubelet keeps one of each.
type deathLog struct {
	byName map[containerKey][]death // newest first
	ofPod  map[pleg.UID]int         // how many in each pod
}

// containerKey names a container over its restarts.
type containerKey struct {
	pod  pleg.UID
	name string
}

func (l *deathLog) add(u engine.Update) {
	for _, e := range u.Events {
		if e.Kind != pleg.Died || e.Sandbox || e.Delivery == pleg.Unseen || e.From == pleg.Absent && !e.HasLag {
			continue // a relist tells again what it sees after all; what was dead when it was first seen may have been so for days
		}
		if !e.HasLag && u.Snapshot.Relists.Interval > answerFresh+u.Snapshot.Period {
			continue // it may have died at any time since the last list but this one
		}
		l.remember(containerKey{e.Pod.UID, e.Container}, death{
			id: e.ID, attempt: -1, finished: died(e), known: e.Exited, code: e.ExitCode, reason: e.Reason,
		})
	}
}

// died returns when a container died, by the runtime if it said so.
func died(e engine.Event) time.Time {
	if e.HasLag && e.Lag > 0 {
		return e.SeenAt.Add(-e.Lag)
	}
	return e.SeenAt
}

func (l *deathLog) remember(who containerKey, d death) {
	if l.byName == nil {
		l.byName, l.ofPod = make(map[containerKey][]death), make(map[pleg.UID]int)
	}
	known, there := l.byName[who]
	if !there && len(l.byName) >= keysMost {
		l.forget()
	}
	if len(known) < deathsKept {
		l.ofPod[who.pod]++
	}
	l.byName[who] = slices.Insert(known[:min(len(known), deathsKept-1)], 0, d)
}

// forget makes room by those whose last deaths are the oldest, some at once: in a
// storm each death would look at all others.
func (l *deathLog) forget() {
	oldest := slices.SortedFunc(maps.Keys(l.byName), func(a, b containerKey) int {
		return cmp.Or(l.byName[a][0].finished.Compare(l.byName[b][0].finished), cmp.Compare(a.pod, b.pod), cmp.Compare(a.name, b.name))
	})
	for _, who := range oldest[:keysMost/8] {
		if l.ofPod[who.pod] -= len(l.byName[who]); l.ofPod[who.pod] == 0 {
			delete(l.ofPod, who.pod)
		}
		delete(l.byName, who)
	}
}
