package sim

import (
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

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
		sn.rules.add(&rule{match: Match{Method: method}, odds: 1, left: -1, errs: []error{
			status.Error(codes.Unimplemented, "unknown method "+method+" for service runtime.v1.RuntimeService"),
		}})
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
