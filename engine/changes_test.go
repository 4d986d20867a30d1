package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/pleg"
)

// What is kept from one snapshot to the next is what would be made of the whole:
// the order of the pods, their counts, and one value for each of them.
func TestPodsAreKept(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	table := pods{byUID: map[pleg.UID]*Pod{}, listed: true}
	states := func(p *Pod, was *string) string { return fmt.Sprint(p.PodRef, p.Old.Containers[0].State) }
	var kept PerPod[string]
	var before []*Pod
	for round := range 300 {
		for range rng.IntN(8) {
			uid := pleg.UID(fmt.Sprint("uid-", rng.IntN(40)))
			if rng.IntN(3) == 0 {
				table.drop(uid)
				continue
			}
			p := table.edit(uid)
			p.PodRef = pleg.PodRef{UID: uid, Namespace: fmt.Sprint(rng.IntN(3)), Name: fmt.Sprint(rng.IntN(6))}
			p.Old = &pleg.Pod{Containers: []pleg.Container{{State: pleg.State(1 + rng.IntN(4))}}}
			p.Anomalies.NoID = rng.IntN(2)
		}
		now, counts, found := table.read()
		want := make([]*Pod, 0, len(table.byUID))
		var wantCounts Counts
		var wantFound pleg.Anomalies
		for _, p := range table.byUID {
			want = append(want, p)
			wantCounts.add(p, 1)
			wantFound = wantFound.Add(p.Anomalies)
		}
		slices.SortFunc(want, byName)
		if !slices.Equal(now, want) || counts != wantCounts || found != wantFound {
			t.Fatalf("round %d: %v, %v\nwant %v, %v", round, counts, found, wantCounts, wantFound)
		}
		var made []*Pod
		kept.Update(now, func(p *Pod, was *string) string {
			made = append(made, p)
			return states(p, was)
		})
		for i, p := range now {
			if kept.Values[i] != states(p, nil) {
				t.Fatalf("round %d: of %v is kept %q", round, p.PodRef, kept.Values[i])
			}
		}
		var changed []*Pod
		rebuilt := map[*Pod]bool{}
		for _, p := range before {
			rebuilt[p] = true
		}
		for was, is := range Changes(before, now) {
			delete(rebuilt, was)
			if is != nil {
				rebuilt[is] = true
				changed = append(changed, is)
			}
		}
		if diff := cmp.Diff(len(now), len(rebuilt)); diff != "" || !slices.Equal(made, changed) {
			t.Fatalf("round %d: %d values were made for %d changes: %s", round, len(made), len(changed), diff)
		}
		before = now
	}
}
