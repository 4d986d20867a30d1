package sim

import "time"

// The faults in this file are what pods do, not what the runtime does.

func churnPods(sn *scene) func() {
	return sn.startWhile(500*time.Millisecond, func() *pod {
		p := sn.startPod(deployed(sn.world, "load", "runner", imageRunner, life{stops: 200 * time.Millisecond, stopCode: 143}))
		sn.after(sn.between(5*time.Second, 7*time.Second), func() { sn.deletePod(p) })
		return p
	})
}

// stormPods replaces 300 pods every minute, all at once. A relist has to inspect
// each of them, one after another.
func stormPods(sn *scene) func() {
	const pods, slower, spread = 300, 40 * time.Millisecond, 8 * time.Millisecond
	var made []*pod
	clear := func() {
		for _, p := range made {
			sn.deletePod(p)
		}
		made = nil
	}
	replace := func() {
		clear()
		hash := sn.hash()
		for range pods {
			made = append(made, sn.startPod(sn.replica(podNamed("load", "worker", one("worker", imageApp)), hash)))
		}
	}
	replace()
	return ends(
		sn.every(time.Minute, replace), clear,
		sn.rules.add(&rule{match: Match{Method: "ContainerStatus"}, delay: slower, spread: spread}),
		sn.rules.add(&rule{match: Match{Method: "PodSandboxStatus"}, delay: slower, spread: spread}),
	)
}

// startWhile starts a pod with each period until it is told to stop; then it
// deletes those that are left.
func (sn *scene) startWhile(period time.Duration, start func() *pod) (stop func()) {
	made := map[*pod]bool{}
	end := sn.every(period, func() {
		for p := range made {
			if len(p.sandboxes) == 0 && p.deleting {
				delete(made, p)
			}
		}
		made[start()] = true
	})
	return func() {
		end()
		for _, p := range sn.pods { // not over the map: its order is random
			if made[p] {
				sn.deletePod(p)
			}
		}
	}
}

func crashPods(sn *scene) func() {
	var made []*pod
	for i := range 6 {
		made = append(made, sn.startPod(crasher(sn.world, i)))
	}
	return func() {
		for _, p := range made {
			sn.deletePod(p)
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
func overflowChannel(sn *scene) func() {
	const jobs = 450
	var made []*pod
	begin := func(sn *scene) {
		for i := range jobs {
			sn.after(time.Duration(i)*12*time.Millisecond, func() { made = append(made, sn.startPod(burst(sn.world))) })
		}
	}
	cleanUp := func(sn *scene) {
		for i, p := range made {
			sn.after(time.Duration(i)*12*time.Millisecond, func() { sn.deletePod(p) })
		}
		made = nil
	}
	stop := sn.repeat(50*time.Second, []step{
		{3 * time.Second, on("runtime-not-ready")}, {10 * time.Second, begin},
		{30 * time.Second, off("runtime-not-ready")}, {33 * time.Second, cleanUp},
	})
	return func() {
		stop()
		off("runtime-not-ready")(sn)
		sn.after(6*time.Second, func() { cleanUp(sn) }) // when the last of a burst has been started
	}
}

// burst returns the pod of a short job on the host's network.
func burst(w *world) podSpec {
	spec := job(w, "shard", 3*time.Second)
	spec.hostNetwork = true
	return spec
}
