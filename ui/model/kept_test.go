package model

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A snapshot has the last 120 relists, and some of them are never seen.
func TestRelistsAreMerged(t *testing.T) {
	j := NewJournal(10)
	var history []engine.Relist
	for n := range 4000 {
		history = append(history, engine.Relist{At: noon.Add(time.Duration(n) * time.Second), Took: 10 * time.Millisecond})
		history = history[max(0, len(history)-120):]
		if n%50 != 7 {
			continue
		}
		s := at(time.Duration(n+1) * time.Second)
		s.Relists = engine.Relists{Count: uint64(n + 1), History: history}
		j.Observe(engine.Update{Snapshot: s})
	}
	all := j.Relists()
	if len(all) != 1800 || all[0].Number != 2159 || all[len(all)-1].Number != 3958 {
		t.Fatalf("%d relists from %d to %d, want 30 minutes", len(all), all[0].Number, all[len(all)-1].Number)
	}
	for i, r := range all {
		if want := noon.Add(time.Duration(r.Number-1) * time.Second); r.Number != all[0].Number+uint64(i) || !r.At.Equal(want) {
			t.Fatalf("relist %d began at %v, want %v", r.Number, r.At, want)
		}
	}
	if r, ok := j.Relist(noon.Add(3000 * time.Second)); !ok || r.Number != 3001 {
		t.Errorf("the relist that began after 3000 s is %v, %v", r.Number, ok)
	}
	for _, none := range []time.Duration{0, 3000*time.Second + 1, 4000 * time.Second} {
		if r, ok := j.Relist(noon.Add(none)); ok {
			t.Errorf("relist %d began %v after noon", r.Number, none)
		}
	}
}

func TestRunningRelist(t *testing.T) {
	j := NewJournal(10)
	s := at(90 * time.Second)
	s.Relists.Count = 4
	s.Phase = engine.Phase{Step: engine.Inspecting, Began: noon.Add(10 * time.Second), ListTook: time.Second, Done: 3}
	j.Observe(engine.Update{Snapshot: s})
	want := Relist{engine.Relist{At: noon.Add(10 * time.Second), Took: 80 * time.Second, List: time.Second, Inspected: 3}, 5, true}
	if got := j.Relists(); len(got) != 1 || got[0] != want {
		t.Errorf("running is %+v, want %+v", got, want)
	}
	if got, ok := j.Relist(want.At); !ok || got != want {
		t.Errorf("found is %+v, %v, want %+v", got, ok, want)
	}
	for _, p := range []engine.Phase{{Step: engine.Waiting}, {Step: engine.Stopped}, {Step: engine.Inspecting, OnDemand: true}} {
		s := at(91 * time.Second)
		s.Phase = p
		j.Observe(engine.Update{Snapshot: s})
		if got := j.Relists(); len(got) > 0 {
			t.Errorf("%v: running is %+v", p.Step, got)
		}
	}
}

func TestCallsOverTime(t *testing.T) {
	j := NewJournal(10)
	second := func(n int, slowest time.Duration, count, errors uint32) answers.Second {
		return answers.Second{At: noon.Add(time.Duration(n) * time.Second), Slowest: slowest, Count: count, Errors: errors}
	}
	show := func(d time.Duration, seconds []answers.Second, out ...call.Flight) {
		s := at(d)
		s.Calls = []answers.Calls{{Op: call.Version}, {Op: call.Status, P50: 800 * time.Millisecond, LastOK: noon, Seconds: seconds}}
		s.InFlight = out
		j.Observe(engine.Update{Snapshot: s})
	}
	between := func(from, to int) Sample {
		return j.Calls(call.Status, noon.Add(time.Duration(from)*time.Second), noon.Add(time.Duration(to)*time.Second))
	}
	all := []answers.Second{second(0, 30, 2, 1), second(1, 20, 1, 0), second(9, 90, 3, 0)}
	show(3*time.Second, all[:2])
	show(10*time.Second, all) // again what was known
	hung := call.Flight{Op: call.Status, Since: noon.Add(10500 * time.Millisecond)}
	show(12*time.Second, all, hung)
	if between(0, 100).Out > 0 {
		t.Error("a call is missed that takes no longer than twice what is usual")
	}
	show(14*time.Second, all, hung)
	show(16*time.Second, all, hung)
	show(17*time.Second, append(all, second(16, 6*time.Second, 1, 0)))
	for _, tt := range []struct {
		from, to int
		want     Sample
	}{
		{0, 1, Sample{Slowest: 30, Count: 2, Errors: 1}},
		{0, 2, Sample{Slowest: 30, Count: 3, Errors: 1}},
		{-50, 10, Sample{Slowest: 90, Count: 6, Errors: 1}},
		{2, 9, Sample{}},
		{9, 10, Sample{Slowest: 90, Count: 3}},
		{10, 11, Sample{Out: 500 * time.Millisecond}},
		{12, 16, Sample{Out: 5500 * time.Millisecond}},
		{16, 17, Sample{Slowest: 6 * time.Second, Count: 1, Out: 5500 * time.Millisecond}},
		{17, 99, Sample{}},
	} {
		if got := between(tt.from, tt.to); got != tt.want {
			t.Errorf("from %d s to %d s: %+v, want %+v", tt.from, tt.to, got, tt.want)
		}
	}
	if got := j.Calls(call.Version, noon, noon.Add(time.Hour)); got != (Sample{}) {
		t.Errorf("of an operation without calls: %+v", got)
	}
	if got := j.Calls(call.ContainerStatus, noon, noon.Add(time.Hour)); got != (Sample{}) {
		t.Errorf("of an operation that the snapshot has not: %+v", got)
	}
	show(time.Hour, []answers.Second{second(3500, 1, 1, 0)})
	if got := between(0, 1800); got != (Sample{}) {
		t.Errorf("after an hour the first half is %+v", got)
	}
	if got := between(1800, 3600); got != (Sample{Slowest: 1, Count: 1}) {
		t.Errorf("after an hour the second half is %+v", got)
	}
}

// pod returns a pod whose last inspection had so many containers, which had ended.
func pod(uid string, containers int) *engine.Pod {
	ref := pleg.PodRef{UID: pleg.UID(uid), Name: uid}
	p := &engine.Pod{PodRef: ref, Status: &pleg.PodStatus{PodRef: ref}}
	for i := range containers {
		p.Status.Containers = append(p.Status.Containers, pleg.ContainerStatus{ID: fmt.Sprint(uid, i), State: pleg.Exited, ExitCode: 3})
	}
	return p
}

func TestTombstones(t *testing.T) {
	j := NewJournal(10)
	show := func(pods ...*engine.Pod) {
		s := at(0)
		s.Pods = pods
		j.Observe(engine.Update{Snapshot: s})
	}
	a, b, c := pod("a", 2), pod("b", 1), pod("c", 1)
	show(a, b, c)
	if j.Gone("a") != nil {
		t.Error("a pod that is there has gone")
	}
	empty := pod("b", 0)
	show(empty, c)
	if j.Gone("a") != a || j.Gone("b") != nil {
		t.Error("the pod that has gone is not kept")
	}
	show(c)
	if j.Gone("b") != b {
		t.Errorf("the last picture of b is %v, want the one with containers", j.Gone("b"))
	}
	show(empty)
	refilled := pod("b", 3)
	show(refilled)
	if show(c); j.Gone("b") != refilled {
		t.Errorf("the last picture of b is %v, want that of the containers that it got later", j.Gone("b"))
	}
	if show(a, c); j.Gone("a") != nil || len(j.Tombstones()) != 1 || len(j.gone.fading) != 0 {
		t.Error("a pod that came back has a tombstone")
	}
}

func TestTombstonesAreBounded(t *testing.T) {
	for _, tt := range []struct{ containers, want int }{{1, goneKept}, {50, objectsKept / 50}, {objectsKept + 1, 1}} {
		j := NewJournal(10)
		for i := range 2 * goneKept {
			s := at(0)
			s.Pods = []*engine.Pod{pod(fmt.Sprintf("%04d", i), tt.containers)}
			j.Observe(engine.Update{Snapshot: s})
		}
		tombs := j.Tombstones()
		if newest := tombs[len(tombs)-1].Pod.Name; len(tombs) != tt.want || newest != fmt.Sprintf("%04d", 2*goneKept-2) {
			t.Errorf("of pods with %d containers %d are kept up to %s, want the newest %d", tt.containers, len(tombs), newest, tt.want)
		}
	}
}

func TestLife(t *testing.T) {
	sec := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Second) }
	p := &engine.Pod{PodRef: pleg.PodRef{UID: "u"}, Status: &pleg.PodStatus{
		Sandboxes:  []pleg.SandboxStatus{{ID: "s", State: pleg.Running, CreatedAt: sec(1)}},
		Containers: []pleg.ContainerStatus{{ID: "new", Name: "app", State: pleg.Running, Attempt: 1, CreatedAt: sec(20), StartedAt: sec(21)}},
	}}
	e := func(seq uint64, seen int, e pleg.Event) engine.Event {
		e.Pod.UID, e.Container = "u", "app"
		return engine.Event{Seq: seq, SeenAt: sec(seen), Event: e, Lag: time.Second, HasLag: e.Kind != pleg.Removed}
	}
	j := NewJournal(10)
	j.Observe(engine.Update{Snapshot: at(0), Events: []engine.Event{
		e(1, 5, pleg.Event{Kind: pleg.Started, ObjectRef: pleg.ObjectRef{ID: "old"}, To: pleg.Running}),
		e(2, 11, pleg.Event{Kind: pleg.Died, ObjectRef: pleg.ObjectRef{ID: "old"}, To: pleg.Exited, Exited: true, ExitCode: 3}),
		e(3, 22, pleg.Event{Kind: pleg.Started, ObjectRef: pleg.ObjectRef{ID: "new"}, To: pleg.Running}),
		e(4, 23, pleg.Event{Kind: pleg.Removed, ObjectRef: pleg.ObjectRef{ID: "old"}, From: pleg.Exited}),
		e(5, 24, pleg.Event{Kind: pleg.PodSync}),
	}})
	want := []Stage{
		{ID: "s", State: pleg.Running, At: sec(1)},
		{ID: "old", Container: "app", State: pleg.Running, At: sec(4), SeenAt: sec(5), Event: 1},
		{ID: "old", Container: "app", State: pleg.Exited, At: sec(10), SeenAt: sec(11), Event: 2, Exited: true, ExitCode: 3},
		{ID: "new", Container: "app", State: pleg.Created, At: sec(20)},
		{ID: "new", Container: "app", State: pleg.Running, At: sec(21), SeenAt: sec(22), Event: 3},
		{ID: "old", Container: "app", State: pleg.Absent, At: sec(23), SeenAt: sec(23), Event: 4},
	}
	if diff := cmp.Diff(want, j.Life("u", p)); diff != "" {
		t.Errorf("of the pod (-want +got):\n%s", diff)
	}
	if got := j.Life("u", nil); len(got) != 4 {
		t.Errorf("by events alone: %+v", got)
	}
	if got := j.Life("other", nil); len(got) != 0 {
		t.Errorf("of another pod: %+v", got)
	}
	gone := &engine.Pod{Status: &pleg.PodStatus{Containers: []pleg.ContainerStatus{{ID: "x", Name: "job", State: pleg.Exited, FinishedAt: sec(9), ExitCode: 7}}}}
	last := []Stage{{ID: "x", Container: "job", State: pleg.Exited, At: sec(9), Exited: true, ExitCode: 7}}
	if diff := cmp.Diff(last, j.Life("y", gone), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("of one that ended (-want +got):\n%s", diff)
	}
}

// TestLifeThatNoRelistSaw holds that a state which only an event source saw is told of
// with its time, and that what a relist saw after all is told once, with both times.
func TestLifeThatNoRelistSaw(t *testing.T) {
	sec := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Second) }
	e := func(seq uint64, kind pleg.Kind, id string, to pleg.State, delivery pleg.Delivery, relist, source int) engine.Event {
		seen := &ledger.Sightings{}
		if seen.At[ledger.FromCRI] = sec(source); relist > 0 {
			seen.At[ledger.FromRelist] = sec(relist)
		}
		return engine.Event{Seq: seq, SeenAt: sec(source), Seen: seen, Event: pleg.Event{Kind: kind, Delivery: delivery, ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{UID: "u"}, Container: "app", ID: id}, To: to}}
	}
	j := NewJournal(10)
	j.Observe(engine.Update{Snapshot: at(0), Events: []engine.Event{
		e(1, pleg.Died, "short", pleg.Exited, pleg.Unseen, 0, 3),
		e(2, pleg.Died, "held", pleg.Exited, pleg.Unseen, 0, 5),
		e(3, pleg.Died, "held", pleg.Exited, pleg.Delivered, 9, 5),
		e(4, pleg.NetworkSetUp, "sandbox", pleg.Running, pleg.Derived, 0, 10),
	}})
	want := []Stage{
		{ID: "short", Container: "app", State: pleg.Exited, At: sec(3), SightedAt: sec(3), Event: 1},
		{ID: "held", Container: "app", State: pleg.Exited, At: sec(5), SeenAt: sec(9), SightedAt: sec(5), Event: 3},
	}
	if diff := cmp.Diff(want, j.Life("u", nil)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCreatedComesBeforeRunning holds that a container that was listed as created, and
// ran when it was inspected, runs: its event, which says of no time, is as late as that.
func TestCreatedComesBeforeRunning(t *testing.T) {
	p := &engine.Pod{Status: &pleg.PodStatus{Containers: []pleg.ContainerStatus{
		{ID: "a", Name: "app", State: pleg.Running, CreatedAt: noon, StartedAt: noon.Add(time.Second)},
	}}}
	j := NewJournal(10)
	created := pleg.Event{ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{UID: "u"}, ID: "a", Container: "app"}, Kind: pleg.Changed, To: pleg.Created}
	j.Observe(engine.Update{Snapshot: at(0), Events: []engine.Event{{Seq: 1, SeenAt: noon.Add(2 * time.Second), Event: created}}})
	life := j.Life("u", p)
	if last := life[len(life)-1]; last.State != pleg.Running || len(life) != 2 || life[0].Event != 1 {
		t.Errorf("it ends as %v: %+v", last.State, life)
	}
}

func TestHold(t *testing.T) {
	j := NewJournal(10)
	var relists []engine.Relist
	var calls []answers.Second
	for n := range 1500 {
		now := noon.Add(time.Duration(n) * time.Second)
		relists = append(relists, engine.Relist{At: now, Took: 10 * time.Millisecond})
		calls = append(calls, answers.Second{At: now, Count: 1})
		relists, calls = relists[max(0, len(relists)-120):], calls[max(0, len(calls)-120):]
		s := at(time.Duration(n+1) * time.Second)
		s.Relists = engine.Relists{Count: uint64(n + 1), History: relists}
		s.Calls = []answers.Calls{{Op: call.Version, Seconds: calls}}
		if s.Paused = n > 600 && n < 700; n >= 700 {
			s.Resumed = noon.Add(700 * time.Second)
		}
		if n < 100 || n == 1499 {
			j.Observe(engine.Update{Snapshot: s})
			continue
		}
		j.Hold(s)
		if n%300 == 0 && (len(j.Relists()) != 100 || len(j.Pauses()) != 0 || j.Calls(call.Version, noon, now).Count != 100) {
			t.Fatalf("after %d s %d relists, %d pauses and %+v are shown", n, len(j.Relists()), len(j.Pauses()), j.Calls(call.Version, noon, now))
		}
	}
	if got := j.Calls(call.Version, noon, noon.Add(time.Hour)); len(j.Relists()) != 1500 || got.Count != 1500 {
		t.Errorf("%d relists and %+v, want 1500 of each", len(j.Relists()), got)
	}
	if diff := cmp.Diff([]Pause{{noon.Add(602 * time.Second), noon.Add(700 * time.Second)}}, j.Pauses()); diff != "" {
		t.Errorf("pauses (-want +got):\n%s", diff)
	}
}
