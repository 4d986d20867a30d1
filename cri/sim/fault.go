package sim

import (
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A Fault is something that can be wrong, to be switched on and off while the
// server runs, whatever the scenario.
type Fault struct {
	Name    string
	Summary string // one line for people
	On      bool
}

type fault struct {
	name, summary string
	begin         func(*stage) (end func())
}

// faults returns the one list of them, in the order in which a picker shows it.
func faults() []fault {
	return []fault{
		{"hung-inspect", "the status call of one container never answers", hangInspect},
		{"hung-list", "ListContainers never answers", hangCalls(Match{Method: "ListContainers"})},
		{"hung-runtime", "no call ever answers, as when the runtime is stopped", hangCalls(Match{})},
		{"slow", "every call takes 300 ms longer", slowCalls},
		{"flaky", "one call in five fails", flakyCalls},
		{"runtime-down", "nothing listens on the socket", takeRuntimeAway},
		{"network-not-ready", "the runtime says that its network is not ready", breakNetwork},
		{"runtime-not-ready", "the runtime says that it is not ready itself", breakRuntime},
		{"churn", "two short-lived pods a second", churnPods},
		{"crashloop", "six pods that keep crashing", crashPods},
		{"overflow", "in turn, more events than the kubelet's channel holds", overflowChannel},
	}
}

func hangCalls(m Match) func(*stage) func() {
	return func(st *stage) func() { return st.rules.add(&rule{match: m, hold: make(chan struct{})}) }
}

func slowCalls(st *stage) func() { return st.rules.add(&rule{delay: 300 * time.Millisecond}) }

func flakyCalls(st *stage) func() {
	return st.rules.add(&rule{odds: 0.2, left: -1, errs: []error{
		status.Error(codes.Unavailable, "transport is closing"),
		status.Error(codes.Unknown, "failed to get sandbox ip: check network namespace closed: input/output error"),
		status.Error(codes.Internal, "ttrpc: closed"),
		status.Error(codes.DeadlineExceeded, "stream terminated by RST_STREAM with error code: CANCEL"),
	}})
}

func takeRuntimeAway(st *stage) func() {
	st.away = true
	return func() { st.away = false }
}

func breakNetwork(st *stage) func() {
	st.networkBad = true
	return func() { st.networkBad = false }
}

func breakRuntime(st *stage) func() {
	st.runtimeBad = true
	return func() { st.runtimeBad = false }
}

// hangInspect hangs the status of one container, and lets its pod change so
// that a relist has a reason to ask for it.
func hangInspect(st *stage) func() {
	c := st.victim()
	if c == nil {
		return func() {}
	}
	end := hangCalls(Match{Method: "ContainerStatus", Pod: c.pod.ref(), Container: c.spec.name})(st)
	last := c.pod.running()[len(c.pod.running())-1]
	st.exitContainer(last, exit{code: 1, message: "stale file handle"})
	return end
}

// victim returns a running container for hangInspect: that of a client of a
// network file system if there is one, else of some pod outside kube-system.
// It prefers pods with a second container to change. It returns nil where
// nothing runs.
func (w *world) victim() *container {
	var best *container
	worth := 0
	for _, p := range w.pods {
		running := p.running()
		if len(running) == 0 || p.deleting {
			continue
		}
		score := 1
		if strings.Contains(p.spec.name, "nfs") {
			score += 4
		}
		if p.spec.namespace != "kube-system" {
			score += 2
		}
		if len(running) > 1 {
			score++
		}
		if score > worth {
			best, worth = running[0], score
		}
	}
	return best
}

func churnPods(st *stage) func() {
	return st.startWhile(500*time.Millisecond, func() *pod {
		p := st.startPod(deployed(st.world, "load", "runner", imageRunner, life{stops: 200 * time.Millisecond, stopCode: 143}))
		st.after(st.between(5*time.Second, 7*time.Second), func() { st.deletePod(p) })
		return p
	})
}

// startWhile starts a pod with each period until it is told to stop; then it
// deletes those that are left.
func (st *stage) startWhile(period time.Duration, start func() *pod) (stop func()) {
	made := map[*pod]bool{}
	end := st.every(period, func() {
		for p := range made {
			if len(p.sandboxes) == 0 && p.deleting {
				delete(made, p)
			}
		}
		made[start()] = true
	})
	return func() {
		end()
		for _, p := range st.pods { // not over the map: its order is random
			if made[p] {
				st.deletePod(p)
			}
		}
	}
}

func crashPods(st *stage) func() {
	var made []*pod
	for i := range 6 {
		made = append(made, st.startPod(crasher(st.world, i)))
	}
	return func() {
		for _, p := range made {
			st.deletePod(p)
		}
	}
}

// crashes are how the containers of crashing pods end, in turn.
var crashes = []exit{
	{code: 1, message: "panic: dial tcp 10.96.14.2:5432: connect: connection refused"},
	{code: 137, reason: "OOMKilled"},
	{code: 2},
	{code: 139},
	{code: 127, message: "exec: \"/app/start.sh\": no such file or directory"},
	{code: 0},
}

// crasher returns a pod that runs a little while and then crashes.
func crasher(w *world, i int) podSpec {
	names := [...]string{"ledger", "search", "importer", "thumbnailer", "mailer", "sync"}
	runs := time.Duration(1500+500*(i%5)) * time.Millisecond
	return deployed(w, "staging", names[i%len(names)], imageApp, life{runs: runs, exit: crashes[i%len(crashes)]})
}

// overflowChannel has, in turn, a sync loop that reads no events because the
// runtime says that it is not ready, and meanwhile the events of 450 jobs: their pods start
// and end all the same, since their workers were told to before.
func overflowChannel(st *stage) func() {
	const jobs = 450
	var made []*pod
	begin := func() {
		for i := range jobs {
			st.after(time.Duration(i)*12*time.Millisecond, func() { made = append(made, st.startPod(burst(st.world))) })
		}
	}
	cleanUp := func() {
		for i, p := range made {
			st.after(time.Duration(i)*12*time.Millisecond, func() { st.deletePod(p) })
		}
		made = nil
	}
	stop := st.laps(50*time.Second, append(
		st.switches("runtime-not-ready", 3*time.Second, 30*time.Second), beat{10 * time.Second, begin}, beat{33 * time.Second, cleanUp}))
	return func() {
		stop()
		_ = st.set("runtime-not-ready", false) // the name is one of ours
		st.after(6*time.Second, cleanUp)       // when the last of a burst has been started
	}
}

// burst returns the pod of a short job on the host's network.
func burst(w *world) podSpec {
	spec := job(w, "batch", "shard", 3*time.Second)
	spec.hostNetwork = true
	return spec
}
