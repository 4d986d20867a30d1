package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/plegtop/plegtop/engine/pleg"
)

// The index has what pods have, whatever comes and goes, and nothing else; a snapshot keeps
// what it had, and has the same index as the one before where nothing came or went.
func TestObjectsFollowThePods(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	all := pods{byUID: make(map[pleg.UID]*Pod), listed: true}
	end := func(pod int) *pleg.Pod {
		p := &pleg.Pod{PodRef: ref(fmt.Sprint("p", pod)), Sandboxes: []pleg.Sandbox{{ID: fmt.Sprint("s", pod)}}}
		for c := range 6 {
			if chance.IntN(2) == 0 {
				p.Containers = append(p.Containers, pleg.Container{ID: fmt.Sprint("c", pod, "-", c), Name: "app"})
			}
		}
		return p
	}
	both := pleg.Container{ID: "both", Name: "app"} // a runtime that makes no sense lists it in two pods
	var before *Snapshot
	for range 2000 {
		for range chance.IntN(3) {
			pod := chance.IntN(40)
			uid := ref(fmt.Sprint("p", pod)).UID
			if chance.IntN(3) == 0 {
				all.drop(uid)
				continue
			}
			p := end(pod)
			q := all.edit(uid)
			if chance.IntN(10) == 0 {
				p.Containers = append(p.Containers, both)
			}
			q.PodRef, q.Current = p.PodRef, p
			if chance.IntN(2) == 0 {
				q.Old = end(pod)
			}
		}
		s := &Snapshot{}
		s.Pods, s.Counts, _ = all.read()
		s.Objects = all.index.read(&all)
		if before != nil {
			agrees(t, before)
		}
		agrees(t, s)
		before = s
		if same := all.index.read(&all); same != s.Objects {
			t.Fatal("another index of the same objects")
		}
	}
	for uid := range all.byUID {
		all.drop(uid)
	}
	all.read()
	for i, left := range all.index.read(&all).shards {
		if len(left) > 0 || len(all.index.of) > 0 {
			t.Errorf("part %d still has %d of nobody", i, len(left))
		}
	}
}

// agrees holds the index of a snapshot against its pods.
func agrees(t *testing.T, s *Snapshot) {
	t.Helper()
	anew, first := ObjectsOf(s.Pods), make(map[string]*Pod)
	for _, p := range s.Pods {
		for _, f := range partsOf(p.Seen()) {
			if has := first[f.ID]; has == nil || p.UID < has.UID {
				first[f.ID] = p
			}
		}
	}
	ids := []string{"both"}
	for pod := range 40 {
		ids = append(ids, fmt.Sprint("s", pod))
		for c := range 6 {
			ids = append(ids, fmt.Sprint("c", pod, "-", c))
		}
	}
	for _, id := range ids {
		if got := s.Objects.PodOf(s.Pods, id); got != first[id] || anew.PodOf(s.Pods, id) != got {
			t.Fatalf("%s is in %+v, want %+v", id, got, first[id])
		}
	}
}

// A sandbox that the lists have no more is among what has gone; what is listed in another
// pod is not.
func TestSandboxesThatHaveGone(t *testing.T) {
	s := node(t, 6)
	s.containers[0].ID = s.sandboxes[1].ID
	s.relist()
	if gone := s.snapshot(s.now).Gone; gone != nil {
		t.Fatalf("gone: %+v", gone)
	}
	left := s.sandboxes[5].ID
	s.sandboxes = append(s.sandboxes[:1], s.sandboxes[2:5]...)
	s.relist()
	gone := s.snapshot(s.now).Gone
	if len(gone) != 1 || gone[0].ID != left || !gone.Since(left).Equal(s.now) {
		t.Errorf("gone: %+v, want %s", gone, left)
	}
}
