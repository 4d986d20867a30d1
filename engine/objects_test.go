package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// The values that are kept from one list to the next are the same as if they were made anew: the pods in order,
// their counts, the index of objects, and one value for each pod. What a snapshot has does not change.
func TestWhatIsKeptIsWhatWouldBeMade(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	end := func(pod int) *pleg.Pod {
		p := &pleg.Pod{Sandboxes: []pleg.Sandbox{{ID: fmt.Sprint("s", pod)}}}
		p.PodRef = pleg.PodRef{UID: pleg.UID(fmt.Sprint(pod)), Namespace: fmt.Sprint(chance.IntN(3)), Name: fmt.Sprint(chance.IntN(6))}
		for c := range 4 {
			if chance.IntN(2) == 0 {
				p.Containers = append(p.Containers, pleg.Container{ID: fmt.Sprint("c", pod, "-", c), State: pleg.State(1 + chance.IntN(4))})
			}
		}
		if chance.IntN(10) == 0 { // a runtime that makes no sense lists one id in several pods
			p.Containers = append(p.Containers, pleg.Container{ID: "both", State: pleg.Running})
		}
		return p
	}
	table := newPods()
	table.Listed = true
	var kept PerPod[string]
	var before []*Pod
	var index *Objects
	for round := range 500 {
		for range chance.IntN(8) {
			switch pod := chance.IntN(40); chance.IntN(3) {
			case 0:
				table.drop(pleg.UID(fmt.Sprint(pod)))
			case 1:
				p := end(pod)
				table.take(p.UID, pleg.Record{Old: p, Current: p, Listed: true}, time.Time{})
			default:
				p, old := end(pod), end(pod)
				table.take(p.UID, pleg.Record{Old: old, Current: p, Listed: true}, time.Time{})
			}
		}
		now, counts, _ := table.read()
		if want, wantCounts := wholeOf(&table); !slices.Equal(now, want) || counts != wantCounts {
			t.Fatalf("round %d: %v, %+v\nwant %v, %+v", round, now, counts, want, wantCounts)
		}
		agrees(t, before, index)
		index = table.index()
		agrees(t, now, index)
		if table.index() != index {
			t.Fatal("another index of the same objects")
		}
		keeps(t, &kept, before, now)
		before = now
	}
}

func wholeOf(table *pods) (all []*Pod, n Counts) {
	for _, p := range table.ByUID {
		all = append(all, p)
		n.add(p.Seen())
	}
	slices.SortFunc(all, func(a, b *Pod) int { return a.PodRef.Compare(b.PodRef) })
	return all, n
}

// agrees compares an index with the pods: if several pods list an id, the first one has it.
func agrees(t *testing.T, all []*Pod, index *Objects) {
	t.Helper()
	ids := []string{"both"}
	for pod := range 40 {
		ids = append(ids, fmt.Sprint("s", pod), fmt.Sprint("c", pod, "-0"), fmt.Sprint("c", pod, "-3"))
	}
	for _, id := range ids {
		var want *Pod
		if i := slices.IndexFunc(all, func(p *Pod) bool { _, lists := p.Find(id); return lists }); i >= 0 {
			want = all[i]
		}
		if index == nil && want == nil {
			continue
		}
		if got := index.PodOf(all, id); got != want || want != nil && !index.Has(id) {
			t.Fatalf("%s is in %+v, want %+v", id, got, want)
		}
	}
}

// keeps checks that a value is made only for the pods that Changes yields.
func keeps(t *testing.T, kept *PerPod[string], before, now []*Pod) {
	t.Helper()
	var made, changed []*Pod
	value := func(p *Pod) string { return fmt.Sprint(p.PodRef, len(p.Seen().Containers)) }
	kept.Update(now, func(p *Pod, was *string) string {
		made = append(made, p)
		return value(p)
	})
	same := slices.Clone(before)
	for was, is := range Changes(before, now) {
		same = slices.DeleteFunc(same, func(p *Pod) bool { return p == was })
		if is != nil {
			changed = append(changed, is)
		}
	}
	for i, p := range now {
		if kept.Values[i] != value(p) {
			t.Fatalf("of %v is kept %q", p.PodRef, kept.Values[i])
		}
	}
	if !slices.Equal(made, changed) || len(same)+len(changed) != len(now) {
		t.Fatalf("%d values were made for %d changes; %d pods of %d are the same", len(made), len(changed), len(same), len(now))
	}
}
