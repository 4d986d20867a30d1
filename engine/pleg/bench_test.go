package pleg

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// BenchmarkRelist measures one whole relist in memory: begin, inspect what changed, settle, end,
// read the events. Two lists are taken in turn, in another order each. A pod that is equal in both
// is the same pointer in both, as an [Assembler] has it.
func BenchmarkRelist(b *testing.B) {
	for _, size := range []struct{ pods, containers int }{{110, 2}, {1000, 3}} {
		for _, change := range []struct {
			name string
			of   int // one pod of how many changes
		}{{"none", size.pods + 1}, {"1pct", 100}, {"all", 1}} {
			b.Run(fmt.Sprintf("%dx%d/%s", size.pods, size.containers, change.name), func(b *testing.B) {
				changes := func(p int) bool { return (p+1)%change.of == 0 }
				first := manyPods(size.pods, size.containers, func(int) bool { return false })
				second := manyPods(size.pods, size.containers, changes)
				for i := range second {
					if !changes(i) {
						second[i] = first[i]
					}
				}
				shuffle(rand.New(rand.NewPCG(1, 2)), second)
				benchmarkRelist(b, first, second)
			})
		}
	}
}

func benchmarkRelist(b *testing.B, lists ...[]*Pod) {
	core, err := New(Config{Capacity: 1 << 20})
	if err != nil {
		b.Fatal(err)
	}
	at := epoch
	relistBench(b, core, at, lists[1])
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		at = at.Add(time.Second)
		relistBench(b, core, at, lists[n%2])
	}
}

func relistBench(tb testing.TB, core *Core, at time.Time, pods []*Pod) {
	if err := core.Begin(at, pods); err != nil {
		tb.Fatal(err)
	}
	for next, ok := core.Next(); ok; next, ok = core.Next() {
		if err := core.Settle(next.Pod.UID, at, statusOf(next.Pod), nil); err != nil {
			tb.Fatal(err)
		}
	}
	if err := core.End(); err != nil {
		tb.Fatal(err)
	}
	core.Released()
	core.drain()
}

// A relist in which nothing changed allocates nothing, in whatever order the pods come.
func TestUnchangedRelistAllocatesNothing(t *testing.T) {
	core, _ := New(Config{})
	pods := manyPods(100, 3, func(int) bool { return false })
	relistBench(t, core, epoch, pods)
	r := rand.New(rand.NewPCG(1, 2))
	if n := testing.AllocsPerRun(20, func() { shuffle(r, pods); relistBench(t, core, epoch, pods) }); n > 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// BenchmarkAssemble measures the way from the rows of two lists to pods.
func BenchmarkAssemble(b *testing.B) {
	for _, name := range []string{"same order", "other order"} {
		b.Run(name, func(b *testing.B) {
			sandboxes, containers := rowsOf(manyPods(1000, 3, func(int) bool { return false }))
			var a Assembler
			a.Assemble(sandboxes, containers)
			if name == "other order" {
				r := rand.New(rand.NewPCG(1, 2))
				shuffle(r, sandboxes)
				shuffle(r, containers)
			}
			b.ReportAllocs()
			for b.Loop() {
				a.Assemble(sandboxes, containers)
			}
		})
	}
}

// longID is as long and as random as a runtime's ids.
func longID(pod, n int) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte{byte(pod), byte(pod >> 8), byte(n), byte(n >> 8)}))
}

func shuffle[T any](r *rand.Rand, list []T) {
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// rowsOf takes pods apart, as the two lists would show them.
func rowsOf(pods []*Pod) (sandboxes []*ListedSandbox, containers []*ListedContainer) {
	for _, p := range pods {
		for _, s := range p.Sandboxes {
			sandboxes = append(sandboxes, &ListedSandbox{p.PodRef, s})
		}
		for _, c := range p.Containers {
			containers = append(containers, &ListedContainer{p.PodRef, c})
		}
	}
	return sandboxes, containers
}
