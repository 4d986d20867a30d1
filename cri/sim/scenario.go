package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A Scenario is one world that Start can show.
type Scenario struct {
	Name    string
	Summary string // one line for people
}

// A Fault is something that can be wrong, to be switched on and off while the
// server runs, whatever the scenario.
type Fault struct {
	Name    string
	Summary string // one line for people
	On      bool
}

// A scenario is the pods of a node, what goes wrong there, and what else
// happens. What goes wrong can also be switched on and off while another one plays.
type scenario struct {
	name    string
	summary string  // one line for people; empty: they cannot choose it
	speed   float64 // 0: as fast as the real clock
	bare    bool    // the node does not show its processes: [Server.HostRoot]

	pods func(*scene) // places them, and has them do what they do by themselves; nil: only a fault

	wrong string        // what goes wrong, one line; empty: nothing
	fault fault         // has it go wrong
	at    time.Duration // when, if the scenario is chosen

	steps []step        // beside that
	cycle time.Duration // after which the steps are taken again; 0: never
}

// A fault has something go wrong and returns what undoes it.
type fault func(*scene) (undo func())

// A step is something that happens at one moment of a scenario or of its cycle.
type step struct {
	at time.Duration
	do func(*scene)
}

// scenarios returns the one list of them, and of the faults; the default is first.
func scenarios() []scenario {
	return []scenario{
		{name: "tour", summary: "all that pods do, in a minute: rolling update, crash loop, job, OOM kill, new sandbox, deletion", pods: tour},
		{name: "quiet", summary: "110 pods of 2 containers, and nothing happens", bare: true, pods: still(110, 2)},
		{
			name: "churn", summary: "short-lived pods come and go, two a second", bare: true, pods: tour,
			wrong: "two short-lived pods a second", fault: churnPods,
		},
		{
			name: "crashloop", summary: "a dozen pods crash, again and again, with growing back-off", pods: ordinary,
			wrong: "a dozen pods that keep crashing", fault: crashPods,
		},
		{name: "big", summary: "1,000 pods of 3 containers, and nothing happens", bare: true, pods: still(1000, 3)},
		{
			name: "slow", summary: "every call takes 300 ms longer", pods: tour,
			wrong: "every call takes 300 ms longer", fault: calls(rule{delay: 300 * time.Millisecond}),
		},
		{
			name: "hung-inspect", summary: "after 5 s the status of one container, on a dead NFS server, never answers", pods: tour,
			wrong: "the status call of one container never answers", fault: toVictim(hangInspect), at: 5 * time.Second,
		},
		{
			name: "hung-list", summary: "after 5 s ListContainers never answers", pods: tour,
			wrong: "ListContainers never answers", fault: hang(Match{Method: "ListContainers"}), at: 5 * time.Second,
		},
		{
			name:  "hung-runtime",
			wrong: "no call ever answers, as when the runtime is stopped", fault: both(sets(func(sn *scene) *bool { return &sn.stopped }), hang(Match{})),
		},
		{
			name: "flaky", summary: "one call in five fails", pods: tour,
			wrong: "one call in five fails", fault: calls(rule{odds: 0.2, left: -1, errs: []error{
				status.Error(codes.Unavailable, "transport is closing"),
				status.Error(codes.Unknown, "failed to get sandbox ip: check network namespace closed: input/output error"),
				status.Error(codes.Internal, "ttrpc: closed"),
				status.Error(codes.DeadlineExceeded, "stream terminated by RST_STREAM with error code: CANCEL"),
			}}),
		},
		{
			name:  "runtime-down",
			wrong: "nothing listens on the socket", fault: sets(func(sn *scene) *bool { return &sn.away }),
		},
		{
			name: "restart", summary: "every 20 s the runtime goes away for 6 s", pods: tour,
			steps: []step{{8 * time.Second, on("runtime-down")}, {14 * time.Second, off("runtime-down")}}, cycle: 20 * time.Second,
		},
		{
			name: "overflow", summary: "the runtime is not ready, nobody reads the events of 450 jobs, and the event channel overflows; then all is well again",
			bare: true, pods: ordinary, wrong: "in turn, more events than the kubelet's channel holds", fault: overflowChannel,
		},
		// The list hangs for longer than the threshold of three minutes. The list
		// before it is then at least as old, although the kubelet gives up on the call
		// after two minutes and asks again.
		{
			name: "unhealthy", summary: "nine times as fast: the list hangs, PLEG is unhealthy after 20 s, recovers after 25 s, then again", speed: 9, pods: restless,
			steps: []step{{5 * time.Second, on("hung-list")}, {225 * time.Second, off("hung-list")}}, cycle: 330 * time.Second,
		},
		// The same, and again as soon as PLEG has recovered: it is unhealthy for 40 s
		// of every four minutes.
		{
			name: "flapping", summary: "fifteen times as fast: PLEG is unhealthy for 3 s, healthy for 13 s, and so on", speed: 15, pods: ordinary,
			steps: []step{{5 * time.Second, on("hung-list")}, {225 * time.Second, off("hung-list")}}, cycle: 4 * time.Minute,
		},
		{
			name: "inspect-failing", summary: "the status of one container fails, relist after relist", pods: tour,
			wrong: "the status call of one container fails", fault: toVictim(failInspect),
		},
		{name: "list-too-big", summary: "20,000 dead containers pile up; after 30 s the list of them exceeds 16 MiB and fails", bare: true, pods: listTooBig},
		{
			name: "status-lock", summary: "after 5 s the status of one container is held, and both lists hang with it", pods: tour,
			wrong: "the status call of one container and both lists never answer", fault: toVictim(lockStatus), at: 5 * time.Second,
		},
		{
			name: "deadlock", summary: "after 5 s no call but Version answers", pods: tour,
			wrong: "no call but Version ever answers", fault: calls(rule{hangs: true, spare: "Version"}), at: 5 * time.Second,
		},
		// Few pods: with a call each 1.2 s a relist of the tour would take minutes.
		{
			name: "runtime-slow", summary: "every call takes about 1.2 s", pods: ordinary,
			wrong: "every call takes about 1.2 s longer", fault: calls(rule{delay: 1200 * time.Millisecond, spread: 150 * time.Millisecond}),
			steps: []step{{3 * time.Second, runBackup(9 * time.Second)}}, cycle: 20 * time.Second,
		},
		{
			name: "churn-storm", summary: "every minute 300 pods are replaced at once, and each status call takes 40 ms: a relist takes long", bare: true, pods: ordinary,
			wrong: "300 pods are replaced every minute, and status calls take 40 ms longer", fault: both(stormPods, slowStatus),
		},
		{
			name:  "runtime-not-ready",
			wrong: "the runtime says that it is not ready itself", fault: sets(func(sn *scene) *bool { return &sn.runtimeBad }),
		},
		{name: "not-ready", summary: "the runtime says that it is not ready", pods: tour, steps: []step{{0, on("runtime-not-ready")}}},
		{
			name: "network-not-ready", summary: "the runtime says that its network plugin is not ready", pods: tour,
			wrong: "the runtime says that its network is not ready", fault: sets(func(sn *scene) *bool { return &sn.networkBad }),
		},
		{
			name: "ghost", summary: "the runtime says that a container runs, but its process is gone", pods: tour,
			wrong: "the process of one container is gone, and the runtime does not notice", fault: toVictim(makeGhost),
		},
		{
			name: "clock-step", summary: "after 5 s the node's clock jumps ahead by two minutes", pods: tour,
			wrong: "the node's clock is two minutes ahead", fault: stepClock, at: 5 * time.Second,
		},
		{name: "empty", bare: true, pods: func(*scene) {}}, // for tests to fill
		{name: "dead", bare: true, pods: func(sn *scene) { // to measure with
			sn.placeResidents()
			sn.placeDeadContainers(12000, 40*time.Hour)
		}},
	}
}

// Scenarios returns the scenarios that people can choose, the default first.
func Scenarios() []Scenario {
	var all []Scenario
	for _, sc := range scenarios() {
		if sc.summary != "" {
			all = append(all, Scenario{sc.name, sc.summary})
		}
	}
	return all
}

// scenarioNamed returns the scenario of that name, or the first for "".
func scenarioNamed(name string) (scenario, error) {
	all := scenarios()
	i := slices.IndexFunc(all, func(sc scenario) bool { return (sc.name == name || name == "") && sc.pods != nil })
	if i >= 0 {
		return all[i], nil
	}
	var names []string
	for _, sc := range Scenarios() {
		names = append(names, sc.Name)
	}
	return scenario{}, fmt.Errorf("no scenario named %q; there are: %s", name, strings.Join(names, ", "))
}
