package podworker

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

func started(container string, until time.Duration) Expectation {
	return Expectation{Kind: pleg.Started, Container: container, Until: epoch.Add(until)}
}

// acts has the worker of pod a be synced, and expect what that is to bring about.
func (b *bench) acts(all ...Expectation) {
	b.t.Helper()
	b.Ask(b.now, uid("a"))
	b.begin("a")
	for _, x := range all {
		b.Expect(uid("a"), x)
	}
	b.Done(b.now, uid("a"))
}

// The case of the proposal: a worker has created A, then B dies by itself, and the start
// of A arrives after the end of B. The end of B is handled when A's start was seen, so
// that a pod is never synced on half of what its worker did.
func TestEndOfBIsHandledAfterTheStartOfA(t *testing.T) {
	b := newBench(t, true, "a")
	b.acts(started("A", 10*time.Second))
	b.want("a", "idle since 0s; woken 0, saved 0, expired 0, synced 1; queued 0, expects 1")
	b.at(time.Second)
	b.relist(0)
	b.event(pleg.Died, "a", "B")
	b.begin("")
	if b.worker("a").Spared {
		t.Error("the end of B is said to have been expected")
	}
	b.want("a", "waits for expected events since 1s; woken 0, saved 0, expired 0, synced 1; queued 1, expects 1")
	b.at(2 * time.Second)
	b.event(pleg.Started, "a", "A")
	if !b.worker("a").Spared {
		t.Error("the start of A is not said to have been expected")
	}
	b.want("a", "idle since 2s; woken 1, saved 1, expired 0, synced 1; queued 1, expects 0")
	b.sync("a")
	b.want("a", "idle since 2s; woken 1, saved 1, expired 0, synced 2; queued 0, expects 0")
	b.begin("")
}

// The same without expected events: each of the two wakes the worker.
func TestWithoutExpectedEvents(t *testing.T) {
	b := newBench(t, false, "a")
	b.acts(started("A", 10*time.Second))
	for i, container := range []string{"B", "A"} {
		b.at(time.Duration(i+1) * time.Second)
		b.relist(0)
		b.event(pleg.Died, "a", container)
		b.sync("a")
	}
	b.want("a", "idle since 2s; woken 2, saved 0, expired 0, synced 3; queued 0, expects 0")
}

func TestExpectedEventWakesNobody(t *testing.T) {
	b := newBench(t, true, "a")
	b.acts(
		started("A", 10*time.Second),
		Expectation{Kind: pleg.Started, Until: epoch.Add(time.Second)}, // the sandbox
		Expectation{Kind: pleg.Removed, ID: "a/old", Container: "A", Until: epoch.Add(5 * time.Second)},
	)
	var order []string
	for _, x := range b.worker("a").Expected {
		order = append(order, x.Until.Sub(epoch).String())
	}
	if got := strings.Join(order, " "); got != "1s 5s 10s" {
		t.Errorf("they run out in the order %s", got)
	}
	b.event(pleg.Started, "a", "")
	b.event(pleg.Removed, "a", "old")
	b.event(pleg.Started, "a", "A")
	b.begin("")
	b.want("a", "idle since 0s; woken 0, saved 2, expired 0, synced 1; queued 0, expects 0") // a removal would have woken nobody
	b.event(pleg.Started, "a", "A")                                                          // once was expected
	b.relist(0)
	b.sync("a")
}

func TestExpiry(t *testing.T) {
	b := newBench(t, true, "a", "b")
	b.acts(started("A", 2*time.Second), started("B", 4*time.Second))
	b.at(time.Second)
	b.relist(0)
	b.event(pleg.Died, "a", "C")
	b.event(pleg.Died, "a", "D")
	b.at(3 * time.Second)
	b.begin("")
	b.want("a", "waits for expected events since 1s; woken 0, saved 0, expired 1, synced 1; queued 2, expects 1")
	if due := b.Due(); !due.Equal(epoch.Add(4 * time.Second)) {
		t.Errorf("due at %v, want 4s", due.Sub(epoch))
	}
	b.at(4 * time.Second)
	b.begin("a")
	b.want("a", "syncing since 4s; woken 1, saved 0, expired 2, synced 2; queued 0, expects 0")
	if pods := b.Overdue(); !slices.Equal(pods, []pleg.UID{uid("a"), uid("a")}) {
		t.Errorf("overdue: %q", pods)
	}
	b.event(pleg.Started, "a", "A") // too late: news like any other
	if b.Done(b.now, uid("a")); b.worker("a").WakeUps != 2 {
		t.Error("an event that comes too late wakes nobody")
	}
	if b.Overdue() != nil || !b.Due().IsZero() {
		t.Error("it is reported twice, or due for ever")
	}
}

// An event at the deadline is late, though nobody has noticed the deadline yet.
func TestDeadlineComesBeforeTheEvent(t *testing.T) {
	b := newBench(t, true, "a")
	b.acts(started("A", time.Second))
	b.now = epoch.Add(time.Second)
	b.event(pleg.Started, "a", "A")
	b.want("a", "waits for a newer status since 1s; woken 1, saved 0, expired 1, synced 1; queued 1, expects 0")
}

func TestWithdraw(t *testing.T) {
	b := newBench(t, true, "a")
	b.acts(started("A", time.Minute), started("B", time.Hour))
	b.at(time.Second)
	b.relist(0)
	b.event(pleg.Died, "a", "C")
	b.begin("")
	if b.Waits() {
		t.Error("somebody is said to wait for a status")
	}
	b.Withdraw(b.now, uid("a"))
	b.Withdraw(b.now, "unknown")
	b.sync("a")
	b.want("a", "idle since 1s; woken 1, saved 0, expired 0, synced 2; queued 0, expects 0")
	if !b.Due().IsZero() {
		t.Error("what was withdrawn is due")
	}
}

// One who is deleted is not kept waiting by what it expects.
func TestAskWaitsForNoEvent(t *testing.T) {
	b := newBench(t, true, "a")
	b.acts(started("A", time.Minute))
	b.at(time.Second)
	b.event(pleg.Died, "a", "B")
	b.Ask(b.now, uid("a"))
	b.want("a", "waits for a newer status since 1s; woken 1, saved 0, expired 0, synced 1; queued 1, expects 1")
	b.relist(0)
	b.sync("a")
	b.want("a", "idle since 1s; woken 1, saved 0, expired 0, synced 2; queued 0, expects 1")
}

func TestExpectationNamesWhatItMeans(t *testing.T) {
	app := pleg.Event{Kind: pleg.Died, ObjectRef: pleg.ObjectRef{ID: "1", Container: "app"}}
	sandbox := pleg.Event{Kind: pleg.Died, ObjectRef: pleg.ObjectRef{ID: "2", Sandbox: true}}
	for _, tt := range []struct {
		x    Expectation
		want string
	}{
		{Expectation{Kind: pleg.Died, Container: "app"}, "app"},
		{Expectation{Kind: pleg.Died, ID: "1"}, "app"},
		{Expectation{Kind: pleg.Died, ID: "3", Container: "app"}, ""},
		{Expectation{Kind: pleg.Died, Container: "other"}, ""},
		{Expectation{Kind: pleg.Started, Container: "app"}, ""},
		{Expectation{Kind: pleg.Died}, "sandbox"},
		{Expectation{Kind: pleg.Died, ID: "2"}, "sandbox"},
	} {
		got := ""
		if tt.x.is(app) {
			got += "app"
		}
		if tt.x.is(sandbox) {
			got += "sandbox"
		}
		if got != tt.want {
			t.Errorf("%+v means %q, want %q", tt.x, got, tt.want)
		}
	}
	if (Expectation{Kind: pleg.Died}).is(pleg.Event{Kind: pleg.Died, ObjectRef: pleg.ObjectRef{ID: "4"}}) {
		t.Error("a container without a name is taken for the sandbox")
	}
}
