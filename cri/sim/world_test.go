package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
)

func TestEqualSeedsGiveEqualWorlds(t *testing.T) {
	for _, sc := range playable() {
		one, oneLog := watch(t, sc.name, 5)
		two, twoLog := watch(t, sc.name, 5)
		one.advance(epoch.Add(90 * time.Second))
		for d := time.Duration(0); d <= 90*time.Second; d += 730 * time.Millisecond { // in other steps
			two.advance(epoch.Add(d))
		}
		two.advance(epoch.Add(90 * time.Second))
		if diff := cmp.Diff(*oneLog, *twoLog, cmp.AllowUnexported(seen{})); diff != "" {
			t.Errorf("%s: transitions differ:\n%.2000s", sc.name, diff)
		}
		if !slices.Equal(everything(one.world), everything(two.world)) {
			t.Errorf("%s: worlds differ", sc.name)
		}
	}
	one, _ := watch(t, "tour", 5)
	two, _ := watch(t, "tour", 6)
	if one.containers[0].status.Id == two.containers[0].status.Id {
		t.Error("another seed gives the same ids")
	}
}

// everything returns what the lists and the statuses show.
func everything(w *world) []string {
	var all []string
	for _, s := range w.sandboxes {
		all = append(all, encode(s.status))
	}
	for _, c := range w.containers {
		all = append(all, encode(c.status))
	}
	return all
}

func encode(m proto.Message) string {
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// lifeOf lets a pod live for a time and returns what happened, without its name.
func lifeOf(t *testing.T, spec podSpec, span time.Duration, do func(*scene, *pod)) []seen {
	t.Helper()
	sn, log := watch(t, "empty", 1)
	p := sn.startPod(spec)
	if do != nil {
		do(sn, p)
	}
	sn.advance(epoch.Add(span))
	for i := range *log {
		(*log)[i].what = strings.TrimPrefix((*log)[i].what, p.ref()+" ")
	}
	return *log
}

func words(log []seen) []string {
	var all []string
	for _, s := range log {
		all = append(all, s.what)
	}
	return all
}

func TestKubelet(t *testing.T) {
	short := life{runs: 2 * time.Second}
	tests := []struct {
		name string
		spec podSpec
		do   func(*scene, *pod)
		want []string
	}{
		{"init containers run first, one after another",
			podSpec{init: []containerSpec{{name: "a", life: short}, {name: "b", life: short}}, containers: []containerSpec{{name: "app"}}}, nil,
			[]string{
				"sandbox#0 CREATED", "sandbox#0 STARTED", "a#0 CREATED", "a#0 STARTED", "a#0 STOPPED 0 Completed",
				"b#0 CREATED", "b#0 STARTED", "b#0 STOPPED 0 Completed", "app#0 CREATED", "app#0 STARTED",
			}},
		{"a failing init container is run again",
			podSpec{init: []containerSpec{{name: "a", life: life{runs: 20 * time.Second, exit: exit{code: 3}}}}, containers: []containerSpec{{name: "app"}}}, nil,
			[]string{"sandbox#0 CREATED", "sandbox#0 STARTED", "a#0 CREATED", "a#0 STARTED", "a#0 STOPPED 3 Error", "a#1 CREATED", "a#1 STARTED"}},
		{"a job completes",
			podSpec{restart: never, containers: []containerSpec{{name: "job", life: short}}}, nil,
			[]string{"sandbox#0 CREATED", "sandbox#0 STARTED", "job#0 CREATED", "job#0 STARTED", "job#0 STOPPED 0 Completed", "sandbox#0 STOPPED"}},
		{"on failure, success is the end",
			podSpec{restart: onFailure, containers: []containerSpec{{name: "job", life: short}}}, nil,
			[]string{"sandbox#0 CREATED", "sandbox#0 STARTED", "job#0 CREATED", "job#0 STARTED", "job#0 STOPPED 0 Completed", "sandbox#0 STOPPED"}},
		{"a stuck container is never started",
			podSpec{containers: []containerSpec{{name: "app", life: life{stuck: true}}}}, nil,
			[]string{"sandbox#0 CREATED", "sandbox#0 STARTED", "app#0 CREATED"}},
		{"a pod is deleted",
			podSpec{containers: []containerSpec{{name: "app", life: life{stopCode: 143}}}},
			func(sn *scene, p *pod) { sn.after(5*time.Second, func() { sn.deletePod(p) }) },
			[]string{
				"sandbox#0 CREATED", "sandbox#0 STARTED", "app#0 CREATED", "app#0 STARTED",
				"app#0 STOPPED 143 Error", "sandbox#0 STOPPED", "app#0 DELETED", "sandbox#0 DELETED",
			}},
		{"a stubborn pod is killed",
			podSpec{grace: 3 * time.Second, containers: []containerSpec{{name: "app", life: life{stops: time.Hour}}}},
			func(sn *scene, p *pod) { sn.after(5*time.Second, func() { sn.deletePod(p) }) },
			[]string{
				"sandbox#0 CREATED", "sandbox#0 STARTED", "app#0 CREATED", "app#0 STARTED",
				"app#0 STOPPED 137 Error", "sandbox#0 STOPPED", "app#0 DELETED", "sandbox#0 DELETED",
			}},
		{"a pod is deleted before it has started",
			podSpec{containers: []containerSpec{{name: "app"}}}, func(sn *scene, p *pod) { sn.deletePod(p) }, nil},
		{"a sandbox is replaced, twice",
			podSpec{containers: []containerSpec{{name: "app"}}},
			func(sn *scene, p *pod) {
				sn.after(3*time.Second, func() { sn.replaceSandbox(p) })
				sn.after(9*time.Second, func() { sn.replaceSandbox(p) })
			},
			[]string{
				"sandbox#0 CREATED", "sandbox#0 STARTED", "app#0 CREATED", "app#0 STARTED",
				"sandbox#0 STOPPED", "app#0 STOPPED 137 Error", "sandbox#1 CREATED", "sandbox#1 STARTED", "app#1 CREATED", "app#1 STARTED",
				"sandbox#1 STOPPED", "app#1 STOPPED 137 Error", "app#0 DELETED", "sandbox#0 DELETED", "sandbox#2 CREATED", "sandbox#2 STARTED",
				"app#2 CREATED", "app#2 STARTED",
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.spec.namespace, tt.spec.name = "ns", "p"
			if diff := cmp.Diff(tt.want, words(lifeOf(t, tt.spec, 25*time.Second, tt.do))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestBackOffGrowsToFiveMinutes(t *testing.T) {
	spec := podSpec{namespace: "ns", name: "p", containers: []containerSpec{{name: "app", life: life{runs: time.Second, exit: exit{code: 1}}}}}
	var waits []time.Duration
	var ended time.Duration
	for _, s := range lifeOf(t, spec, 30*time.Minute, nil) {
		switch {
		case strings.Contains(s.what, "STOPPED"):
			ended = s.at
		case strings.Contains(s.what, "app") && strings.HasSuffix(s.what, "CREATED") && ended > 0:
			waits = append(waits, (s.at - ended).Truncate(time.Second))
		}
	}
	want := []time.Duration{0, 10, 20, 40, 80, 160, 300, 300, 300, 300}
	for i := range want {
		want[i] *= time.Second
	}
	if diff := cmp.Diff(want, waits); diff != "" {
		t.Errorf("back-offs (-want +got):\n%s", diff)
	}
}

func TestOneDeadContainerIsKept(t *testing.T) {
	sn, _ := watch(t, "empty", 1)
	p := sn.startPod(podSpec{namespace: "ns", name: "p", containers: []containerSpec{{name: "app", life: life{runs: time.Second, exit: exit{code: 1}}}}})
	for range 600 {
		sn.advance(sn.now.Add(time.Second))
		dead := slices.DeleteFunc(slices.Clone(p.containers), func(c *container) bool { return !c.exited() })
		if len(dead) > 2 || len(p.containers) > 2 { // two for the moment until the older one is removed
			t.Fatalf("at %v: %d dead of %d containers", sn.now.Sub(epoch), len(dead), len(p.containers))
		}
	}
}

func TestTimesOfAContainer(t *testing.T) {
	sn, _ := watch(t, "empty", 1)
	p := sn.startPod(podSpec{namespace: "ns", name: "p", containers: []containerSpec{{name: "app", life: life{runs: time.Second, exit: exit{code: 4, message: "out"}}}}})
	var got []string
	for len(got) < 3 {
		next, _ := sn.next()
		sn.advance(next)
		c := p.latest("app")
		if c == nil {
			continue
		}
		s := c.status
		line := fmt.Sprintf("%v %v %v %v %d %s %s", s.State, s.CreatedAt > 0, s.StartedAt > 0, s.FinishedAt > 0, s.ExitCode, s.Reason, s.Message)
		if len(got) == 0 || got[len(got)-1] != line {
			got = append(got, line)
		}
	}
	want := []string{
		"CONTAINER_CREATED true false false 0  ", "CONTAINER_RUNNING true true false 0  ", "CONTAINER_EXITED true true true 4 Error out",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
