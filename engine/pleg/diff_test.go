package pleg

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func eventsOf(d *differ, base Event, was, now *Pod) []Event {
	var events []Event
	for _, x := range d.diff(nil, was, now) {
		for _, kind := range transition(x.from, x.to) {
			events = append(events, x.event(kind, base))
		}
	}
	return events
}

func TestDiffSaysFromWhatToWhat(t *testing.T) {
	was, now := pod("a", "c1 running", "s1 running"), pod("a", "c2 created", "s1 exited")
	var d differ
	got := eventsOf(&d, Event{ObjectRef: ObjectRef{Pod: was.PodRef}, At: epoch}, &was, &now)
	event := func(kind Kind, id, name string, from, to State) Event {
		return Event{Kind: kind, ObjectRef: ObjectRef{Pod: was.PodRef, ID: id, Container: name, Sandbox: name == ""}, From: from, To: to, At: epoch}
	}
	want := []Event{
		event(Died, "c1", "name-c1", Running, Exited), // it must have, for all that anybody saw
		event(Removed, "c1", "name-c1", Exited, Absent),
		event(Died, "s1", "", Running, Exited),
		event(Changed, "c2", "name-c2", Absent, Created),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestDiffAgrees holds the diff, with its short cuts and with its index for
// many ids, against the rule written down as plainly as can be.
func TestDiffAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	var d differ
	for range 3000 {
		size := []int{1, 3, 8, 50}[r.IntN(4)]
		was, now := randomPod(r, size), randomPod(r, size)
		if r.IntN(3) == 0 && was != nil {
			now = was.Clone()
			shuffle(r, []Pod{*now})
		}
		want := plainDiff(was, now)
		if got := texts(eventsOf(&d, Event{ObjectRef: ObjectRef{Pod: PodRef{UID: "a"}}}, was, now)); !slices.Equal(got, want) {
			t.Fatalf("%+v\n-> %+v\nevents = %q, want %q", was, now, got, want)
		}
		if equal, _ := alike(was, now, &places{distinct: was == nil || was.distinct()}); equal && len(want) > 0 {
			t.Fatalf("%+v\n-> %+v are said to be alike, want %q", was, now, want)
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

func plainDiff(was, now *Pod) []string {
	var events []string
	seen := map[string]bool{}
	for _, id := range append(ids(was), ids(now)...) {
		if seen[id] {
			continue
		}
		seen[id] = true
		for _, kind := range transition(plainState(was, id), plainState(now, id)) {
			events = append(events, texts([]Event{{Kind: kind, ObjectRef: ObjectRef{ID: id, Pod: PodRef{UID: "a"}}}})...)
		}
	}
	return events
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
