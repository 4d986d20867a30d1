package cri

import (
	"testing"
	"time"

	"github.com/plegtop/plegtop/cri/sim"
	"github.com/plegtop/plegtop/engine"
)

// While the world stands still an engine's clock goes on: what happens in a step after
// that has happened now, and is seen by the next relist.
func TestLagAfterAFreezeIsRight(t *testing.T) {
	t.Parallel()
	const speed, frozen = 50, 2 * time.Minute
	server, err := sim.Start(t.Context(), sim.Config{Scenario: "tour", Seed: 1, Clock: speed})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	server.Freeze(true)
	eng, err := engine.New(engine.Config{Runtime: dialed(t, server.Endpoint()), Clock: server})
	if err != nil {
		t.Fatal(err)
	}
	feed := eng.Feed()
	go func() { _ = eng.Run(t.Context()) }()
	var first time.Time
	next := func() engine.Update {
		t.Helper()
		u, err := feed.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	for u := next(); first.IsZero() || u.Snapshot.At.Sub(first) < frozen; u = next() {
		for _, e := range u.Events {
			if !e.AtStart {
				t.Fatalf("in a frozen world: %+v", e)
			}
		}
		if first.IsZero() && !u.Snapshot.Health.ListedAt.IsZero() {
			first = u.Snapshot.At
		}
	}
	for seen, began := 0, server.Now(); seen < 5; {
		server.Step()
		u := next()
		for _, e := range u.Events {
			if e.HasLag && !e.AtStart {
				if seen++; e.Lag > u.Snapshot.At.Sub(began) {
					t.Errorf("%v of %s was seen %v after it happened", e.Kind, e.Pod.Name, e.Lag)
				}
			}
		}
	}
}
