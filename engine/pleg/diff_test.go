package pleg

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTransition(t *testing.T) {
	died, removed := []Kind{Died}, []Kind{Removed}
	started, changed := []Kind{Started}, []Kind{Changed}
	tests := []struct {
		from State
		want map[State][]Kind // nothing for the rest
	}{
		{Absent, map[State][]Kind{Running: started, Exited: died, Created: changed, Unknown: changed}},
		{Running, map[State][]Kind{Exited: died, Created: changed, Unknown: changed, Absent: {Died, Removed}}},
		{Exited, map[State][]Kind{Running: started, Created: changed, Unknown: changed, Absent: removed}},
		{Created, map[State][]Kind{Running: started, Exited: died, Absent: {Died, Removed}}},
		{Unknown, map[State][]Kind{Running: started, Exited: died, Absent: {Died, Removed}}},
	}
	for _, tt := range tests {
		for to := Absent; to <= Unknown; to++ {
			if got := transition(tt.from, to); !slices.Equal(got, tt.want[to]) {
				t.Errorf("transition(%v, %v) = %v, want %v", tt.from, to, got, tt.want[to])
			}
		}
	}
}

func TestDiff(t *testing.T) {
	tests := []struct {
		name     string
		was, now *Pod
		want     []string
	}{
		{"neither", nil, nil, nil},
		{"first seen", nil, new(pod("a", "c1 running", "s1 running")), []string{"a Started c1", "a Started s1"}},
		{"same", new(pod("a", "c1 running")), new(pod("a", "c1 running")), nil},
		{"created is unknown", new(pod("a", "c1 created")), new(pod("a", "c1 unknown")), nil},
		{"other order", new(pod("a", "c1 running", "c2 exited")), new(pod("a", "c2 exited", "c1 running")), nil},
		{
			"old lists first",
			new(pod("a", "c2 running", "c1 running", "s1 running")),
			new(pod("a", "c3 running", "c1 exited", "s2 running", "s1 exited")),
			[]string{"a Died c2", "a Removed c2", "a Died c1", "a Died s1", "a Started c3", "a Started s2"},
		},
		{"gone", new(pod("a", "c1 exited", "s1 unknown")), nil, []string{"a Removed c1", "a Died s1", "a Removed s1"}},
		{"twice, the first decides", new(pod("a", "c1 running", "c1 exited")), new(pod("a", "c1 exited", "c1 running")), []string{"a Died c1"}},
		{"twice, gone", new(pod("a", "c1 running", "c1 running")), new(pod("a")), []string{"a Died c1", "a Removed c1"}},
		{"twice, new", nil, new(pod("a", "c1 running", "c1 running")), []string{"a Started c1"}},
		{"twice in place of another", new(pod("a", "c1 running", "c2 running")), new(pod("a", "c1 running", "c1 running")), []string{"a Died c2", "a Removed c2"}},
		{"container and sandbox, the container decides", new(pod("a", "s1 running")), both("s1", Exited, Running), []string{"a Died s1"}},
		{"becomes empty", new(pod("a", "c1 exited")), new(pod("a")), []string{"a Removed c1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var d differ
			got := texts(eventsOf(&d, Event{ObjectRef: ObjectRef{Pod: PodRef{UID: "a"}}}, tt.was, tt.now))
			if !slices.Equal(got, tt.want) {
				t.Errorf("events = %q, want %q", got, tt.want)
			}
		})
	}
}

func eventsOf(d *differ, base Event, was, now *Pod) []Event {
	var events []Event
	for _, x := range d.diff(nil, was, now) {
		for _, kind := range transition(x.from, x.to) {
			events = append(events, x.event(kind, base))
		}
	}
	return events
}

// both returns a pod with a container and a sandbox of one id.
func both(id string, container, sandbox State) *Pod {
	return &Pod{
		PodRef:     PodRef{UID: "a"},
		Containers: []Container{{ID: id, State: container}},
		Sandboxes:  []Sandbox{{ID: id, State: sandbox}},
	}
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

// TestAlike makes sure that the short cut is taken where it may be. That it is
// not taken elsewhere is what TestDiffAgrees finds out.
func TestAlike(t *testing.T) {
	dead := func(int) bool { return true }
	shuffled, twice, another := manyPods(1, 200, dead)[0], manyPods(1, 200, dead)[0], manyPods(1, 200, dead)[0]
	slices.Reverse(shuffled.Containers)
	twice.Containers[7] = twice.Containers[150]
	another.Containers[7].ID = "another"
	tests := []struct {
		name     string
		was, now *Pod
		want     bool
	}{
		{"neither", nil, nil, true},
		{"new", nil, new(pod("a", "c1 running")), false},
		{"same", new(pod("a", "c1 running", "s1 running")), new(pod("a", "c1 running", "s1 running")), true},
		{"other order", new(pod("a", "c1 running", "c2 exited", "s1 exited", "s2 running")), new(pod("a", "c2 exited", "c1 running", "s2 running", "s1 exited")), true},
		{"created or unknown", new(pod("a", "c1 created")), new(pod("a", "c1 unknown")), true},
		{"twice, same order", new(pod("a", "c1 running", "c1 exited")), new(pod("a", "c1 running", "c1 exited")), true},
		{"twice, other order", new(pod("a", "c1 running", "c1 exited")), new(pod("a", "c1 exited", "c1 running")), false},
		{"many, other order", &shuffled, &manyPods(1, 200, dead)[0], true},
		{"many, other order, one twice", &shuffled, &twice, false},
		{"many, one other id", &shuffled, &another, false},
		{"other state", new(pod("a", "c1 running")), new(pod("a", "c1 exited")), false},
		{"other id", new(pod("a", "c1 running")), new(pod("a", "c2 running")), false},
	}
	for _, tt := range tests {
		distinct := tt.was == nil || tt.was.distinct()
		if got, same := alike(tt.was, tt.now, &places{distinct: distinct}); got != tt.want || same && !got {
			t.Errorf("%s: alike = %v, want %v", tt.name, got, tt.want)
		}
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
