package pleg

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// FuzzStream plays any life of two pods to a kubelet up to 1.36 that has their stream, and
// beside it, list by list, to one that has none. Whatever the stream does, none of the
// events but those marked [Event.Again] is made twice or of what never happened, and all
// are made that the generic kubelet makes; and where the stream loses nothing, comes in
// order and in time, all that happened has its event.
func FuzzStream(f *testing.F) {
	f.Add([]byte("a pod comes, changes, fails and goes"), false)
	f.Add([]byte("a pod comes, changes, fails and goes"), true)
	f.Fuzz(func(t *testing.T, data []byte, bad bool) {
		for _, release := range evented {
			playStream(t, release, data, bad)
		}
	})
}

func TestStreamAndRelistsLoseAndDoubleNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(36, 1))
	for range 1000 {
		data := make([]byte, 20+r.IntN(400))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		release, bad := evented[r.IntN(len(evented))], r.IntN(2) == 0
		if playStream(t, release, data, bad); t.Failed() {
			t.Fatalf("release %v, a bad stream: %v, data %q", release, bad, data)
		}
	}
}

// A streamPlay is a node, its kubelet and another one without a stream.
type streamPlay struct {
	t       *testing.T
	data    []byte
	bad     bool // the stream loses, doubles and delays events
	core    *Core
	generic *Core
	at      time.Time
	pods    map[UID]*Pod
	made    int
	waiting []Upstream // on their way

	happened, told, relisted map[transitionOf]int
	refused                  map[string]bool // whose relist the cache did not take: if the pod goes before the next one, the kubelet loses it
}

type transitionOf struct {
	id   string
	kind Kind
}

func playStream(t *testing.T, release Release, data []byte, bad bool) {
	p := &streamPlay{
		t: t, data: data[:min(len(data), 2000)], bad: bad, at: epoch, pods: map[UID]*Pod{},
		happened: map[transitionOf]int{}, told: map[transitionOf]int{}, relisted: map[transitionOf]int{}, refused: map[string]bool{},
	}
	p.core, _ = New(Config{Release: release, Mode: Evented})
	p.generic, _ = New(Config{Release: release})
	p.core.Attend(true)
	for len(p.data) > 0 {
		p.step()
	}
	p.deliver(len(p.waiting))
	for range 3 {
		p.at = p.at.Add(time.Second)
		p.relist(false)
	}
	p.check()
}

func (p *streamPlay) next(n int) int {
	if len(p.data) == 0 {
		return 0
	}
	b := p.data[0]
	p.data = p.data[1:]
	return int(b) % n
}

func (p *streamPlay) step() {
	p.at = p.at.Add(time.Duration(1+p.next(4)) * 100 * time.Millisecond)
	switch p.next(8) {
	case 0:
		p.relist(true)
	case 1:
		p.deliver(p.next(3))
		if len(p.waiting) == 0 {
			p.at = p.at.Add(time.Duration(p.next(3)) * EventedPeriod)
		}
	default:
		p.happen()
	}
}

// happen lets something happen to one container or sandbox of a pod, and tells of it.
func (p *streamPlay) happen() {
	uid := fuzzUIDs[p.next(2)]
	pod := p.pods[uid]
	if pod == nil {
		p.made++
		id := fmt.Sprint("s", p.made)
		pod = &Pod{PodRef: PodRef{UID: uid}, Sandboxes: []Sandbox{{ID: id, State: Running}}}
		p.pods[uid] = pod
		p.happens(pod, SignalStarted, id, Started)
		return
	}
	i := p.next(len(pod.Containers) + 2)
	switch s := &pod.Sandboxes[0]; {
	case i == len(pod.Containers)+1 && s.State == Running && len(pod.Containers) < 5:
		p.made++
		pod.Containers = append(pod.Containers, Container{ID: fmt.Sprint("c", p.made), State: Created})
		p.happens(pod, SignalCreated, pod.Containers[len(pod.Containers)-1].ID)
	case i >= len(pod.Containers) && s.State == Running:
		s.State = Exited
		p.happens(pod, SignalStopped, s.ID, Died)
	case i >= len(pod.Containers) && len(pod.Containers) == 0:
		p.happens(pod, SignalDeleted, s.ID, Removed)
		if p.next(2) == 0 && p.core.relist.scope == idle { // a list may show it for a moment yet, as containerd's do
			p.relist(false)
		}
		delete(p.pods, uid)
	case i < len(pod.Containers):
		p.containerHappens(pod, i)
	}
}

func (p *streamPlay) containerHappens(pod *Pod, i int) {
	c := &pod.Containers[i]
	switch {
	case c.State == Created && p.next(4) > 0:
		c.State = Running
		p.happens(pod, SignalStarted, c.ID, Started)
	case c.State == Running:
		c.State = Exited
		p.happens(pod, SignalStopped, c.ID, Died)
	default:
		id, kinds := c.ID, []Kind{Removed}
		if c.State == Created { // its removal is its end, too
			kinds = []Kind{Died, Removed}
		}
		pod.Containers = slices.Delete(pod.Containers, i, i+1)
		p.happens(pod, SignalDeleted, id, kinds...)
	}
}

// happens notes what happened, and sends the event on its way.
func (p *streamPlay) happens(pod *Pod, s Signal, id string, kinds ...Kind) {
	for _, kind := range kinds {
		p.happened[transitionOf{id, kind}]++
	}
	u := upstream(s, id, *pod, p.at)
	if !p.bad {
		p.apply(u)
		return
	}
	switch p.next(6) {
	case 0, 1: // lost
	case 2:
		p.apply(u)
		p.waiting = append(p.waiting, u)
	case 3:
		p.waiting = append(p.waiting, u)
	default:
		p.apply(u)
	}
}

func (p *streamPlay) deliver(n int) {
	for range min(n, len(p.waiting)) {
		i := p.next(len(p.waiting))
		p.apply(p.waiting[i])
		p.waiting = slices.Delete(p.waiting, i, i+1)
	}
}

func (p *streamPlay) apply(u Upstream) {
	p.core.Apply(p.at, u)
	p.take(p.core, p.told)
}

// relist relists for both kubelets. While the evented one inspects more may happen.
func (p *streamPlay) relist(lively bool) {
	at := p.at
	list := func() []Pod {
		var pods []Pod
		for _, uid := range slices.Sorted(maps.Keys(p.pods)) {
			pod := *p.pods[uid]
			pod.Sandboxes, pod.Containers, pod.ListedAt = slices.Clone(pod.Sandboxes), slices.Clone(pod.Containers), at
			pods = append(pods, pod)
		}
		return pods
	}
	lists := [2][]Pod{list(), list()}
	for i, core := range []*Core{p.generic, p.core} {
		p.must(core.Begin(at, lists[i]))
		for next, ok := core.Next(); ok; next, ok = core.Next() {
			began := p.at
			if core == p.core && lively && p.next(3) == 0 {
				p.at = p.at.Add(time.Millisecond)
				p.happen()
			}
			p.must(core.Settle(next.Pod.UID, began, statusOf(next.Pod), nil))
			if old, _, _ := core.Record(next.Pod.UID); core == p.core && (old == nil || !slices.Equal(old.Containers, next.Pod.Containers) || !slices.Equal(old.Sandboxes, next.Pod.Sandboxes)) {
				for _, id := range ids(next.Pod) { // the cache has refused it
					p.refused[id] = true
				}
			}
		}
		p.must(core.End())
		p.take(core, [2]map[transitionOf]int{p.relisted, p.told}[i])
	}
}

func (p *streamPlay) take(core *Core, all map[transitionOf]int) {
	for _, e := range core.Released() {
		if e.Kind <= Removed && !e.Again {
			all[transitionOf{e.ID, e.Kind}]++
		}
	}
}

func (p *streamPlay) check() {
	for x, n := range p.told {
		if n > 1 || p.happened[x] == 0 {
			p.t.Errorf("%v %v: told %d times, happened %d times", x.id, x.kind, n, p.happened[x])
		}
	}
	for x := range p.relisted {
		if p.told[x] == 0 && !p.refused[x.id] {
			p.t.Errorf("%v %v: a relist alone tells it, and with the stream it is lost", x.id, x.kind)
		}
	}
	if !p.bad && !maps.Equal(p.told, p.happened) {
		p.t.Errorf("told %v, happened %v", p.told, p.happened)
	}
}

func (p *streamPlay) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}
