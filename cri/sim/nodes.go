package sim

import (
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
)

// The nodes of the scenarios: which pods are there, and what these do by themselves.

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

// listTooBig is the scenario "list-too-big": the dead containers of the namespace
// batch are never removed. The list of them begins at 85 % of what gRPC lets
// through and exceeds it after 30 s. The runtime does not have the streaming
// lists, which have no such limit.
func listTooBig(sn *scene) {
	const (
		most    = 20000
		at      = 16440 // at the start, in a few pods
		pods    = 4
		batch   = 40 // in each of the pods that come later: an event shows all containers of its pod
		batches = 5  // every two seconds
	)
	for _, method := range []string{"StreamContainers", "StreamPodSandboxes"} {
		sn.addRule(failing(Match{Method: method}, codes.Unimplemented, "unknown method "+method+" for service runtime.v1.RuntimeService"))
	}
	sn.placeResidents()
	dead := 0
	for range pods {
		sn.placeDeadContainers(at/pods, 40*time.Hour)
		dead += at / pods
	}
	var stop func()
	stop = sn.every(2*time.Second, func() {
		for range batches {
			if dead >= most {
				stop()
				return
			}
			sn.placeDeadContainers(batch, time.Minute)
			dead += batch
		}
	})
}

// placeDeadContainers places a finished pod with so many dead containers, the oldest of
// which is of that age.
func (sn *scene) placeDeadContainers(containers int, age time.Duration) {
	spec := job(sn.world, "nightly-import", 0)
	spec.manual, spec.containers = true, nil
	p := sn.newPod(spec)
	born := sn.now.Add(-age)
	sb := sn.newSandbox(p, 0, born)
	for i := range containers {
		step := &containerSpec{name: fmt.Sprintf("step-%05d", i), image: imageJob}
		at := born.Add(time.Duration(i) * (age / time.Duration(containers+1)))
		c := sn.newContainer(p, step, at)
		sn.run(c, at.Add(100*time.Millisecond))
		sn.end(c, exit{}, at.Add(300*time.Millisecond))
	}
	sn.stopSandbox(sb)
}
