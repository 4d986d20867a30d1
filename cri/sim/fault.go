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
	begin         func(*scene) (end func())
}

// faults returns the one list of them, in the order in which a picker shows it.
func faults() []fault {
	return []fault{
		{"hung-inspect", "the status call of one container never answers", toVictim(hangInspect)},
		{"hung-list", "ListContainers never answers", hangCalls(Match{Method: "ListContainers"})},
		{"hung-runtime", "no call ever answers, as when the runtime is stopped", stopRuntime},
		{"status-lock", "the status call of one container and both lists never answer", toVictim(lockStatus)},
		{"deadlock", "no call but Version ever answers", deadlock},
		{"inspect-failing", "the status call of one container fails", toVictim(failInspect)},
		{"slow", "every call takes 300 ms longer", slowCalls(300*time.Millisecond, 0)},
		{"runtime-slow", "every call takes about 1.2 s longer", slowCalls(1200*time.Millisecond, 150*time.Millisecond)},
		{"flaky", "one call in five fails", flakyCalls},
		{"runtime-down", "nothing listens on the socket", sets(func(sn *scene) *bool { return &sn.away })},
		{"network-not-ready", "the runtime says that its network is not ready", sets(func(sn *scene) *bool { return &sn.networkBad })},
		{"runtime-not-ready", "the runtime says that it is not ready itself", sets(func(sn *scene) *bool { return &sn.runtimeBad })},
		{"ghost", "the process of one container is gone, and the runtime does not notice", toVictim(makeGhost)},
		{"clock-step", "the node's clock is two minutes ahead", stepClock},
		{"churn", "two short-lived pods a second", churnPods},
		{"churn-storm", "300 pods are replaced every minute, and status calls take 40 ms longer", stormPods},
		{"crashloop", "six pods that keep crashing", crashPods},
		{"overflow", "in turn, more events than the kubelet's channel holds", overflowChannel},
	}
}

func hangCalls(m Match) func(*scene) func() {
	return func(sn *scene) func() { return sn.rules.add(&rule{match: m, hold: make(chan struct{})}) }
}

func slowCalls(delay, spread time.Duration) func(*scene) func() {
	return func(sn *scene) func() { return sn.rules.add(&rule{delay: delay, spread: spread}) }
}

func flakyCalls(sn *scene) func() {
	return sn.rules.add(&rule{odds: 0.2, left: -1, errs: []error{
		status.Error(codes.Unavailable, "transport is closing"),
		status.Error(codes.Unknown, "failed to get sandbox ip: check network namespace closed: input/output error"),
		status.Error(codes.Internal, "ttrpc: closed"),
		status.Error(codes.DeadlineExceeded, "stream terminated by RST_STREAM with error code: CANCEL"),
	}})
}

// sets makes something true of the runtime or its process.
func sets(what func(*scene) *bool) func(*scene) func() {
	return func(sn *scene) func() {
		to := func(v bool) {
			*what(sn) = v
			sn.changes++
		}
		to(true)
		return func() { to(false) }
	}
}

// stopRuntime does what SIGSTOP does: the socket takes calls, nobody reads them.
func stopRuntime(sn *scene) func() {
	return ends(sets(func(sn *scene) *bool { return &sn.stopped })(sn), hangCalls(Match{})(sn))
}

// toVictim does something to one container; nothing where none runs.
func toVictim(do func(*scene, *container) func()) func(*scene) func() {
	return func(sn *scene) func() {
		if c := sn.victim(); c != nil {
			return do(sn, c)
		}
		return func() {}
	}
}

// hangInspect hangs the status of one container, and lets its pod change so
// that a relist has a reason to ask for it.
func hangInspect(sn *scene, c *container) func() {
	end := sn.hold(c)
	last := c.pod.running()[len(c.pod.running())-1]
	sn.exitContainer(last, exit{code: 1, message: "stale file handle"})
	return end
}

// hold hangs the status of a container, and the container's process with it.
func (sn *scene) hold(c *container) (release func()) {
	end := hangCalls(Match{Method: "ContainerStatus", Pod: c.pod.ref(), Container: c.spec.name})(sn)
	sn.setFate(c, stuck)
	return func() {
		sn.setFate(c, alive)
		end()
	}
}

// lockStatus holds the status of one container as a runtime does that keeps a
// lock on it while its process does not answer. Lists look at every status,
// whatever their filter, and so hang too.
func lockStatus(sn *scene, c *container) func() {
	return ends(sn.hold(c), hangCalls(Match{Method: "ListPodSandbox"})(sn), hangCalls(Match{Method: "ListContainers"})(sn))
}

// ends returns what ends all of them.
func ends(all ...func()) func() {
	return func() {
		for _, end := range all {
			end()
		}
	}
}

func deadlock(sn *scene) func() {
	return sn.rules.add(&rule{hold: make(chan struct{}), spare: "Version"})
}

// failInspect fails the status of one container with what a runtime says that
// lists a container which its store has lost. The code is not NotFound, and so
// the kubelet asks again and again. Its pod changes, so that there is a first time.
func failInspect(sn *scene, c *container) func() {
	end := sn.rules.add(&rule{
		match: Match{Method: "ContainerStatus", ID: c.id}, odds: 1, left: -1,
		errs: []error{status.Error(codes.Unknown, "Error: No such container: "+c.id)},
	})
	if others := c.pod.running()[1:]; len(others) > 0 {
		sn.exitContainer(others[0], exit{code: 1})
	}
	return end
}

// makeGhost ends the process of one container behind the runtime's back. When
// the fault is over the runtime has noticed.
func makeGhost(sn *scene, c *container) func() {
	sn.setFate(c, gone)
	return func() {
		sn.setFate(c, alive)
		sn.exitContainer(c, exit{code: 137})
	}
}

// stepClock sets the node's clock ahead: what is made from now on bears times
// that for everybody else are in the future.
func stepClock(sn *scene) func() {
	const step = 2 * time.Minute
	sn.skew += step
	return func() { sn.skew -= step }
}

// victim returns a running container to do something to: that of a client of a
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
