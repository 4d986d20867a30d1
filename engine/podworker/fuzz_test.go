package podworker

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A walk drives a set by bytes, and holds it to its promises: no event is lost, nobody
// waits beyond a deadline, nobody is woken for nothing.
type walk struct {
	*bench
	open   [3][]string // ids of events that no sync began after, by pod
	events uint64      // that were not expected, of all pods
}

func (k *walk) saved(pod int) uint64 { return k.worker(fmt.Sprint(pod)).Saved }

// take does what two bytes say.
func (k *walk) take(op, arg byte) {
	pod := int(arg) % len(k.open)
	name, container := fmt.Sprint(pod), fmt.Sprint(arg>>4&3)
	switch op % 8 {
	case 0, 1:
		k.at(k.now.Sub(epoch) + time.Duration(arg)*10*time.Millisecond)
	case 2, 3:
		before := k.saved(pod)
		kind := pleg.Kind(op>>3) % 3
		if k.event(kind, name, container); k.saved(pod) == before && kind != pleg.Removed {
			k.open[pod] = append(k.open[pod], container)
			k.events++
		}
	case 4:
		k.relist(time.Duration(arg) * time.Millisecond)
	case 5:
		if arg&128 != 0 {
			k.Withdraw(k.now, uid(name))
			return
		}
		k.Ask(k.now, uid(name))
	case 6:
		k.beginNext()
	case 7:
		if arg&8 == 0 && k.Syncing(uid(name)) {
			k.expect(pod, container, arg)
			return
		}
		if k.Syncing(uid(name)) {
			k.Done(k.now, uid(name))
		}
	}
}

func (k *walk) expect(pod int, container string, arg byte) {
	x := Expectation{Kind: pleg.Kind(arg>>2) % 3, Container: container, Until: k.now.Add((time.Duration(arg) + 1) * 20 * time.Millisecond)}
	if arg&64 != 0 {
		x.ID = fmt.Sprint(pod, "/", container)
	}
	k.Expect(uid(fmt.Sprint(pod)), x)
}

func (k *walk) beginNext() bool {
	name, ok := k.Next(k.now)
	for pod := range k.open {
		if ok && uid(fmt.Sprint(pod)) == name {
			k.open[pod] = nil
		}
	}
	return ok
}

func (k *walk) check() {
	k.t.Helper()
	sums := k.Read()
	var woken, queued uint64
	for _, w := range sums.All {
		woken += w.WakeUps
		queued += uint64(w.Queued)
		for i, x := range w.Expected {
			if !x.Until.After(k.now) || i > 0 && x.Until.Before(w.Expected[i-1].Until) {
				k.t.Fatalf("at %v, pod %v expects %+v", k.now, w.Pod, w.Expected)
			}
		}
		if w.State == WaitsForExpected && (len(w.Expected) == 0 || w.Queued == 0) || (w.State == WaitsForStatus) != !w.After.IsZero() {
			k.t.Fatalf("pod %v stands as %+v", w.Pod, w)
		}
	}
	if woken != sums.WakeUps || woken > k.events {
		k.t.Fatalf("%d workers woken, sum %d, by %d events", woken, sums.WakeUps, k.events)
	}
}

// end lets all come to an end: within the longest deadline of what is expected, and with
// relists that go on.
func (k *walk) end() {
	k.t.Helper()
	last := k.now
	for _, w := range k.Read().All {
		for _, x := range w.Expected {
			last = x.Until
		}
	}
	for range 10 {
		k.at(max(k.now.Sub(epoch), last.Sub(epoch)) + time.Second)
		k.relist(0)
		for k.beginNext() {
		}
		for pod := range k.open {
			k.Done(k.now, uid(fmt.Sprint(pod)))
		}
		k.check()
	}
	for pod, open := range k.open {
		if w := k.worker(fmt.Sprint(pod)); len(open) > 0 || w.State != Idle || w.Queued > 0 {
			k.t.Fatalf("pod %d: %d events are lost; %+v", pod, len(open), w)
		}
	}
}

func walkThrough(t *testing.T, program []byte, acting bool) Workers {
	k := &walk{bench: newBench(t, acting, "0", "1", "2")}
	for i := 0; i+1 < len(program); i += 2 {
		k.take(program[i], program[i+1])
		k.check()
	}
	k.end()
	return k.Read()
}

func FuzzSet(f *testing.F) {
	f.Add([]byte{5, 0, 6, 0, 7, 0x10, 2, 0x10, 7, 8, 10, 0x20, 0, 200, 4, 0, 6, 0}, true)
	f.Fuzz(func(t *testing.T, program []byte, acting bool) {
		walkThrough(t, program[:min(len(program), 1000)], acting)
	})
}

// The fuzz target over random programs, in each run of the tests: what is expected
// wakes nobody, and without expectations all of it does.
func TestNoEventIsLostAndNobodyStalls(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var with, without Workers
	for range 300 {
		program := make([]byte, 2*rng.IntN(300))
		for i := range program {
			program[i] = byte(rng.Uint32())
		}
		a, b := walkThrough(t, program, true), walkThrough(t, program, false)
		with.Saved, with.Expired, with.WakeUps = with.Saved+a.Saved, with.Expired+a.Expired, with.WakeUps+a.WakeUps
		without.Saved, without.WakeUps = without.Saved+b.Saved+b.Expired, without.WakeUps+b.WakeUps
	}
	t.Logf("with expected events %d wake-ups, %d saved, %d expired; without %d", with.WakeUps, with.Saved, with.Expired, without.WakeUps)
	if with.Saved < 50 || with.Expired < 100 || without.Saved != 0 {
		t.Error("the programs met too little, or something is expected where nothing is")
	}
}

// Syncing reports whether a pod is being synced.
func (s *Set) Syncing(uid pleg.UID) bool {
	w := s.byUID[uid]
	return w != nil && w.Worker.State == Syncing
}
