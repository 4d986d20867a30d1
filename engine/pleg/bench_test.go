package pleg

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// BenchmarkRelist measures one whole relist in memory: begin, inspect what
// changed, settle, end, read the events. Two lists made beforehand are taken in
// turn. They are as a runtime sends them: pods and containers in another order
// each time, and no string shared between the two.
func BenchmarkRelist(b *testing.B) {
	for _, size := range []struct{ pods, containers int }{{110, 2}, {1000, 3}} {
		for _, change := range []struct {
			name string
			of   int // one pod of how many changes; 0: none
		}{{"none", 0}, {"1pct", 100}, {"all", 1}} {
			b.Run(fmt.Sprintf("%dx%d/%s", size.pods, size.containers, change.name), func(b *testing.B) {
				benchmarkRelist(b, size.pods, size.containers, change.of)
			})
		}
	}
}

func benchmarkRelist(b *testing.B, pods, containers, of int) {
	lists := make([][]Pod, 2)
	for i := range lists {
		lists[i] = manyPods(pods, containers, func(p int) bool { return of > 0 && i%2 == 1 && p%of == 0 })
		shuffle(rand.New(rand.NewPCG(1, uint64(i))), lists[i])
	}
	core, err := New(Config{Capacity: 1 << 20})
	if err != nil {
		b.Fatal(err)
	}
	at := time.Unix(1_700_000_000, 0)
	relistBench(b, core, at, lists[len(lists)-1])
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		at = at.Add(time.Second)
		relistBench(b, core, at, lists[n%len(lists)])
		n++
	}
}

func relistBench(b *testing.B, core *Core, at time.Time, pods []Pod) {
	if err := core.Begin(at, pods); err != nil {
		b.Fatal(err)
	}
	for next, ok := core.Next(); ok; next, ok = core.Next() {
		if err := core.Settle(next.Pod.UID, at, statusOf(next.Pod), nil); err != nil {
			b.Fatal(err)
		}
	}
	if err := core.End(); err != nil {
		b.Fatal(err)
	}
	core.Released()
	core.Drain()
}

// statusOf answers an inspection with what was listed.
func statusOf(p *Pod) *PodStatus {
	sandboxes := make([]SandboxStatus, len(p.Sandboxes))
	for i := range p.Sandboxes {
		s := &p.Sandboxes[i]
		sandboxes[i] = SandboxStatus{ID: s.ID, Pod: p.PodRef, State: s.State, CreatedAt: s.CreatedAt}
	}
	containers := make([]ContainerStatus, len(p.Containers))
	for i := range p.Containers {
		c := &p.Containers[i]
		containers[i] = ContainerStatus{ID: c.ID, Name: c.Name, State: c.State, CreatedAt: c.CreatedAt}
	}
	return Compose(p.PodRef, sandboxes, containers)
}

// manyPods makes pods whose containers run, or have exited where ended says so.
func manyPods(pods, containers int, ended func(pod int) bool) []Pod {
	list := make([]Pod, pods)
	for i := range list {
		state := Running
		if ended(i) {
			state = Exited
		}
		list[i] = Pod{
			PodRef:    PodRef{UID: UID(fmt.Sprintf("%08x-0000-4000-8000-00000000%04x", i*2654435761%(1<<32), i)), Namespace: "default", Name: fmt.Sprintf("pod-%d", i)},
			Sandboxes: []Sandbox{{ID: longID(i, 0), State: Running}},
		}
		for c := range containers {
			list[i].Containers = append(list[i].Containers, Container{ID: longID(i, c+1), Name: fmt.Sprintf("c%d", c), State: state})
		}
	}
	return list
}

// longID is as long and as random as a runtime's ids.
func longID(pod, n int) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte{byte(pod), byte(pod >> 8), byte(n), byte(n >> 8)}))
}

// shuffle puts the pods, and the containers of each, into another order.
func shuffle(r *rand.Rand, pods []Pod) {
	r.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
	for _, p := range pods {
		r.Shuffle(len(p.Containers), func(i, j int) { p.Containers[i], p.Containers[j] = p.Containers[j], p.Containers[i] })
	}
}

// lines takes pods apart again, as the two lists would show them.
func lines(pods []Pod) (sandboxes []ListedSandbox, containers []ListedContainer) {
	for _, p := range pods {
		for _, s := range p.Sandboxes {
			sandboxes = append(sandboxes, ListedSandbox{p.PodRef, s})
		}
		for _, c := range p.Containers {
			containers = append(containers, ListedContainer{p.PodRef, c})
		}
	}
	return sandboxes, containers
}
