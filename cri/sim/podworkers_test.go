package sim

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/podworker"
)

// run lets a scenario go on, task by task, and returns for how long at most a worker has
// waited for expected events, and how long beyond a deadline.
func run(sn *scene, span time.Duration) (longest, beyond time.Duration) {
	for end := sn.now.Add(span); ; {
		next, ok := sn.next()
		if !ok || next.After(end) {
			sn.advance(end)
			return longest, beyond
		}
		for _, w := range sn.kubelet.set.Read().All {
			if w.State == podworker.WaitsForExpected {
				longest = max(longest, next.Sub(w.Since))
			}
		}
		sn.advance(next)
		if due := sn.kubelet.set.Due(); !due.IsZero() {
			beyond = max(beyond, sn.now.Sub(due))
		}
	}
}

// twice has something happen in a scenario with expected events, and again without. What
// happens must be the same.
func twice(t *testing.T, name string, seed uint64, do func(*scene)) (with, without podworker.Workers) {
	t.Helper()
	var logs [2][]seen
	var all [2]podworker.Workers
	for i := range all {
		sn, log := watch(t, name, seed)
		sn.kubelet.deaf = i == 1
		do(sn)
		all[i], logs[i] = sn.kubelet.set.Read(), *log
	}
	if diff := cmp.Diff(logs[0], logs[1], cmp.AllowUnexported(seen{})); diff != "" {
		t.Errorf("%s: what happens depends on expected events (-with +without):\n%.2000s", name, diff)
	}
	if len(logs[0]) < 5 {
		t.Errorf("%s: only %d transitions", name, len(logs[0]))
	}
	return all[0], all[1]
}

// The figures of docs/measurements.md: how often workers are woken with expected events,
// and how often without, and for how long one waits for those at most. See [run], too.
func TestExpectedEventsSaveWakeUps(t *testing.T) {
	update := func(sn *scene) {
		pods := sn.placeDeployment(sn.checkoutPod, 3)
		sn.after(time.Second, func() { sn.rollOut(pods, sn.checkoutPod, 5*time.Second, 4*time.Second) })
	}
	stuck := func(sn *scene) { sn.startPod(halfStuck()) }
	for _, tt := range []struct {
		what, scenario string
		span           time.Duration
		do             func(*scene)
	}{
		{"a rolling update of 3 pods", "empty", 40 * time.Second, update},
		{"a cycle of the tour", "tour", tourCycle, func(*scene) {}},
		{"10 cycles of the tour", "tour", 10 * tourCycle, func(*scene) {}},
		{"a container that never starts, beside one that ends", "empty", 20 * time.Second, stuck},
	} {
		var longest, beyond time.Duration
		with, without := twice(t, tt.scenario, 1, func(sn *scene) {
			tt.do(sn)
			l, b := run(sn, tt.span)
			longest, beyond = max(longest, l), max(beyond, b)
		})
		t.Logf("%s: %d wake-ups with expected events, %d without; %d syncs, %d without; %d expected events came, %d ran out; "+
			"the longest wait for one %v, beyond a deadline %v",
			tt.what, with.WakeUps, without.WakeUps, with.Syncs, without.Syncs, with.Saved, with.Expired, longest.Round(time.Millisecond), beyond)
		if beyond > 0 || longest > actionTime {
			t.Errorf("%s: a worker has stalled: %v, %v beyond its deadline", tt.what, longest, beyond)
		}
		if with.WakeUps >= without.WakeUps || with.Saved == 0 || without.Saved != 0 || without.Expired != 0 {
			t.Errorf("%s: expected events save nothing", tt.what)
		}
	}
}

// halfStuck is a pod in which the end of one container has to wait for the start of
// another, which never comes.
func halfStuck() podSpec {
	return podSpec{namespace: "ns", name: "p", restart: never, containers: []containerSpec{
		{name: "app", life: life{runs: 2 * time.Second}}, {name: "slow", life: life{stuck: true}},
	}}
}

// workerOf returns the worker of the pod, which it must have.
func workerOf(t *testing.T, all podworker.Workers, uid string) podworker.Worker {
	t.Helper()
	for _, w := range all.All {
		if string(w.Pod.UID) == uid {
			return *w
		}
	}
	t.Fatalf("pod %s has no worker", uid)
	return podworker.Worker{}
}

func TestAWorkerExpectsWhatItDoes(t *testing.T) {
	sn, _ := watch(t, "empty", 1)
	p := sn.startPod(podSpec{namespace: "ns", name: "p", containers: []containerSpec{{name: "app", life: life{stops: 2 * time.Second}}}})
	read := func() podworker.Worker { return workerOf(t, sn.kubelet.set.Read(), p.uid) }
	for read().State != podworker.Syncing {
		run(sn, time.Millisecond)
	}
	if w := read(); len(w.Expected) == 0 || w.Expected[0].Kind != pleg.Started || w.Expected[0].Container != "" {
		t.Errorf("while it starts its sandbox it expects %+v", w.Expected)
	}
	run(sn, 5*time.Second)
	if w := read(); w.State != podworker.Idle || w.Saved != 2 || w.WakeUps != 0 || w.Syncs != 1 || !w.Spared {
		t.Errorf("after its start: %+v", w)
	}
	sn.deletePod(p)
	run(sn, time.Second)
	if w := read(); w.State != podworker.Syncing || len(w.Expected) != 1 || w.Expected[0].Kind != pleg.Died || w.Expected[0].Container != "app" {
		t.Errorf("while it waits for the end of its container: %+v", w)
	}
	run(sn, 10*time.Second)
	if all := sn.kubelet.set.Read(); len(all.All) != 0 || all.WakeUps != 0 || all.Saved != 4 || all.Expired != 0 {
		t.Errorf("after its end: %+v", all)
	}
}

// A container that is never started runs out what is expected of it; nobody stalls.
func TestAnExpectationRunsOut(t *testing.T) {
	sn, _ := watch(t, "empty", 1)
	spec := halfStuck()
	spec.restart = always
	p := sn.startPod(spec)
	run(sn, 4*time.Second)
	if w := workerOf(t, sn.kubelet.set.Read(), p.uid); w.State != podworker.WaitsForExpected || w.Queued != 1 {
		t.Errorf("the end of app has to wait for the start of slow: %+v", w)
	}
	run(sn, 3*time.Second)
	if w := workerOf(t, sn.kubelet.set.Read(), p.uid); w.Expired != 1 || p.latest("app").status.Metadata.Attempt != 1 {
		t.Errorf("%d ran out, app has been started %d times; want 1, 2", w.Expired, p.latest("app").status.Metadata.Attempt+1)
	}
}

// While the lists hang the kubelet sees nothing: no event wakes anybody, and whoever is
// to do something waits for a newer status, until the lists are answered.
func TestWorkersWaitWhileTheListsHang(t *testing.T) {
	sn, _ := watch(t, "empty", 1)
	spec := podSpec{namespace: "ns", name: "p", containers: []containerSpec{{name: "app"}}}
	crashed, deleted := sn.startPod(spec), sn.startPod(spec)
	run(sn, 5*time.Second)
	turn("hung-list", true)(sn)
	sn.exitContainer(crashed.latest("app"), exit{code: 1})
	sn.deletePod(deleted)
	run(sn, 10*time.Minute)
	all := sn.kubelet.set.Read()
	if w := workerOf(t, all, deleted.uid); w.State != podworker.WaitsForStatus || len(deleted.running()) != 0 || !deleted.sandbox().ready() {
		t.Errorf("who is to be deleted has to wait once it has killed its containers: %+v, %d run", w, len(deleted.running()))
	}
	if w := workerOf(t, all, crashed.uid); w.State != podworker.Idle || crashed.latest("app").status.Metadata.Attempt != 0 {
		t.Errorf("who has crashed: %+v", w)
	}
	turn("hung-list", false)(sn)
	run(sn, 10*time.Second)
	if len(sn.pods) != 1 || crashed.latest("app").status.Metadata.Attempt != 1 {
		t.Errorf("%d pods, attempt %d; want what was to be done to be done", len(sn.pods), crashed.latest("app").status.Metadata.Attempt)
	}
}

// A kubelet that gets rid of no pod takes no more than so many.
func TestPodsAreBoundedWhileTheListsHang(t *testing.T) {
	sn, _ := watch(t, "event-drift", 1)
	sn.advance(epoch.Add(10 * time.Second))
	turn("hung-list", true)(sn)
	sn.advance(epoch.Add(time.Hour))
	if n := len(sn.pods); n < mostPods || n > mostPods+20 {
		t.Errorf("%d pods after an hour, want about %d", n, mostPods)
	}
	turn("hung-list", false)(sn)
	sn.advance(epoch.Add(time.Hour + time.Minute))
	if n := len(sn.pods); n > 100 {
		t.Errorf("%d pods a minute after the lists were answered", n)
	}
}

func TestServerWorkers(t *testing.T) {
	s, err := Start(t.Context(), Config{Seed: 1, Dir: t.TempDir(), Ahead: 3 * time.Second, NoExpect: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Freeze(true)
	first := s.Workers()
	if !first.Acting || first.Expecting || len(first.All) < 20 {
		t.Errorf("acting %v, expecting %v, %d workers", first.Acting, first.Expecting, len(first.All))
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				s.Workers()
				s.Step()
			}
		})
	}
	all.Wait()
	if s.Workers().WakeUps == 0 {
		t.Error("nobody was woken")
	}
}

// What is expected keeps its time while the script is frozen, and the times are the clock's.
func TestWorkersShowTheClocksTimes(t *testing.T) {
	p := pace{clock: epoch, script: epoch.Add(-time.Hour), speed: 2}
	w := podworker.Worker{Since: p.script.Add(-2 * time.Second), Expected: []podworker.Expectation{{Until: p.script.Add(4 * time.Second)}}}
	before := w.Expected
	p.show(&w)
	if !w.Since.Equal(epoch.Add(-time.Second)) || !w.Expected[0].Until.Equal(epoch.Add(2*time.Second)) || !w.LastAt.IsZero() {
		t.Errorf("%+v", w)
	}
	if before[0].Until != p.script.Add(4*time.Second) {
		t.Error("what the set has was changed")
	}
}

func TestFrozenExpectations(t *testing.T) {
	s, err := Start(t.Context(), Config{Scenario: "empty", Clock: 1000})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.edit(func() {
		p := s.scene.startPod(podSpec{namespace: "ns", name: "p", containers: []containerSpec{{name: "app"}}})
		s.scene.step()
		for len(workerOf(t, s.scene.kubelet.set.Read(), p.uid).Expected) == 0 {
			s.scene.step()
		}
	})
	left := func() (least, most time.Duration) { // as the clock goes on meanwhile
		before := s.Now()
		until := s.Workers().All[0].Expected[0].Until
		return until.Sub(s.Now()), until.Sub(before)
	}
	_, one := left()
	for passed := s.Now().Add(2 * one); s.Now().Before(passed); {
		runtime.Gosched() // as long as all that is left, twice
	}
	if least, two := left(); one <= 0 || two <= 0 || least > one {
		t.Errorf("%v left, then %v to %v, though the script is frozen", one, least, two)
	}
}

// Of what happens while its lists hang a kubelet sees the sum: what came and went has died,
// and nobody is told that it ever started.
func TestAfterAHangTheKubeletSeesTheSum(t *testing.T) {
	sn, _ := watch(t, "empty", 1)
	p, hangs := sn.placePod(podNamed("ns", "p", one("app", imageApp)), time.Hour, 0), true
	sn.kubelet.ails = func() ailments { return ailments{blind: hangs} }
	c := sn.newContainer(p, &containerSpec{name: "debug"}, sn.clock)
	sn.expect(p, pleg.Started, c.status.Id, "debug", time.Minute)
	sn.run(c, sn.clock)
	sn.end(c, exit{code: 3}, sn.clock)
	sn.advance(epoch.Add(5 * time.Second))
	if w := workerOf(t, sn.kubelet.set.Read(), p.uid); !w.LastAt.IsZero() {
		t.Errorf("while the lists hang its worker is told of %+v", w.Last)
	}
	hangs = false
	sn.advance(epoch.Add(6 * time.Second))
	w := workerOf(t, sn.kubelet.set.Read(), p.uid)
	if w.Last.Kind != pleg.Died || w.Last.ID != c.status.Id || w.Last.ExitCode != 3 || !w.Last.Exited || len(w.Expected) != 1 {
		t.Errorf("its worker: %+v, want it to be told of the death alone", w)
	}
}

// TestKubeletWaitsForItsRuntime holds that a kubelet begins nothing while its runtime says that it
// is not ready, and makes no sandbox but of the host's network while its network is not, and goes on
// once all is well.
func TestKubeletWaitsForItsRuntime(t *testing.T) {
	for name, tt := range map[string]struct {
		bad          func(*scene) *bool
		host, others bool // whether pods start meanwhile
	}{
		"runtime": {func(sn *scene) *bool { return &sn.runtimeBad }, false, false},
		"network": {func(sn *scene) *bool { return &sn.networkBad }, true, false},
	} {
		sn, _ := watch(t, "empty", 1)
		bad := tt.bad(sn)
		*bad = true
		host := sn.startPod(podNamed("ns", "host", one("app", imageApp)).host())
		other := sn.startPod(podNamed("ns", "other", one("app", imageApp)))
		sn.advance(epoch.Add(15 * time.Second))
		if h, o := len(host.running()) > 0, len(other.running()) > 0; h != tt.host || o != tt.others {
			t.Errorf("%s: the pod on the host's network runs: %v, the other: %v", name, h, o)
		}
		*bad = false
		sn.advance(epoch.Add(30 * time.Second))
		if len(host.running()) == 0 || len(other.running()) == 0 {
			t.Errorf("%s: pods do not start once all is well", name)
		}
	}
}
