package sim

import (
	"fmt"
	"strings"
	"time"
)

// A Scenario is one world that Start can show.
type Scenario struct {
	Name    string
	Summary string // one line for people
}

type scenario struct {
	Scenario
	speed     float64
	processes bool // the node shows them: [Server.HostRoot]
	unlisted  bool
	build     func(*stage)
}

// scenarios is the one list of them, the default first.
var scenarios = []scenario{
	{Scenario{"tour", "all that pods do, in a minute: rolling update, crash loop, job, OOM kill, new sandbox, deletion"}, 1, true, false, tour},
	{Scenario{"quiet", "110 pods of 2 containers, and nothing happens"}, 1, false, false, still(110, 2)},
	{Scenario{"churn", "short-lived pods come and go, two a second"}, 1, false, false, with("churn")},
	{Scenario{"crashloop", "a dozen pods crash, again and again, with growing back-off"}, 1, true, false, crashing},
	{Scenario{"big", "1,000 pods of 3 containers, and nothing happens"}, 1, false, false, still(1000, 3)},
	{Scenario{"slow", "every call takes 300 ms longer"}, 1, true, false, with("slow")},
	{Scenario{"hung-inspect", "after 5 s the status of one container, on a dead NFS server, never answers"}, 1, true, false, soon("hung-inspect")},
	{Scenario{"hung-list", "after 5 s ListContainers never answers"}, 1, true, false, soon("hung-list")},
	{Scenario{"flaky", "one call in five fails"}, 1, true, false, with("flaky")},
	{Scenario{"restart", "every 20 s the runtime goes away for 6 s"}, 1, true, false, restarting},
	{Scenario{"overflow", "the runtime is not ready, nobody reads the events of 450 jobs, and the event channel overflows; then all is well again"}, 1, false, false, overflowing},
	{Scenario{"unhealthy", "nine times as fast: the list hangs, PLEG is unhealthy after 20 s, recovers after 25 s, then again"}, 9, true, false, unhealthy},
	{Scenario{"flapping", "fifteen times as fast: PLEG is unhealthy for 3 s, healthy for 13 s, and so on"}, 15, true, false, flapping},
	{Scenario{"inspect-failing", "the status of one container fails, relist after relist"}, 1, true, false, with("inspect-failing")},
	{Scenario{"list-too-big", "20,000 dead containers pile up; after 30 s the list of them exceeds 16 MiB and fails"}, 1, false, false, pileUp},
	{Scenario{"status-lock", "after 5 s the status of one container is held, and both lists hang with it"}, 1, true, false, soon("status-lock")},
	{Scenario{"deadlock", "after 5 s no call but Version answers"}, 1, true, false, soon("deadlock")},
	{Scenario{"runtime-slow", "every call takes about 1.2 s"}, 1, true, false, sluggish},
	{Scenario{"churn-storm", "every minute 300 pods are replaced at once, and each status call takes 40 ms: a relist takes long"}, 1, false, false, storming},
	{Scenario{"not-ready", "the runtime says that it is not ready"}, 1, true, false, with("runtime-not-ready")},
	{Scenario{"network-not-ready", "the runtime says that its network plugin is not ready"}, 1, true, false, with("network-not-ready")},
	{Scenario{"ghost", "the runtime says that a container runs, but its process is gone"}, 1, true, false, with("ghost")},
	{Scenario{"clock-step", "after 5 s the node's clock jumps ahead by two minutes"}, 1, true, false, soon("clock-step")},
	{Scenario{"empty", "a node without pods, for tests to fill"}, 1, false, true, func(*stage) {}},
}

// Scenarios returns the scenarios that people can choose, the default first.
func Scenarios() []Scenario {
	var all []Scenario
	for _, sc := range scenarios {
		if !sc.unlisted {
			all = append(all, sc.Scenario)
		}
	}
	return all
}

// scenarioNamed returns the scenario of that name, or the first for "".
func scenarioNamed(name string) (scenario, error) {
	if name == "" {
		return scenarios[0], nil
	}
	var names []string
	for _, sc := range scenarios {
		if sc.Name == name {
			return sc, nil
		}
		if !sc.unlisted {
			names = append(names, sc.Name)
		}
	}
	return scenario{}, fmt.Errorf("no scenario named %q; there are: %s", name, strings.Join(names, ", "))
}

// settle places the residents of an ordinary node and returns them.
func (st *stage) settle() []*pod {
	var all []*pod
	for _, spec := range residents(st.world) {
		restarts := uint32(0)
		if st.rng.IntN(5) == 0 {
			restarts = 1 + st.rng.Uint32N(4)
		}
		all = append(all, st.placePod(spec, st.between(3*time.Hour, 400*time.Hour), restarts))
	}
	return all
}

// applications are what the pods of a big node belong to.
var applications = [...][2]string{
	{"shop", "checkout"}, {"shop", "cart"}, {"shop", "frontend"}, {"monitoring", "prometheus"}, {"platform", "gateway"},
	{"identity", "login"}, {"data", "importer"}, {"kube-system", "coredns"}, {"shop", "search"}, {"default", "mailer"},
	{"data", "replicator"}, {"platform", "scheduler"}, {"monitoring", "grafana"}, {"shop", "payments"}, {"staging", "checkout"},
}

// still returns a world of that many pods in which nothing happens.
func still(pods, containers int) func(*stage) {
	specs := []containerSpec{one("app", imageApp), one("proxy", imageProxy), one("logs", imageLogs)}[:containers]
	return func(st *stage) {
		var hashes [len(applications)]string
		for i := range hashes {
			hashes[i] = st.hash()
		}
		for i := range pods {
			app := applications[i%len(applications)]
			spec := st.replica(plain(app[0], app[1], specs...), hashes[i%len(hashes)])
			st.placePod(spec, st.between(time.Hour, 300*time.Hour), 0)
		}
	}
}

// with returns the tour with a fault from the start.
func with(fault string) func(*stage) {
	return func(st *stage) {
		tour(st)
		_ = st.set(fault, true) // the name is one of ours
	}
}

// soon returns the tour with a fault from its fifth second on.
func soon(fault string) func(*stage) {
	return func(st *stage) {
		tour(st)
		st.after(5*time.Second, func() { _ = st.set(fault, true) }) // the name is one of ours
	}
}

func crashing(st *stage) {
	st.settle()
	for i := range 12 {
		st.startPod(crasher(st.world, i))
	}
}

func restarting(st *stage) {
	tour(st)
	st.laps(20*time.Second, st.switches("runtime-down", 8*time.Second, 14*time.Second))
}

func overflowing(st *stage) {
	st.settle()
	_ = st.set("overflow", true) // the name is one of ours
}

// unhealthy hangs the list for longer than the threshold of three minutes. The
// list before it is then at least as old, although the kubelet gives up on the
// call after two minutes and asks again.
func unhealthy(st *stage) {
	st.settle()
	st.startPod(deployed(st.world, "shop", "checkout", imageApp, life{runs: 40 * time.Second}))
	st.laps(330*time.Second, st.switches("hung-list", 5*time.Second, 225*time.Second))
}

// flapping hangs the list as unhealthy does, and again as soon as PLEG has
// recovered: it is unhealthy for 40 s of every four minutes.
func flapping(st *stage) {
	st.settle()
	st.laps(4*time.Minute, st.switches("hung-list", 5*time.Second, 225*time.Second))
}

// sluggish has few pods: with a call each 1.2 s a relist of the tour would take
// minutes.
func sluggish(st *stage) {
	st.settle()
	st.laps(20*time.Second, []beat{{3 * time.Second, func() {
		p := st.startPod(job(st.world, "backup", 1500*time.Millisecond))
		st.after(9*time.Second, func() { st.deletePod(p) })
	}}})
	_ = st.set("runtime-slow", true) // the name is one of ours
}

func storming(st *stage) {
	st.settle()
	_ = st.set("churn-storm", true) // the name is one of ours
}
