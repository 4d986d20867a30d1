package podworker

import (
	"fmt"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A watch is a shadow beside the relist of one node.
type watch struct {
	*Shadow
	t     *testing.T
	cache *pleg.Cache
	now   time.Time
}

func newWatch(t *testing.T, pods ...string) *watch {
	cache := pleg.NewCache(false)
	w := &watch{NewShadow(cache), t, cache, epoch}
	for _, name := range pods {
		w.Add(w.now, ref(name))
	}
	return w
}

// relist has a relist begin a second later that brings some events, and end 10 ms after
// that. read says whether the sync loop reads them.
func (w *watch) relist(read bool, events ...pleg.Event) {
	began := w.now.Add(time.Second)
	w.now = began.Add(10 * time.Millisecond)
	for _, e := range events {
		w.Send(e)
	}
	w.Advance(w.now, read)
	w.cache.UpdateTime(began)
	w.Advance(w.now, read)
}

func event(kind pleg.Kind, pod string) pleg.Event {
	return pleg.Event{Kind: kind, ObjectRef: pleg.ObjectRef{Pod: ref(pod), ID: pod + "/app", Container: "app"}}
}

func (w *watch) want(pod, want string) {
	w.t.Helper()
	all, got := w.Read(), "none"
	if p := all.Of(uid(pod)); p != nil {
		got = fmt.Sprintf("%v, woken %d, synced %d, queued %d", p.State, p.WakeUps, p.Syncs, p.Queued)
	}
	if got != want {
		w.t.Errorf("at %v, worker of %s: %s\nwant: %s", w.now.Sub(epoch), pod, got, want)
	}
}

// Of the events of one relist the first wakes the worker, which is synced at once; the
// others make one sync more, for which there is a status when the next relist has ended.
func TestShadowIsWokenByEvents(t *testing.T) {
	w := newWatch(t, "web")
	w.relist(true, event(pleg.Started, "web"), event(pleg.Started, "web"), event(pleg.Changed, "unknown"))
	w.want("web", "waits for a newer status, woken 2, synced 1, queued 1")
	w.relist(true)
	w.want("web", "idle, woken 2, synced 2, queued 0")
	w.relist(true, event(pleg.Died, "web"))
	w.want("web", "idle, woken 3, synced 3, queued 0")
	was := w.Read()
	if last := was.All[0].Last; last.Kind != pleg.Died || !was.All[0].LastAt.Equal(w.now) || was.Acting || was.Expecting {
		t.Errorf("workers: %+v", was)
	}
	w.relist(true)
	if &w.Read().All[0] != &was.All[0] {
		t.Error("nothing has changed, and the workers are read again")
	}
}

// The sync loop reads no event while the runtime is not ready: nobody is woken until then.
func TestShadowSleepsWhileNobodyReadsTheChannel(t *testing.T) {
	w := newWatch(t, "web")
	discarded := event(pleg.Died, "web")
	discarded.Delivery = pleg.Discarded
	w.relist(false, event(pleg.Died, "web"), discarded)
	w.want("web", "idle, woken 0, synced 0, queued 0")
	w.relist(true)
	w.want("web", "idle, woken 1, synced 1, queued 0")
}

func TestShadowsComeAndGoWithTheirPods(t *testing.T) {
	w := newWatch(t, "a", "b")
	w.relist(true, event(pleg.Died, "a"))
	w.Remove(uid("a"))
	w.want("a", "none")
	w.want("b", "idle, woken 0, synced 0, queued 0")
	if all := w.Read(); all.WakeUps != 1 || all.Syncs != 1 {
		t.Errorf("%d wake-ups, %d syncs; want those of the pod that has gone", all.WakeUps, all.Syncs)
	}
}

// A shadow that was restored goes on as it would have.
func TestShadowInACheckpoint(t *testing.T) {
	w := newWatch(t, "web", "api")
	w.relist(true, event(pleg.Started, "web"), event(pleg.Died, "web"))
	w.Send(event(pleg.Died, "api"))
	mode, err := cbor.EncOptions{Time: cbor.TimeRFC3339Nano}.EncMode()
	if err != nil {
		t.Fatal(err)
	}
	var c Checkpoint
	b, err := mode.Marshal(w.Checkpoint())
	if err == nil {
		err = cbor.Unmarshal(b, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	read := &watch{Restore(w.cache, c), t, w.cache, w.now}
	if diff := cmp.Diff(w.Read(), read.Read()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	read.relist(true)
	read.want("web", "idle, woken 2, synced 2, queued 0")
	read.want("api", "idle, woken 1, synced 1, queued 0")
	if all := read.Read(); all.WakeUps != 3 || all.Syncs != 3 {
		t.Errorf("%d wake-ups, %d syncs; want 3 of each", all.WakeUps, all.Syncs)
	}
}
