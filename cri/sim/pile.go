package sim

import (
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// pileUp is the scenario "list-too-big": the dead containers of the namespace
// batch are never removed. The list of them begins at 85 % of what gRPC lets
// through and exceeds it after 30 s. The runtime does not have the streaming
// lists, which have no such limit.
func pileUp(st *stage) {
	const (
		most    = 20000
		at      = 16440 // at the start, in a few pods
		pods    = 4
		batch   = 40 // in each of the pods that come later: an event shows all containers of its pod
		batches = 5  // every two seconds
	)
	for _, method := range []string{"StreamContainers", "StreamPodSandboxes"} {
		st.rules.add(&rule{match: Match{Method: method}, odds: 1, left: -1, errs: []error{
			status.Error(codes.Unimplemented, "unknown method "+method+" for service runtime.v1.RuntimeService"),
		}})
	}
	st.settle()
	dead := 0
	for range pods {
		st.placePile(at/pods, 40*time.Hour)
		dead += at / pods
	}
	var stop func()
	stop = st.every(2*time.Second, func() {
		for range batches {
			if dead >= most {
				stop()
				return
			}
			st.placePile(batch, time.Minute)
			dead += batch
		}
	})
}

// placePile places a finished pod with so many dead containers, the oldest of
// which is of that age.
func (st *stage) placePile(containers int, age time.Duration) {
	spec := job(st.world, "nightly-import", 0)
	spec.manual, spec.containers = true, nil
	p := st.newPod(spec)
	born := st.now.Add(-age)
	sb := st.newSandbox(p, 0, born)
	for i := range containers {
		step := &containerSpec{name: fmt.Sprintf("step-%05d", i), image: imageJob}
		at := born.Add(time.Duration(i) * (age / time.Duration(containers+1)))
		c := st.newContainer(p, step, at)
		st.run(c, at.Add(100*time.Millisecond))
		st.end(c, exit{}, at.Add(300*time.Millisecond))
	}
	st.stopSandbox(sb)
}
