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

// A scenario is the pods of a node and what happens to them.
type scenario struct {
	Scenario
	speed     float64 // 0: as fast as the real clock
	processes bool    // the node shows them: [Server.HostRoot]
	unlisted  bool

	pods  func(*scene)  // places them, and has them do what they do by themselves
	steps []step        // beside that; one at 0 is taken once, at the start
	cycle time.Duration // after which the steps are taken again; 0: never
}

// scenarios is the one list of them, the default first.
var scenarios = []scenario{
	{Scenario: Scenario{"tour", "all that pods do, in a minute: rolling update, crash loop, job, OOM kill, new sandbox, deletion"}, processes: true, pods: tour},
	{Scenario: Scenario{"quiet", "110 pods of 2 containers, and nothing happens"}, pods: still(110, 2)},
	{Scenario: Scenario{"churn", "short-lived pods come and go, two a second"}, pods: tour, steps: []step{{0, on("churn")}}},
	{Scenario: Scenario{"crashloop", "a dozen pods crash, again and again, with growing back-off"}, processes: true, pods: crashing},
	{Scenario: Scenario{"big", "1,000 pods of 3 containers, and nothing happens"}, pods: still(1000, 3)},
	{Scenario: Scenario{"slow", "every call takes 300 ms longer"}, processes: true, pods: tour, steps: []step{{0, on("slow")}}},
	{
		Scenario:  Scenario{"hung-inspect", "after 5 s the status of one container, on a dead NFS server, never answers"},
		processes: true, pods: tour, steps: []step{{5 * time.Second, on("hung-inspect")}},
	},
	{Scenario: Scenario{"hung-list", "after 5 s ListContainers never answers"}, processes: true, pods: tour, steps: []step{{5 * time.Second, on("hung-list")}}},
	{Scenario: Scenario{"flaky", "one call in five fails"}, processes: true, pods: tour, steps: []step{{0, on("flaky")}}},
	{
		Scenario:  Scenario{"restart", "every 20 s the runtime goes away for 6 s"},
		processes: true, pods: tour, steps: []step{{8 * time.Second, on("runtime-down")}, {14 * time.Second, off("runtime-down")}}, cycle: 20 * time.Second,
	},
	{
		Scenario: Scenario{"overflow", "the runtime is not ready, nobody reads the events of 450 jobs, and the event channel overflows; then all is well again"},
		pods:     ordinary, steps: []step{{0, on("overflow")}},
	},
	// The list hangs for longer than the threshold of three minutes. The list
	// before it is then at least as old, although the kubelet gives up on the call
	// after two minutes and asks again.
	{
		Scenario: Scenario{"unhealthy", "nine times as fast: the list hangs, PLEG is unhealthy after 20 s, recovers after 25 s, then again"},
		speed:    9, processes: true, pods: restless, steps: []step{{5 * time.Second, on("hung-list")}, {225 * time.Second, off("hung-list")}}, cycle: 330 * time.Second,
	},
	// The same, and again as soon as PLEG has recovered: it is unhealthy for 40 s
	// of every four minutes.
	{
		Scenario: Scenario{"flapping", "fifteen times as fast: PLEG is unhealthy for 3 s, healthy for 13 s, and so on"},
		speed:    15, processes: true, pods: ordinary, steps: []step{{5 * time.Second, on("hung-list")}, {225 * time.Second, off("hung-list")}}, cycle: 4 * time.Minute,
	},
	{
		Scenario:  Scenario{"inspect-failing", "the status of one container fails, relist after relist"},
		processes: true, pods: tour, steps: []step{{0, on("inspect-failing")}},
	},
	{Scenario: Scenario{"list-too-big", "20,000 dead containers pile up; after 30 s the list of them exceeds 16 MiB and fails"}, pods: listTooBig},
	{
		Scenario:  Scenario{"status-lock", "after 5 s the status of one container is held, and both lists hang with it"},
		processes: true, pods: tour, steps: []step{{5 * time.Second, on("status-lock")}},
	},
	{Scenario: Scenario{"deadlock", "after 5 s no call but Version answers"}, processes: true, pods: tour, steps: []step{{5 * time.Second, on("deadlock")}}},
	// Few pods: with a call each 1.2 s a relist of the tour would take minutes.
	{
		Scenario:  Scenario{"runtime-slow", "every call takes about 1.2 s"},
		processes: true, pods: ordinary, steps: []step{{0, on("runtime-slow")}, {3 * time.Second, runBackup(9 * time.Second)}}, cycle: 20 * time.Second,
	},
	{
		Scenario: Scenario{"churn-storm", "every minute 300 pods are replaced at once, and each status call takes 40 ms: a relist takes long"},
		pods:     ordinary, steps: []step{{0, on("churn-storm")}},
	},
	{Scenario: Scenario{"not-ready", "the runtime says that it is not ready"}, processes: true, pods: tour, steps: []step{{0, on("runtime-not-ready")}}},
	{
		Scenario:  Scenario{"network-not-ready", "the runtime says that its network plugin is not ready"},
		processes: true, pods: tour, steps: []step{{0, on("network-not-ready")}},
	},
	{Scenario: Scenario{"ghost", "the runtime says that a container runs, but its process is gone"}, processes: true, pods: tour, steps: []step{{0, on("ghost")}}},
	{
		Scenario:  Scenario{"clock-step", "after 5 s the node's clock jumps ahead by two minutes"},
		processes: true, pods: tour, steps: []step{{5 * time.Second, on("clock-step")}},
	},
	{Scenario: Scenario{"empty", "a node without pods, for tests to fill"}, unlisted: true, pods: func(*scene) {}},
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

// placeResidents places the residents of an ordinary node and returns them.
func (sn *scene) placeResidents() []*pod {
	var all []*pod
	for _, spec := range residents(sn.world) {
		restarts := uint32(0)
		if sn.rng.IntN(5) == 0 {
			restarts = 1 + sn.rng.Uint32N(4)
		}
		all = append(all, sn.placePod(spec, sn.between(3*time.Hour, 400*time.Hour), restarts))
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
func still(pods, containers int) func(*scene) {
	specs := []containerSpec{one("app", imageApp), one("proxy", imageProxy), one("logs", imageLogs)}[:containers]
	return func(sn *scene) {
		var hashes [len(applications)]string
		for i := range hashes {
			hashes[i] = sn.hash()
		}
		for i := range pods {
			app := applications[i%len(applications)]
			spec := sn.replica(podNamed(app[0], app[1], specs...), hashes[i%len(hashes)])
			sn.placePod(spec, sn.between(time.Hour, 300*time.Hour), 0)
		}
	}
}

// ordinary is a node of residents alone.
func ordinary(sn *scene) { sn.placeResidents() }

func crashing(sn *scene) {
	sn.placeResidents()
	for i := range 12 {
		sn.startPod(crasher(sn.world, i))
	}
}

// restless has a pod that gives every relist something to find.
func restless(sn *scene) {
	sn.placeResidents()
	sn.startPod(deployed(sn.world, "shop", "checkout", imageApp, life{runs: 40 * time.Second}))
}

// runBackup returns what runs a short job, whose pod is deleted after so long.
func runBackup(d time.Duration) func(*scene) {
	return func(sn *scene) {
		p := sn.startPod(job(sn.world, "backup", 1500*time.Millisecond))
		sn.after(d, func() { sn.deletePod(p) })
	}
}
