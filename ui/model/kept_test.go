package model

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

// pod returns a pod whose last inspection had so many containers, which had ended.
func pod(uid string, containers int) *engine.Pod {
	ref := pleg.PodRef{UID: pleg.UID(uid), Name: uid}
	p := &engine.Pod{PodRef: ref, Status: &pleg.PodStatus{PodRef: ref}}
	for i := range containers {
		p.Status.Containers = append(p.Status.Containers, pleg.ContainerStatus{ID: fmt.Sprint(uid, i), State: pleg.Exited, ExitCode: 3})
	}
	return p
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

// TestLifeThatNoRelistSaw holds that a state which only an event source saw is told of
// with its time, and that what a relist saw after all is told once, with both times.
func TestLifeThatNoRelistSaw(t *testing.T) {
	sec := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Second) }
	e := func(seq uint64, kind pleg.Kind, id string, to pleg.State, delivery pleg.Delivery, relist, source int) engine.Event {
		seen := &sources.Sightings{}
		if seen.At[sources.FromCRI] = sec(source); relist > 0 {
			seen.At[sources.FromRelist] = sec(relist)
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
