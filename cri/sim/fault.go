package sim

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// What can go wrong, as the list of scenarios has it: each begins something and
// returns what undoes it.

// calls has calls go wrong as the rule says.
func calls(r Rule) fault { return func(sn *scene) func() { return sn.addRule(r) } }

func isVersion(c Call) bool { return c.Method == "Version" }

// hang holds the calls that m matches.
func hang(m Match) fault { return calls(Rule{Match: m, Hangs: true}) }

// together begins several things, and undoes them in the same order.
func together(faults ...fault) fault {
	return func(sn *scene) func() {
		var undo []func()
		for _, begin := range faults {
			undo = append(undo, begin(sn))
		}
		return func() {
			for _, end := range undo {
				end()
			}
		}
	}
}

// sets makes something true of the runtime or its process.
func sets(what func(*scene) *bool) fault {
	return func(sn *scene) func() {
		to := func(v bool) {
			*what(sn) = v
			sn.changes++
		}
		to(true)
		return func() { to(false) }
	}
}

// toVictim does something to one container; nothing where none runs.
func toVictim(do func(*scene, *container) func()) fault {
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
	undo := sn.hold(c)
	last := c.pod.running()[len(c.pod.running())-1]
	sn.exitContainer(last, exit{code: 1, message: "stale file handle"})
	return undo
}

// hold hangs the status of a container, and its process with it, beside what else is to
// go wrong.
func (sn *scene) hold(c *container, more ...fault) (release func()) {
	undo := together(append(more, hang(statusCall(c)))...)(sn)
	sn.setFate(c, stuck)
	return func() {
		sn.setFate(c, alive)
		undo()
	}
}

// lockStatus holds the status of one container as a runtime does that keeps a
// lock on it while its process does not answer. Lists look at every status,
// whatever their filter, and so hang too.
func lockStatus(sn *scene, c *container) func() {
	return sn.hold(c, hang(Match{Method: "ListPodSandbox"}), hang(Match{Method: "ListContainers"}))
}

// failInspect fails the status of one container with what a runtime says that
// lists a container which its store has lost. The code is not NotFound, and so
// the kubelet asks again and again. Its pod changes, so that there is a first time.
func failInspect(sn *scene, c *container) func() {
	undo := sn.addRule(failing(Match{Method: "ContainerStatus", ID: c.status.Id}, codes.Unknown, fmt.Sprintf("an error occurred when try to find container %q: not found", c.status.Id)))
	if others := c.pod.running()[1:]; len(others) > 0 {
		sn.exitContainer(others[0], exit{code: 1})
	}
	return undo
}

// failing returns a rule by which all calls fail that m matches.
func failing(m Match, code codes.Code, text string) Rule {
	return Rule{Match: m, Errs: []error{status.Error(code, text)}}
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

// comeAndGo starts two pods a second, which live for 6 s and end with an exit code.
func comeAndGo(sn *scene, code int32) func() {
	return sn.every(500*time.Millisecond, func() {
		p := sn.startPod(deployed(sn.world, "load", "runner", imageRunner, life{stops: 200 * time.Millisecond, stopCode: code}))
		sn.after(sn.between(5*time.Second, 7*time.Second), func() { sn.deletePod(p) })
	})
}

// stormPods replaces 300 pods every minute, all at once. A relist has to inspect
// each of them, one after another.
func stormPods(sn *scene) func() {
	var made []*pod
	replace := func() {
		sn.deletePods(made)
		made = nil
		hash := sn.hash()
		for range 300 {
			made = append(made, sn.startPod(sn.replica(podNamed("load", "worker", one("worker", imageApp)), hash)))
		}
	}
	replace()
	stop := sn.every(time.Minute, replace)
	return func() {
		stop()
		sn.deletePods(made)
	}
}

// slowStatus lets status calls take 40 ms longer, more or less.
var slowStatus = together(
	calls(Rule{Match: Match{Method: "ContainerStatus"}, Delay: 40 * time.Millisecond, Spread: 8 * time.Millisecond}),
	calls(Rule{Match: Match{Method: "PodSandboxStatus"}, Delay: 40 * time.Millisecond, Spread: 8 * time.Millisecond}),
)

func (sn *scene) deletePods(all []*pod) {
	for _, p := range all {
		sn.deletePod(p)
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

// crashPods starts pods that run a little while and then crash.
func crashPods(sn *scene) func() {
	names := [...]string{"ledger", "search", "importer", "thumbnailer", "mailer", "sync"}
	var made []*pod
	for i := range 2 * len(names) {
		l := life{runs: time.Duration(1500+500*(i%5)) * time.Millisecond, exit: crashes[i%len(crashes)]}
		made = append(made, sn.startPod(deployed(sn.world, "staging", names[i%len(names)], imageApp, l)))
	}
	return func() { sn.deletePods(made) }
}

// overflowChannel has, in turn, a sync loop that reads no events because the runtime says that it
// is not ready, and meanwhile the ends of the containers of 450 jobs, which began before.
func overflowChannel(sn *scene) func() {
	const jobs, apart, runs = 450, 4 * time.Millisecond, 9 * time.Second
	var made []*pod
	start := func(sn *scene) {
		for i := range jobs {
			sn.after(time.Duration(i)*apart, func() {
				spec := job(sn.world, "shard", runs)
				for _, name := range []string{"upload", "report"} {
					spec.containers = append(spec.containers, containerSpec{name: name, image: imageJob, life: life{runs: runs}})
				}
				made = append(made, sn.startPod(spec.host()))
			})
		}
	}
	cleanUp := func(sn *scene) {
		for i, p := range made {
			sn.after(time.Duration(i)*apart, func() { sn.deletePod(p) })
		}
		made = nil
	}
	stop := sn.repeat(50*time.Second, []step{
		{at: 500 * time.Millisecond, do: start}, {at: 3 * time.Second, do: on("runtime-not-ready")},
		{at: 30 * time.Second, do: off("runtime-not-ready")}, {at: 33 * time.Second, do: cleanUp},
	})
	return func() {
		stop()
		off("runtime-not-ready")(sn)
		sn.after(6*time.Second, func() { cleanUp(sn) }) // when the last of a burst has been started
	}
}

// victim returns a running container to do something to: that of payments, else of a
// client of a network file system, else of some pod outside kube-system.
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
		if p.spec.namespace == "payments" {
			score += 8
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
