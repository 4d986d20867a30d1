package pleg

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"
)

// FuzzRelist plays any sequence of lists with failing inspections on each of
// the three relists, twice: with the pods in one order and in the reverse.
//
// Whoever keeps nothing but a state for each id, and applies each event to it,
// must find that each event starts from the state that he has, and must hold
// what was listed for every pod whose inspection did not fail.
func FuzzRelist(f *testing.F) {
	f.Add([]byte("a pod comes, changes, fails and goes"))
	f.Add([]byte{0, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255, 3, 2, 1})
	f.Add([]byte{0, 1, 33, 2, 9, 0, 1, 0, 1, 33, 2, 17, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, release := range oneOfEach {
			var results [2][]Event
			for i := range results {
				p := newFuzzPlay(t, release, data, i == 1)
				for step := 0; len(p.data) > 0 && step < 60; step++ {
					p.step()
				}
				results[i] = p.all
			}
			if !slices.Equal(results[0], results[1]) {
				t.Errorf("%v: the order of the pods decides:\n%v\n%v", release, texts(results[0]), texts(results[1]))
			}
		}
	})
}

var fuzzUIDs = []UID{"a", "b", "c", "d"}

type fuzzPlay struct {
	t       *testing.T
	data    []byte
	reverse bool
	core    *Core
	at      time.Time
	fold    map[UID]map[string]State
	made    map[UID]*Pod
	all     []Event
}

func newFuzzPlay(t *testing.T, release Release, data []byte, reverse bool) *fuzzPlay {
	core, err := New(Config{Release: release, Capacity: 5})
	if err != nil {
		t.Fatal(err)
	}
	return &fuzzPlay{t: t, data: data, reverse: reverse, core: core, at: epoch, fold: map[UID]map[string]State{}, made: map[UID]*Pod{}}
}

func (p *fuzzPlay) next() byte {
	if len(p.data) == 0 {
		return 0
	}
	b := p.data[0]
	p.data = p.data[1:]
	return b
}

func (p *fuzzPlay) step() {
	p.at = p.at.Add(time.Second)
	op, uid := p.next(), fuzzUIDs[p.next()%4]
	if op&16 != 0 {
		p.core.RequestReinspect(uid)
	}
	if op&64 != 0 {
		p.core.drain()
	}
	switch op % 4 {
	case 3:
		p.inspectAlone(uid)
	case 2:
		p.relistPod(p.pod(uid))
	default:
		p.relist()
	}
}

func (p *fuzzPlay) relist() {
	var pods []*Pod
	present := p.next()
	for i, uid := range fuzzUIDs {
		if present&(1<<i) != 0 {
			pods = append(pods, p.pod(uid))
		}
	}
	listed := slices.Clone(pods)
	if p.reverse {
		slices.Reverse(pods)
	}
	p.must(p.core.Begin(p.at, pods))
	failed := p.finish()
	for _, uid := range fuzzUIDs {
		i := slices.IndexFunc(listed, func(l *Pod) bool { return l.UID == uid })
		if i < 0 {
			p.check(uid, nil, failed)
			continue
		}
		p.check(uid, listed[i], failed)
	}
	if p.core.Pending() != 0 {
		p.t.Errorf("%d inspections are pending after the end", p.core.Pending())
	}
}

func (p *fuzzPlay) relistPod(l *Pod) {
	if p.core.BeginPod(p.at, l) == nil {
		p.check(l.UID, l, p.finish())
	}
}

func (p *fuzzPlay) inspectAlone(uid UID) {
	if p.core.BeginInspect(uid) != nil {
		return
	}
	before := len(p.all)
	p.finish()
	if len(p.all) > before {
		p.t.Errorf("an inspection alone made events: %v", texts(p.all[before:]))
	}
}

// pod makes a pod of up to three containers and two sandboxes. Some ids come
// twice, some are those of other pods.
func (p *fuzzPlay) pod(uid UID) *Pod {
	l := &Pod{PodRef: PodRef{UID: uid}}
	shape := p.next()
	for range shape % 4 {
		b := p.next()
		l.Containers = append(l.Containers, Container{ID: string('0' + b%5), State: State(b / 5 % 5)})
	}
	for range shape / 4 % 3 {
		b := p.next()
		l.Sandboxes = append(l.Sandboxes, Sandbox{ID: string('3' + b%5), State: State(b / 5 % 5)})
	}
	if old := p.made[uid]; reflect.DeepEqual(old, l) {
		return old // as an assembler does
	}
	p.made[uid] = l
	return l
}

// finish makes the inspections, some of which fail, and returns for which pods
// one did.
func (p *fuzzPlay) finish() map[UID]bool {
	failed := map[UID]bool{}
	failures := p.next()
	last := UID("")
	for next, ok := p.core.Next(); ok; next, ok = p.core.Next() {
		uid := next.Pod.UID
		if uid <= last && !p.core.state.Relist.Retrying {
			p.t.Errorf("inspected %q after %q", uid, last)
		}
		last = uid
		var err error
		if failures&1 != 0 {
			err = errInspect
			failed[uid] = true
		}
		failures = failures>>1 | failures<<7
		p.must(p.core.Settle(uid, p.at, nil, err))
	}
	p.must(p.core.End())
	p.apply(p.core.Released(), failed)
	return failed
}

func (p *fuzzPlay) apply(events []Event, failed map[UID]bool) {
	for _, e := range events {
		if failed[e.Pod.UID] {
			p.t.Errorf("%v though the inspection failed", texts([]Event{e}))
		}
		if (e.Kind == Changed) != (e.Delivery == Filtered) {
			p.t.Errorf("%v is %v", e.Kind, e.Delivery)
		}
		if e.ID == "" {
			continue
		}
		states := p.fold[e.Pod.UID]
		if states == nil {
			states = map[string]State{}
			p.fold[e.Pod.UID] = states
		}
		if states[e.ID] != compared(e.From) {
			p.t.Errorf("%v starts from %v, want %v", texts([]Event{e}), e.From, states[e.ID])
		}
		states[e.ID] = compared(e.To)
		if e.To == Absent {
			delete(states, e.ID)
		}
	}
	if p.core.Len() > p.core.capacity {
		p.t.Errorf("channel %d of %d", p.core.Len(), p.core.capacity)
	}
	p.all = append(p.all, events...)
}

// check holds what the events add up to against the list.
func (p *fuzzPlay) check(uid UID, listed *Pod, failed map[UID]bool) {
	if failed[uid] {
		return
	}
	want := map[string]State{}
	for _, id := range ids(listed) {
		want[id] = compared(plainState(listed, id))
	}
	if !maps.Equal(p.fold[uid], want) {
		p.t.Errorf("pod %s: the events add up to %v, but %v is listed", uid, p.fold[uid], want)
	}
}

func (p *fuzzPlay) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}
