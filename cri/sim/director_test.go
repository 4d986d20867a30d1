package sim

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/guard"
)

// The words of a log, without its times.
func whats(log []seen) []string {
	var all []string
	for _, s := range log {
		all = append(all, s.what)
	}
	return all
}

func TestFrozenWorldGoesOnWhereItStood(t *testing.T) {
	const at, pause = 9 * time.Second, 42 * time.Minute // so long that back-offs would be forgotten
	plain, want := watch(t, "tour", 3)
	plain.advance(epoch.Add(3 * time.Minute))
	for i, s := range *want {
		if s.at > at {
			(*want)[i].at += pause
		}
	}

	sn, got := watch(t, "tour", 3)
	sn.advance(epoch.Add(at))
	sn.setPace(1, true)
	before := len(*got)
	sn.advance(epoch.Add(at + pause))
	if _, due := sn.next(); due || len(*got) != before {
		t.Errorf("%d things happened while the world was frozen, and more is due: %v", len(*got)-before, due)
	}
	sn.setPace(1, false)
	sn.advance(epoch.Add(3*time.Minute + pause))
	if diff := cmp.Diff(*want, *got, cmp.AllowUnexported(seen{})); diff != "" {
		t.Errorf("with a pause and without (-want +got):\n%s", diff)
	}
}

// What happens in a step bears the time at which somebody took it.
func TestStepsAreTheScriptOneByOne(t *testing.T) {
	plain, want := watch(t, "tour", 3)
	plain.advance(epoch.Add(time.Minute))
	sn, got := watch(t, "tour", 3)
	for now := epoch; len(*got) < len(*want); now = now.Add(20 * time.Second) {
		sn.advance(now)
		before := len(*got)
		if moved := sn.step(); !moved || len(*got) == before {
			t.Fatalf("nothing happened in a step at %v of the script", sn.now.Sub(epoch))
		}
		for _, s := range (*got)[before:] {
			if s.at != now.Sub(epoch) {
				t.Fatalf("%v, want it at %v", s, now.Sub(epoch))
			}
		}
	}
	if diff := cmp.Diff(whats(*want), whats(*got)[:len(*want)]); diff != "" {
		t.Errorf("in steps (-want +got):\n%s", diff)
	}
	still, log := watch(t, "quiet", 1)
	if moved := still.step(); moved || len(*log) != 0 || !still.pace.frozen {
		t.Errorf("a step where nothing happens: %v", *log)
	}
}

// A step comes to an end in every scenario, whatever is switched off there.
func TestStepsEnd(t *testing.T) {
	for _, sc := range playable() {
		for _, calm := range []bool{false, true} {
			sn, _ := watch(t, sc.name, 1)
			if calm {
				sn.advance(epoch.Add(6 * time.Second))
				for fault := range sn.undo {
					off(fault)(sn)
				}
			}
			for range 30 {
				sn.step()
			}
		}
	}
}

func TestScenarioThatFollowsKeepsWhatRuns(t *testing.T) {
	type identity struct{ uid, sandbox, container string }
	ids := func(sn *scene) map[string]identity {
		all := map[string]identity{}
		for _, p := range sn.pods {
			if p.settled() {
				all[p.ref()] = identity{p.uid, p.sandbox().status.Id, p.latest(p.spec.containers[0].name).status.Id}
			}
		}
		return all
	}
	play := func(name string) (*scene, map[string]identity, *[]seen) {
		sn, log := watch(t, "tour", 5)
		now := epoch.Add(23 * time.Second)
		sn.advance(now)
		before := ids(sn)
		sn.setFate(sn.victim(), gone)
		release := sn.addRule(Rule{Hangs: true})
		held := sn.decide(Call{}).holds[0]
		sc, err := scenarioNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		next := newScene(sc, 5, now, sn)
		select {
		case <-held:
		default:
			t.Error("a call is held for ever")
		}
		release() // does no harm
		next.advance(now.Add(startTime + 2*time.Second))
		if told := (*log)[len(*log)-1].at; told < 23*time.Second {
			t.Errorf("%s: nothing is told of what happened after %v", name, told)
		}
		return next, before, log
	}
	for name, kept := range map[string]int{"tour": 15, "churn-storm": 10, "quiet": 0} {
		next, before, log := play(name)
		same := 0
		for ref, is := range ids(next) {
			if is == before[ref] {
				same++
			}
		}
		if diff := cmp.Diff(processes(next), next.pids); diff != "" || len(next.before.pods) > 0 || next.before.before != nil {
			t.Errorf("%s: the world before is still held; processes (-want +got):\n%s", name, diff)
		}
		if same < kept {
			t.Errorf("%s: %d pods were kept, want at least %d", name, same, kept)
		}
		for _, c := range next.containers {
			if next.containerOf[c.status.Id] != c || c.fate != alive || made(c.status).After(next.clock) {
				t.Errorf("%s: %s %s is not as it belongs", name, c.pod.ref(), c.spec.name)
			}
		}
		for _, p := range next.pods {
			if before[p.ref()].uid == p.uid && len(p.backoffs) > 0 {
				t.Errorf("%s: %s is still held back", name, p.ref())
			}
			if was := before[p.ref()]; p.settled() && was.uid != p.uid && made(p.sandbox().status).Before(epoch.Add(23*time.Second)) {
				t.Errorf("%s: %s came now and says it was made at %v", name, p.ref(), made(p.sandbox().status))
			}
		}
		again, _, other := play(name)
		if diff := cmp.Diff(ids(next), ids(again), cmp.AllowUnexported(identity{})); diff != "" || !slices.Equal(*log, *other) {
			t.Errorf("%s: twice the same is not the same: %s", name, diff)
		}
	}
}

// processes returns the ids of all that run.
func processes(sn *scene) map[uint32]bool {
	all := map[uint32]bool{}
	for _, s := range sn.sandboxes {
		all[s.pid], all[s.shim] = true, true
	}
	for _, c := range sn.containers {
		all[c.pid] = true
	}
	delete(all, 0)
	return all
}

func TestDirectorWhileClientsAreConnected(t *testing.T) {
	s, err := Start(t.Context(), Config{Scenario: "tour", Seed: 1, Speed: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if p := s.State(); p.Speed != 4 || p.Frozen || p.Scenario != "tour" || p.Acts != 15 {
		t.Errorf("at the start: %+v", p)
	}
	c := dial(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	names := map[string]bool{}
	for i := range len(Scenarios()) {
		clients.Go(func() { _, _ = c.ListContainers(ctx, &cri.ListContainersRequest{}) }) // scenarios have calls fail
		s.Freeze(i%2 == 0)
		s.SetSpeed(float64(i))
		s.Step()
		if p := s.State(); !p.Frozen || p.Speed < MinSpeed || p.Speed > MaxSpeed {
			t.Errorf("after a step: %+v", p)
		}
		if err := s.setFault("slow", i%3 == 0); err != nil {
			t.Error(err)
		}
		s.Restart()
		s.Next(1)
		names[s.State().Scenario] = true
	}
	if len(names) != len(Scenarios()) {
		t.Errorf("%d scenarios played of %d", len(names), len(Scenarios()))
	}
	s.Next(-1)
	cancel()
	clients.Wait()
	for s.State().Scenario != "tour" {
		s.Next(1)
	}
	s.Freeze(false)
	if _, err := c.Version(t.Context(), &cri.VersionRequest{}); err != nil {
		t.Errorf("a client that was there from the start: %v", err)
	}
}

// A scenario with a clock of its own can be reached from any other one and left again.
// The clock goes on from what it shows, and the script no faster than the clock.
func TestClockChangesItsPaceWithTheScenario(t *testing.T) {
	s, err := Start(t.Context(), Config{Scenario: "overflow", Speed: 8})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	before, began := s.Now(), time.Now()
	for _, want := range []struct {
		places   int
		scenario string
		clock    float64
		script   float64
	}{{0, "overflow", 1, 8}, {1, "unhealthy", 9, 1}, {1, "inspect-failing", 1, 1}, {-1, "unhealthy", 9, 1}} {
		s.Next(want.places)
		if p := s.State(); p.Scenario != want.scenario || s.clock.Load().speed != want.clock || p.Speed != want.script {
			t.Errorf("clock %v, %+v, want %+v", s.clock.Load().speed, p, want)
		}
		now := s.Now()
		if passed, took := now.Sub(before), time.Since(began); passed < 0 || passed > 9*took+time.Second {
			t.Errorf("%s: %v passed in %v", want.scenario, passed, took)
		}
		before, began = now, time.Now()
	}
}

func TestPanicIsCaught(t *testing.T) {
	got, panicked := make(chan string, 1), guard.Panicked
	defer func() { guard.Panicked = panicked }()
	guard.Panicked = func(v any, stack []byte) {
		select {
		case got <- fmt.Sprint(v, " ", strings.Contains(string(stack), "TestPanicIsCaught")):
		default:
		}
	}
	s, err := Start(t.Context(), Config{Scenario: "empty", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	calm := make(chan struct{}) // the server has no more to do
	s.edit(func() { s.scene.after(time.Millisecond, func() { close(calm) }) })
	<-calm
	s.direct(func() { s.scene.after(time.Millisecond, func() { panic("boom") }) })
	if text := <-got; text != "boom true" {
		t.Errorf("caught: %s", text)
	}
}

// A scenario that is chosen, or begun anew, while the script is frozen plays: its pods
// would never come.
func TestScenarioThatFollowsPlays(t *testing.T) {
	s, _ := start(t, "quiet")
	for name, follow := range map[string]func(){"next": func() { s.Next(1) }, "restart": s.Restart} {
		s.Freeze(true)
		if follow(); s.State().Frozen {
			t.Errorf("%s: the script stands still", name)
		}
	}
}
