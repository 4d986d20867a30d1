package engine

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/podworker"
)

// workerOf says how a pod's worker stands; empty if it has none.
func workerOf(s *Snapshot, name string) string {
	for _, w := range s.Workers.All {
		if w.Pod.Name == name {
			return fmt.Sprintf("%v, woken %d, synced %d, queued %d", w.State, w.WakeUps, w.Syncs, w.Queued)
		}
	}
	return ""
}

func (b *bench) wantWorker(s *Snapshot, name, want string) {
	b.t.Helper()
	if got := workerOf(s, name); got != want {
		b.t.Errorf("worker of %s: %s\nwant: %s", name, got, want)
	}
}

// slowly has the relist take its time, so that it ends after it began.
func slowly(r *fakeRuntime) {
	onePod(r)
	r.script("ListContainers", behaviour{delay: 10 * time.Millisecond})
}

// Of the events of one relist the first wakes the worker, which is synced at once; the
// others make one sync more, for which there is a status when the next relist has ended.
func TestWorkersAreWokenByEvents(t *testing.T) {
	bubble(t, Config{}, slowly, func(b *bench) {
		s := b.fresh()
		if s.Workers.Acting || s.Workers.Expecting {
			t.Error("our workers are said to act")
		}
		b.wantWorker(s, "web", "waits for a newer status, woken 2, synced 1, queued 1")
		b.after(time.Second)
		b.wantWorker(b.fresh(), "web", "idle, woken 2, synced 2, queued 0")
		b.fake.exit("web/app", 1, "Error")
		b.after(time.Second)
		s = b.fresh()
		b.wantWorker(s, "web", "idle, woken 3, synced 3, queued 0")
		if w := s.Workers.All[0]; w.Last.Kind != pleg.Died || w.Last.Container != "app" || s.At.Sub(w.LastAt) > time.Second {
			t.Errorf("the worker's last event: %+v at %v", w.Last, w.LastAt)
		}
		again := b.after(3 * time.Second)
		if &again.Workers.All[0] != &s.Workers.All[0] {
			t.Error("nothing has changed, and the workers are read again")
		}
	})
}

// An inspection that hangs holds up the end of the relist, and so whoever waits for a
// status of another pod.
func TestWorkersWaitForAHungRelist(t *testing.T) {
	prepare := func(r *fakeRuntime) {
		slowly(r)
		r.pod("nfs", "client")
	}
	bubble(t, Config{}, prepare, func(b *bench) {
		b.after(2 * time.Second)
		b.fake.pod("api", "app", "log")
		b.fake.exit("nfs/client", 1, "Error")
		b.fake.script("ContainerStatus nfs/client", behaviour{hang: true})
		s := b.after(100 * time.Second)
		b.wantWorker(s, "nfs", "idle, woken 2, synced 2, queued 0") // it has no event: the inspection is not over
		b.wantWorker(s, "api", "waits for a newer status, woken 2, synced 1, queued 2")
		b.fake.script("ContainerStatus nfs/client", behaviour{}) // for the next relist; this one ends when the call is given up
		s = b.after(30 * time.Second)
		b.wantWorker(s, "nfs", "idle, woken 3, synced 3, queued 0")
		b.wantWorker(s, "api", "idle, woken 2, synced 2, queued 0")
	})
}

// The sync loop reads no event while the runtime is not ready: nobody is woken until then.
func TestWorkersSleepWhileNobodyReadsTheChannel(t *testing.T) {
	bubble(t, Config{}, slowly, func(b *bench) {
		b.after(2 * time.Second)
		b.fake.ready(false)
		b.after(6 * time.Second)
		b.fake.exit("web/app", 1, "Error")
		s := b.after(5 * time.Second)
		if s.Channel.Len != 1 {
			t.Fatalf("%d events in the channel, want 1", s.Channel.Len)
		}
		b.wantWorker(s, "web", "idle, woken 2, synced 2, queued 0")
		b.fake.ready(true)
		s = b.after(20 * time.Second)
		b.wantWorker(s, "web", "idle, woken 3, synced 3, queued 0")
	})
}

func TestWorkersComeAndGoWithTheirPods(t *testing.T) {
	bubble(t, Config{}, slowly, func(b *bench) {
		b.after(2 * time.Second)
		b.fake.pod("new", "app")
		b.fake.script("ContainerStatus new/app", behaviour{err: errors.New("no such container")})
		s := b.after(time.Second)
		b.wantWorker(s, "new", "idle, woken 0, synced 0, queued 0")
		b.fake.script("ContainerStatus new/app", behaviour{})
		b.wantWorker(b.after(3*time.Second), "new", "idle, woken 2, synced 2, queued 0")
		b.fake.remove("new")
		s = b.after(3 * time.Second)
		b.wantWorker(s, "new", "")
		if len(s.Workers.All) != 1 || s.Workers.WakeUps < 4 {
			t.Errorf("%d workers, %d wake-ups; want 1, and those of the pod that has gone", len(s.Workers.All), s.Workers.WakeUps)
		}
	})
}

// A kubelet that tells what its workers do is believed.
func TestWorkersOfAKubeletThatTells(t *testing.T) {
	told := podworker.Workers{Acting: true, All: []*podworker.Worker{{Pod: ref("web"), State: podworker.Syncing}, {Pod: ref("api")}}}
	bubble(t, Config{Workers: func() podworker.Workers { return told }}, slowly, func(b *bench) {
		if s := b.after(2 * time.Second); !s.Workers.Acting || len(s.Workers.All) != 2 {
			t.Errorf("workers %+v, want the kubelet's", s.Workers)
		}
	})
}

// One look has no workers: nobody would be woken by it.
func TestNoWorkersInOneLook(t *testing.T) {
	fake := newFake(t)
	slowly(fake)
	s, err := Examine(t.Context(), Config{Runtime: fake}, Examination{})
	if err != nil || len(s.Workers.All) != 0 {
		t.Errorf("%d workers, %v; want none", len(s.Workers.All), err)
	}
}
