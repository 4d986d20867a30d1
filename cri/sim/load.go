package sim

import "time"

// The faults in this file are what pods do, not what the runtime does.

func churnPods(st *stage) func() {
	return st.startWhile(500*time.Millisecond, func() *pod {
		p := st.startPod(deployed(st.world, "load", "runner", imageRunner, life{stops: 200 * time.Millisecond, stopCode: 143}))
		st.after(st.between(5*time.Second, 7*time.Second), func() { st.deletePod(p) })
		return p
	})
}

// stormPods replaces 300 pods every minute, all at once. A relist has to inspect
// each of them, one after another.
func stormPods(st *stage) func() {
	const pods, slower, spread = 300, 40 * time.Millisecond, 8 * time.Millisecond
	var made []*pod
	clear := func() {
		for _, p := range made {
			st.deletePod(p)
		}
		made = nil
	}
	replace := func() {
		clear()
		hash := st.hash()
		for range pods {
			made = append(made, st.startPod(st.replica(plain("load", "worker", one("worker", imageApp)), hash)))
		}
	}
	replace()
	return ends(
		st.every(time.Minute, replace), clear,
		st.rules.add(&rule{match: Match{Method: "ContainerStatus"}, delay: slower, spread: spread}),
		st.rules.add(&rule{match: Match{Method: "PodSandboxStatus"}, delay: slower, spread: spread}),
	)
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
	spec := job(w, "shard", 3*time.Second)
	spec.hostNetwork = true
	return spec
}
