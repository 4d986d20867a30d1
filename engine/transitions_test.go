package engine

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A pod remembers how its containers died, where the time of that is known; what another
// snapshot has of it stays as it was.
func TestPodsRememberDeaths(t *testing.T) {
	bubble(t, Config{}, func(r *fakeRuntime) { r.pod("web", "app"); r.pod("old", "app"); r.exit("old/app", 1, "Error") }, func(b *bench) {
		before := b.after(time.Second)
		b.fake.exit("web/app", 137, "OOMKilled")
		died := time.Now()
		s := b.after(2 * time.Second)
		want := []ledger.Death{{Container: "app", ID: "web/app", At: died, Known: true, ExitCode: 137, Reason: "OOMKilled"}}
		if diff := cmp.Diff(want, b.podOf(s, "web").Deaths); diff != "" || b.podOf(before, "web").Deaths != nil {
			t.Errorf("deaths (-want +got):\n%s", diff)
		}
		if all := b.podOf(s, "old").Deaths; all != nil {
			t.Errorf("what was dead when it was first seen: %+v", all)
		}
	})
}

// What happened while nobody looked has no time of its own, and what only a source saw
// the relist will report.
func TestWhichDeathsAreOfThePresent(t *testing.T) {
	m := newMachine(Config{}.withDefaults(), answers.Policy{}, time.Now())
	for _, tt := range []struct {
		name     string
		e        Event
		interval time.Duration
		want     bool
	}{
		{"between two relists", Event{Event: pleg.Event{From: pleg.Running}}, time.Second, true},
		{"in a gap", Event{Event: pleg.Event{From: pleg.Running}}, 3 * time.Minute, false},
		{"in a gap, and the runtime says when", Event{Event: pleg.Event{From: pleg.Running}, HasLag: true, Lag: time.Second}, 3 * time.Minute, true},
		{"first seen dead", Event{}, time.Second, false},
		{"a sandbox", Event{Event: pleg.Event{From: pleg.Running, ObjectRef: pleg.ObjectRef{Sandbox: true}}}, time.Second, false},
		{"unseen", Event{Event: pleg.Event{From: pleg.Running, Delivery: pleg.Unseen}}, time.Second, false},
		{"a start", Event{Event: pleg.Event{Kind: pleg.Started, From: pleg.Exited}}, time.Second, false},
	} {
		m.relists.interval = tt.interval
		if tt.name != "a start" {
			tt.e.Kind = pleg.Died
		}
		if got := m.death(&tt.e); (got != nil) != tt.want || got != nil && !got.At.Equal(tt.e.SeenAt.Add(-tt.e.Lag)) {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}
