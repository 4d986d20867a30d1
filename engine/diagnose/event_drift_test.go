package diagnose

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// drifts returns the node with an open stream of the runtime's events that agrees so far
// with the relist, after a minute in which all of it came together.
func drifts(d engine.Drift, change ...func(*node)) *node {
	n := healthy(3)
	n.past = newWitness()
	n.Sources = []engine.SourceState{{Source: engine.FromCRI, State: engine.StreamConnected, Since: ago(time.Minute), Received: 500}, {Source: engine.FromCgroup}}
	d.Source, d.Transitions = engine.FromCRI, d.Both+d.MissedByRelist+d.MissedBySource
	n.past.Add(engine.Update{Snapshot: &engine.Snapshot{At: ago(time.Minute), Sources: slices.Clone(n.Sources), Drift: []engine.Drift{{Source: engine.FromCRI}}}})
	n.Drift = []engine.Drift{d}
	for _, f := range change {
		f(n)
	}
	n.past.Add(engine.Update{Snapshot: &n.Snapshot})
	return n
}

// broke has the stream break so often, each a while before the one after.
func broke(times int, apart time.Duration) func(*node) {
	return func(n *node) {
		for i := times; i > 0; i-- {
			at := ago(time.Duration(i) * apart)
			n.SourceChanges = append(n.SourceChanges,
				engine.SourceChange{At: at, Source: engine.FromCRI, State: engine.StreamLost, Reason: "Unavailable: closed"},
				engine.SourceChange{At: at.Add(time.Second), Source: engine.FromCRI, State: engine.StreamConnected})
		}
	}
}

// evented has the kubelet go by the stream.
func evented(n *node) {
	n.Mode = engine.ModeState{Mode: pleg.Evented, Asked: pleg.Evented}
	n.Period, n.Threshold = 5*time.Minute, 10*time.Minute
}

func state(change func(*engine.SourceState)) func(*node) {
	return func(n *node) { change(&n.Sources[0]) }
}

// TestEventDrift holds what is told of a stream, and that nothing is told of one that is
// well, of a handful, and where it is not open.
func TestEventDrift(t *testing.T) {
	badClock := state(func(k *engine.SourceState) { k.BadClock = "an hour ahead" })
	for _, tt := range []struct {
		name string
		node *node
		want string // severity and the beginning of the summary
	}{
		{"no sources", healthy(3), ""},
		{"all agree", drifts(engine.Drift{Both: 4000, MissedByRelist: 60, Late: 80}), ""},
		{"the relist misses what is short", drifts(engine.Drift{Both: 100, MissedByRelist: 300}), ""},
		{"a handful, all lost", drifts(engine.Drift{MissedBySource: 19}), ""},
		{"four of many", drifts(engine.Drift{Both: 100, MissedBySource: 4}), ""},
		{"a few of very many", drifts(engine.Drift{Both: 4000, MissedBySource: 9, Duplicates: 9}), ""},
		{"lossy", drifts(engine.Drift{Both: 400, MissedBySource: 200}), "warning the runtime's event stream did not tell 200 of 600 changes in 1m0s: a kubelet with evented PLEG would have lost them"},
		{"lossy, and switched off since", drifts(engine.Drift{Both: 400, MissedBySource: 200}, state(func(k *engine.SourceState) { k.State = engine.StreamOff })), ""},
		{"lossy, in evented mode", drifts(engine.Drift{Both: 400, MissedBySource: 200}, evented), "warning the runtime's event stream did not tell 200 of 600 changes in 1m0s: each waited for a relist, one every 5m0s"},
		{"nearly all lost, in evented mode", drifts(engine.Drift{Both: 10, MissedBySource: 40}, evented), "critical the runtime's event stream did not tell 40 of 50 changes"},
		{"nearly all lost, in generic mode", drifts(engine.Drift{Both: 10, MissedBySource: 40}), "warning the runtime's event stream did not tell 40 of 50 changes"},
		{"doubled", drifts(engine.Drift{Both: 50, Duplicates: 50}), "warning the runtime's event stream told 50 of 50 changes twice in 1m0s"},
		{"told more often than there are changes", drifts(engine.Drift{Both: 50, Duplicates: 12_222}), "warning the runtime's event stream told 50 changes, and some of them again and again, 12,222 times in 1m0s"},
		{"late", drifts(engine.Drift{Both: 50, Late: 45}), "info the runtime's event stream told 45 of 50 changes in 1m0s only after the relist had seen them, one every 1s"},
		{"late, in evented mode", drifts(engine.Drift{Both: 50, Late: 45}, evented), "warning the runtime's event stream told 45 of 50"},
		{"broken twice", drifts(engine.Drift{Both: 50}, broke(2, time.Minute)), ""},
		{"broken again and again", drifts(engine.Drift{Both: 50}, broke(4, 20*time.Second)), "warning the runtime's event stream broke 4 times in 1m20s: Unavailable: closed"},
		{"broken long ago", drifts(engine.Drift{Both: 50}, broke(4, 11*time.Minute)), ""},
		{"a flood of nothing", drifts(engine.Drift{Both: 50}, state(func(k *engine.SourceState) { k.Unknown, k.Lost = 40_000, 20_000 })), "warning the runtime's event stream told 60,000 events of containers that nobody knows"},
		{"a clock an hour ahead", drifts(engine.Drift{Both: 50}, badClock), "info the times of the runtime's events make no sense: an hour ahead"},
		{"the same, in evented mode", drifts(engine.Drift{Both: 50}, badClock, evented), "warning the times"},
		{"fallen back", drifts(engine.Drift{}, func(n *node) {
			n.Mode = engine.ModeState{Asked: pleg.Evented, Reason: "five attempts failed: not enabled"}
			n.Sources[0].State = engine.StreamFellBack
		}), "warning evented has fallen back to generic for good: five attempts failed: not enabled"},
		{"refused", drifts(engine.Drift{}, state(func(k *engine.SourceState) { k.State = engine.StreamRefused })), ""},
		{"lists hang", drifts(engine.Drift{Both: 400, MissedBySource: 200}).hang(call.ListPodSandbox, time.Minute), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got string
			for _, f := range tt.node.diagnose() {
				if f.ID == EventDrift {
					got = f.Severity.String() + " " + f.Summary
					whole(t, []Finding{f})
				}
			}
			if !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

// TestDriftEvidenceHasALead holds that a lead is told where there was one, and only there.
func TestDriftEvidenceHasALead(t *testing.T) {
	for both, want := range map[uint64]bool{0: false, 90: true} {
		found := drifts(engine.Drift{Both: both, MissedBySource: 50, LeadP50: second}).diagnose()
		if got := strings.Contains(found[0].Evidence[0], "; half come 1s or more before the relist, "); got != want {
			t.Errorf("%d seen by both: %q", both, found[0].Evidence[0])
		}
	}
}

// TestDriftWindow holds that what went wrong long ago is not told for ever.
func TestDriftWindow(t *testing.T) {
	n := drifts(engine.Drift{Both: 100, MissedBySource: 50})
	var all []engine.Update
	for at := time.Duration(0); at <= 8*time.Minute; at += 5 * time.Second {
		u := n.after(at)
		u.Snapshot.Drift[0].Both += uint64(at / second)
		if at == 0 {
			u.Snapshot.Drift = nil
		}
		all = append(all, u)
	}
	if got, want := turns(play(t, all...)), "10s began warning event-drift\n5m10s ended warning event-drift\n"; got != want {
		t.Errorf("turns:\n%swant:\n%s", got, want)
	}
}

// TestUnseenDeaths holds that who died while lists hang is told by the finding about that,
// as far as no relist has seen it, and a few of them by name.
func TestUnseenDeaths(t *testing.T) {
	died := func(i int, seen time.Duration, delivery pleg.Delivery) engine.Event {
		p := healthyPod(i)
		return engine.Event{SeenAt: ago(seen), Event: pleg.Event{Kind: pleg.Died, Delivery: delivery, Pod: p.PodRef, Container: "app", ID: p.Old.Containers[0].ID}}
	}
	hung := func(events ...engine.Event) *node {
		n := healthy(9).hang(call.ListPodSandbox, 40*second).probesAnswered()
		n.past = newWitness()
		n.past.Add(engine.Update{Snapshot: &n.Snapshot, Events: events})
		return n
	}
	nobodys := died(1, second, pleg.Unseen)
	nobodys.Pod, nobodys.Container = pleg.PodRef{}, ""
	sandbox := died(3, second, pleg.Unseen)
	sandbox.Sandbox = true
	for _, tt := range []struct {
		name   string
		events []engine.Event
		want   string
	}{
		{"none", nil, ""},
		{"before it hung", []engine.Event{died(1, 5*time.Minute, pleg.Unseen)}, ""},
		{"one", []engine.Event{died(1, 9*second, pleg.Unseen)}, "1 container has died since, which the kubelet cannot see: ns-1/pod-00001 app"},
		{"a sandbox", []engine.Event{sandbox}, ""},
		{"one that a relist saw after all", []engine.Event{died(1, 9*second, pleg.Unseen), died(1, 9*second, pleg.Delivered)}, ""},
		{"one that nobody knows", []engine.Event{nobodys}, "1 container has died since, which the kubelet cannot see: container-1-0"},
		{"five", []engine.Event{died(1, 9*second, pleg.Unseen), died(2, 8*second, pleg.Unseen), died(3, 7*second, pleg.Unseen), died(4, 6*second, pleg.Unseen), died(5, 5*second, pleg.Unseen)},
			"5 containers have died since, which the kubelet cannot see: ns-1/pod-00001 app, ns-2/pod-00002 app, ns-0/pod-00003 app and 2 more"},
	} {
		var got string
		found := hung(tt.events...).diagnose()
		if len(found) == 0 || found[0].ID != ListHung {
			t.Fatalf("%s: findings %v", tt.name, ids(found))
		}
		for _, line := range found[0].Evidence {
			if strings.Contains(line, "died since") {
				got = line
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	var many []engine.Event
	for i := range unseenKept + 50 {
		many = append(many, died(i, 9*second, pleg.Unseen))
	}
	n := hung(many...)
	if got := strings.Join(n.diagnose()[0].Evidence, "\n"); len(n.past.unseen.all) != unseenKept || !strings.Contains(got, "1,050 containers have died since") {
		t.Errorf("%d kept of %d; evidence %s", len(n.past.unseen.all), len(many), got)
	}
	n.past.Add(engine.Update{Snapshot: &healthy(9).Snapshot})
	if left := n.past.unseen; len(left.all) > 0 || left.more > 0 || len(left.byID) > 0 {
		t.Errorf("%d and %d are left after a good relist, %d for views", len(left.all), left.more, len(left.byID))
	}
}

// TestUnseenDeathsByID holds what views are told of them: who and by whom, sandboxes too, in
// a map that is another one when that changes.
func TestUnseenDeathsByID(t *testing.T) {
	event := func(id string, seen time.Duration, delivery pleg.Delivery, sandbox bool) engine.Event {
		e := engine.Event{SeenAt: ago(seen), Seen: &engine.Sightings{}, Event: pleg.Event{Kind: pleg.Died, Delivery: delivery, ID: id, Sandbox: sandbox}}
		e.Seen.At[engine.FromPidfd] = e.SeenAt
		return e
	}
	hung := healthy(1).hang(call.ListPodSandbox, 40*second)
	var d unseenDeaths
	for _, tt := range []struct {
		e    engine.Event
		want map[string]Death
	}{
		{event("a", 9*second, pleg.Unseen, false), map[string]Death{"a": {ago(9 * second), engine.FromPidfd}}},
		{event("s", 8*second, pleg.Unseen, true), map[string]Death{"a": {ago(9 * second), engine.FromPidfd}, "s": {ago(8 * second), engine.FromPidfd}}},
		{event("a", 9*second, pleg.Delivered, false), map[string]Death{"s": {ago(8 * second), engine.FromPidfd}}},
	} {
		before := maps.Clone(d.byID)
		was := d.byID
		d.add(engine.Update{Snapshot: &hung.Snapshot, Events: []engine.Event{tt.e}})
		if diff := cmp.Diff(tt.want, d.byID); diff != "" || !maps.Equal(before, was) {
			t.Errorf("%s: %s", tt.e.ID, diff)
		}
	}
}

// A death that an event source saw and then the relist is one death of a crash loop.
func TestUnseenDeathsCountOnce(t *testing.T) {
	var l deathLog
	for _, delivery := range []pleg.Delivery{pleg.Unseen, pleg.Delivered} {
		l.add(engine.Update{Snapshot: &healthy(1).Snapshot, Events: []engine.Event{{SeenAt: now, Event: pleg.Event{Kind: pleg.Died, Delivery: delivery, From: pleg.Running, ID: "c", Container: "app"}}}})
	}
	for who, all := range l.byName {
		if len(all) != 1 {
			t.Errorf("%v has %d deaths, want 1", who, len(all))
		}
	}
}
