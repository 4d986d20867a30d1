package podworker

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/pleg"
)

var epoch = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

// A bench is a set with the cache that its workers read, and what was synced so far.
type bench struct {
	*Set
	t     *testing.T
	cache *pleg.Cache
	now   time.Time
	log   []string // "1s sync a"
}

func newBench(t *testing.T, acting bool, pods ...string) *bench {
	b := &bench{t: t, cache: pleg.NewCache(false), now: epoch}
	b.Set = New(b.cache, acting)
	for _, name := range pods {
		b.Add(b.now, ref(name))
	}
	return b
}

func ref(name string) pleg.PodRef {
	return pleg.PodRef{UID: pleg.UID("uid-" + name), Namespace: "ns", Name: name}
}

func uid(name string) pleg.UID { return ref(name).UID }

// at lets time pass until so long after the epoch, with what is due before that.
func (b *bench) at(d time.Duration) {
	b.t.Helper()
	for to := epoch.Add(d); ; {
		due := b.Due()
		if due.IsZero() || due.After(to) {
			b.now = to
			b.Advance(to)
			return
		}
		if due.Before(b.now) {
			b.t.Fatalf("due at %v, before %v", due.Sub(epoch), b.now.Sub(epoch))
		}
		b.now = due
		b.Advance(due)
	}
}

// relist has a relist end that began so long ago.
func (b *bench) relist(ago time.Duration) {
	b.cache.UpdateTime(b.now.Add(-ago))
	b.Advance(b.now)
}

func (b *bench) event(kind pleg.Kind, pod, container string) {
	b.Event(b.now, pleg.Event{Kind: kind, ObjectRef: pleg.ObjectRef{Pod: ref(pod), ID: pod + "/" + container, Container: container, Sandbox: container == ""}})
}

// begin takes the next pod to sync, which must be the one named; "" stands for none.
func (b *bench) begin(want string) {
	b.t.Helper()
	got, ok := b.Next(b.now)
	if ok != (want != "") || ok && got != uid(want) {
		b.t.Fatalf("at %v: next is %q, %v; want %q", b.now.Sub(epoch), got, ok, want)
	}
	if ok {
		b.log = append(b.log, fmt.Sprint(b.now.Sub(epoch), " sync ", want))
	}
}

// sync begins and ends the sync of the pod that must be next.
func (b *bench) sync(want string) {
	b.t.Helper()
	b.begin(want)
	b.Done(b.now, uid(want))
}

// worker returns how a pod's worker stands.
func (b *bench) worker(pod string) Worker {
	b.t.Helper()
	for _, w := range b.Read().All {
		if w.Pod == ref(pod) {
			return *w
		}
	}
	b.t.Fatalf("no worker for %s", pod)
	return Worker{}
}

func (b *bench) want(pod, want string) {
	b.t.Helper()
	w := b.worker(pod)
	got := fmt.Sprintf("%v since %v; woken %d, saved %d, expired %d, synced %d; queued %d, expects %d",
		w.State, w.Since.Sub(epoch), w.WakeUps, w.Saved, w.Expired, w.Syncs, w.Queued, len(w.Expected))
	if got != want {
		b.t.Errorf("at %v, worker of %s:\ngot  %s\nwant %s", b.now.Sub(epoch), pod, got, want)
	}
}

func TestEventWakesTheWorkerOfItsPod(t *testing.T) {
	b := newBench(t, false, "a", "b")
	b.at(time.Second)
	b.event(pleg.Started, "b", "app")
	b.event(pleg.Died, "a", "app")
	b.want("b", "idle since 0s; woken 1, saved 0, expired 0, synced 0; queued 1, expects 0")
	b.begin("b") // the first that was woken; the first sync waits for no status
	b.want("b", "syncing since 1s; woken 1, saved 0, expired 0, synced 1; queued 0, expects 0")
	if !b.Syncing(uid("b")) || b.Syncing(uid("a")) {
		t.Error("want b to be syncing, and a not")
	}
	b.sync("a")
	b.at(2 * time.Second)
	b.Done(b.now, uid("b"))
	b.begin("")
	b.want("b", "idle since 2s; woken 1, saved 0, expired 0, synced 1; queued 0, expects 0")
	if w := b.worker("a"); w.Last.Kind != pleg.Died || w.Last.Container != "app" || !w.LastAt.Equal(epoch.Add(time.Second)) {
		t.Errorf("last event of a: %+v at %v", w.Last, w.LastAt)
	}
}

func TestEventsThatWakeNobody(t *testing.T) {
	b := newBench(t, false, "a")
	for delivery := pleg.Filtered; delivery <= pleg.Derived; delivery++ {
		b.Event(b.now, pleg.Event{Kind: pleg.Died, Delivery: delivery, ObjectRef: pleg.ObjectRef{Pod: ref("a")}})
	}
	b.event(pleg.Removed, "a", "app")
	b.event(pleg.Died, "unknown", "app")
	b.begin("")
	b.want("a", "idle since 0s; woken 0, saved 0, expired 0, synced 0; queued 0, expects 0")
	if got := b.worker("a").Last.Kind; got != pleg.Removed {
		t.Errorf("last event %v, want the removal: a worker sees what nobody hands on", got)
	}
	b.event(pleg.PodSync, "a", "")
	b.sync("a")
}

// Before each sync but the first, a status that is newer than the last sync.
func TestWaitsForANewerStatus(t *testing.T) {
	b := newBench(t, false, "a")
	b.at(time.Second)
	b.event(pleg.Started, "a", "app")
	b.sync("a")
	b.event(pleg.Died, "a", "app")
	b.begin("")
	b.want("a", "waits for a newer status since 1s; woken 2, saved 0, expired 0, synced 1; queued 1, expects 0")
	if after := b.worker("a").After; !after.Equal(epoch.Add(time.Second)) {
		t.Errorf("waits for a status after %v, want 1s", after.Sub(epoch))
	}
	b.at(2 * time.Second)
	b.relist(1500 * time.Millisecond) // it began before the last sync
	b.begin("")
	b.relist(time.Second) // at the same moment: whoever waits already takes it
	b.sync("a")
	if after := b.worker("a").After; !after.IsZero() {
		t.Errorf("an idle worker waits for a status after %v", after)
	}
	b.at(3 * time.Second)
	b.relist(500 * time.Millisecond)
	b.event(pleg.Started, "a", "app")
	b.sync("a") // a newer one is there
}

// What comes during a sync makes one sync more, whatever it is.
func TestOneSyncMore(t *testing.T) {
	b := newBench(t, false, "a")
	b.event(pleg.Started, "a", "app")
	b.begin("a")
	for range 10_000 {
		b.event(pleg.Died, "a", "app")
	}
	b.want("a", "syncing since 0s; woken 1, saved 0, expired 0, synced 1; queued 10000, expects 0")
	b.at(time.Second)
	b.Done(b.now, uid("a"))
	b.want("a", "waits for a newer status since 1s; woken 2, saved 0, expired 0, synced 1; queued 10000, expects 0")
	b.event(pleg.Started, "a", "app") // the sync that waits is for those before
	b.at(2 * time.Second)
	b.relist(0)
	b.sync("a")
	b.want("a", "waits for a newer status since 2s; woken 3, saved 0, expired 0, synced 2; queued 1, expects 0")
	b.at(3 * time.Second)
	b.relist(0)
	b.sync("a")
	b.begin("")
	b.want("a", "idle since 3s; woken 3, saved 0, expired 0, synced 3; queued 0, expects 0")
}

func TestRemove(t *testing.T) {
	b := newBench(t, true, "a", "b", "c")
	for _, pod := range []string{"a", "b", "c"} {
		b.event(pleg.Started, pod, "app")
	}
	b.Remove(uid("a"))
	b.Remove(uid("a"))
	b.begin("b")
	b.Expect(uid("b"), Expectation{Kind: pleg.Died, ID: "b/app", Until: epoch.Add(time.Minute)})
	b.event(pleg.Died, "b", "other")
	b.Done(b.now, uid("b"))
	b.sync("c")
	b.event(pleg.Died, "c", "app") // waits for a status
	for _, pod := range []string{"b", "c"} {
		b.Remove(uid(pod))
		b.Add(b.now, ref(pod)) // another pod for all that we know
	}
	b.at(2 * time.Minute)
	b.relist(0)
	b.begin("")
	b.Done(b.now, uid("b"))
	if !b.Due().IsZero() || b.Overdue() != nil || b.Waits() {
		t.Error("something is left of pods that have gone")
	}
	sums := b.Read()
	if len(sums.All) != 2 || sums.WakeUps != 4 || sums.Syncs != 2 {
		t.Errorf("%d workers, %d wake-ups, %d syncs; want 2, and the sums of those that have gone", len(sums.All), sums.WakeUps, sums.Syncs)
	}
	b.want("b", "idle since 0s; woken 0, saved 0, expired 0, synced 0; queued 0, expects 0")
}

// What was read stays as it was, and is read again where nothing has changed.
func TestRead(t *testing.T) {
	b := newBench(t, true, "b", "a")
	first := b.Read()
	if got := fmt.Sprint(first.All[0].Pod, first.All[1].Pod); got != "ns/a ns/b" || !first.Acting || !first.Expecting {
		t.Errorf("%s, acting %v, expecting %v", got, first.Acting, first.Expecting)
	}
	b.Advance(b.now)
	if again := b.Read(); &again.All[0] != &first.All[0] {
		t.Error("nothing has changed, and the slice is another")
	}
	b.event(pleg.Started, "a", "app")
	b.begin("a")
	x := Expectation{Kind: pleg.Died, Container: "app", Until: epoch.Add(time.Minute)}
	y := Expectation{Kind: pleg.Started, Container: "app", Until: epoch.Add(time.Second)}
	b.Expect(uid("a"), x)
	second := b.Read()
	b.Expect(uid("a"), y)
	third := b.Read()
	b.event(pleg.Died, "a", "app")
	for i, tt := range []struct {
		read Workers
		want []Expectation
	}{{first, nil}, {second, []Expectation{x}}, {third, []Expectation{y, x}}, {b.Read(), []Expectation{y}}} {
		if diff := cmp.Diff(tt.want, tt.read.All[0].Expected); diff != "" {
			t.Errorf("read %d: expected (-want +got):\n%s", i, diff)
		}
	}
	if b.Add(b.now, ref("c")); b.Read().All[1] != first.All[1] || third.All[1] != first.All[1] {
		t.Error("a worker that has not changed is copied")
	}
	if first.All[0].WakeUps != 0 || second.All[0].WakeUps != 1 {
		t.Error("what was read has changed")
	}
}
