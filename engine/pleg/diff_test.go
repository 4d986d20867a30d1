package pleg

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func eventsOf(base Event, old, current *Pod) []Event {
	var events []Event
	for _, x := range diff(nil, old, current) {
		for _, kind := range x.kinds() {
			events = append(events, x.event(kind, base))
		}
	}
	return events
}

func TestDiffReportsFromWhatToWhat(t *testing.T) {
	old, current := pod("a", "c1 running", "s1 running"), pod("a", "c2 created", "s1 exited")
	got := eventsOf(Event{ObjectRef: ObjectRef{Pod: old.PodRef}, At: epoch}, old, current)
	event := func(kind Kind, id, name string, from, to State) Event {
		return Event{Kind: kind, ObjectRef: ObjectRef{Pod: old.PodRef, ID: id, Container: name, Sandbox: name == ""}, From: from, To: to, At: epoch}
	}
	want := []Event{
		event(Died, "c1", "name-c1", Running, Exited), // it must have ended, though nobody saw it
		event(Removed, "c1", "name-c1", Exited, Absent),
		event(Died, "s1", "", Running, Exited),
		event(Changed, "c2", "name-c2", Absent, Created),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
}

// TestDiffAgrees compares the diff, with few ids and with many, with the rule written as plainly
// as can be.
func TestDiffAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 3000 {
		size := []int{1, 3, 8, 50}[r.IntN(4)]
		old, current := randomPod(r, size), randomPod(r, size)
		if r.IntN(3) == 0 && old != nil {
			current = &Pod{Sandboxes: slices.Clone(old.Sandboxes), Containers: slices.Clone(old.Containers)}
			shuffle(r, current.Containers)
		}
		want := plainDiff(old, current)
		if got := texts(eventsOf(Event{ObjectRef: ObjectRef{Pod: PodRef{UID: "a"}}}, old, current)); !slices.Equal(got, want) {
			t.Fatalf("%+v\n-> %+v\nevents = %q, want %q", old, current, got, want)
		}
		if len(diff(nil, old, current)) > 0 != (len(want) > 0) {
			t.Fatalf("%+v\n-> %+v\nchanged = %v, want %q", old, current, len(want) == 0, want)
		}
	}
}

// randomPod has ids that meet each other often, in one list and in two.
func randomPod(r *rand.Rand, size int) *Pod {
	if r.IntN(8) == 0 {
		return nil
	}
	p := &Pod{PodRef: PodRef{UID: "a"}}
	for range r.IntN(size + 1) {
		p.Containers = append(p.Containers, Container{ID: fmt.Sprint(r.IntN(2 * size)), State: State(r.IntN(5))})
	}
	for range r.IntN(size + 1) {
		p.Sandboxes = append(p.Sandboxes, Sandbox{ID: fmt.Sprint(r.IntN(2 * size)), State: State(r.IntN(5))})
	}
	return p
}

func plainDiff(old, current *Pod) []string {
	var events []string
	seen := map[string]bool{}
	for _, id := range append(ids(old), ids(current)...) {
		if seen[id] {
			continue
		}
		seen[id] = true
		for _, kind := range plainEvents[compared(plainState(old, id))][compared(plainState(current, id))] {
			events = append(events, texts([]Event{{Kind: kind, ObjectRef: ObjectRef{ID: id, Pod: PodRef{UID: "a"}}}})...)
		}
	}
	return events
}

// plainEvents is the kubelet's table of events, by old and new state.
var plainEvents = map[State]map[State][]Kind{
	Running: {Exited: {Died}, Unknown: {Changed}, Absent: {Died, Removed}},
	Exited:  {Running: {Started}, Unknown: {Changed}, Absent: {Removed}},
	Unknown: {Running: {Started}, Exited: {Died}, Absent: {Died, Removed}},
	Absent:  {Running: {Started}, Exited: {Died}, Unknown: {Changed}},
}

// compared returns the state as the kubelet's diff sees it.
func compared(s State) State {
	if s == Created {
		return Unknown
	}
	return s
}

func ids(p *Pod) []string {
	var all []string
	if p == nil {
		return nil
	}
	for _, c := range p.Containers {
		all = append(all, c.ID)
	}
	for _, s := range p.Sandboxes {
		all = append(all, s.ID)
	}
	return all
}

func plainState(p *Pod, id string) State {
	if p == nil {
		return Absent
	}
	for _, c := range p.Containers {
		if c.ID == id {
			return max(c.State, Created)
		}
	}
	for _, s := range p.Sandboxes {
		if s.ID == id {
			return max(s.State, Created)
		}
	}
	return Absent
}
