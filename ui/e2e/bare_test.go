//go:build linux

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// relistsArg has the child make the calls of a relist, and nothing of what plegtop makes of them.
const relistsArg = "relists"

// bareRelists measures what a process of its own takes for the calls of the relists alone.
func bareRelists(b *testing.B, endpoint string) {
	b.Helper()
	self, err := os.Executable()
	must(b, err)
	out, err := exec.Command(self, childArg, relistsArg, endpoint, settleFor.String(), measureFor.String()).CombinedOutput()
	if err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	var cpu, calls float64
	_, err = fmt.Sscan(string(out), &cpu, &calls)
	must(b, err)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(cpu, "cpu-%")
	b.ReportMetric(calls, "calls/s")
}

// relistChild relists by the generated client until the time is over, and says what it took of a
// core after it had settled, and how many calls it made a second.
func relistChild(endpoint, settle, measure string) error {
	toSettle, err := time.ParseDuration(settle)
	if err != nil {
		return err
	}
	toMeasure, err := time.ParseDuration(measure)
	if err != nil {
		return err
	}
	conn, err := grpc.NewClient(endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(16<<20)))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	n := naive{RuntimeServiceClient: runtimev1.NewRuntimeServiceClient(conn)}
	if err := n.relists(toSettle); err != nil {
		return err
	}
	self, err := procfs.Self()
	if err != nil {
		return err
	}
	before, err := self.Stat()
	if err != nil {
		return err
	}
	began, calls := time.Now(), n.calls
	if err := n.relists(toMeasure); err != nil {
		return err
	}
	took := time.Since(began).Seconds()
	after, err := self.Stat()
	if err != nil {
		return err
	}
	fmt.Println(100*(after.CPUTime()-before.CPUTime())/took, float64(n.calls-calls)/took)
	return nil
}

// A naive relist asks for what the kubelet asks for: both lists, and the status of each pod of which
// a container has come, gone or changed its state, with all that it has.
type naive struct {
	runtimev1.RuntimeServiceClient
	calls int
	was   map[string]*runtimev1.Container // by id
}

func (n *naive) relists(lasting time.Duration) error {
	for began := time.Now(); time.Since(began) < lasting; time.Sleep(time.Second) {
		if err := n.relist(context.Background()); err != nil {
			return err
		}
	}
	return nil
}

func (n *naive) relist(ctx context.Context) error {
	if _, err := n.ListPodSandbox(ctx, &runtimev1.ListPodSandboxRequest{}); err != nil {
		return err
	}
	list, err := n.ListContainers(ctx, &runtimev1.ListContainersRequest{})
	if err != nil {
		return err
	}
	n.calls += 2
	is, in, changed := make(map[string]*runtimev1.Container), make(map[string][]string), make(map[string]bool)
	for _, c := range list.Containers {
		is[c.Id], in[c.PodSandboxId] = c, append(in[c.PodSandboxId], c.Id)
		if was := n.was[c.Id]; n.was != nil && (was == nil || was.State != c.State) {
			changed[c.PodSandboxId] = true
		}
	}
	for id, c := range n.was {
		if is[id] == nil {
			changed[c.PodSandboxId] = true
		}
	}
	n.was = is
	for pod := range changed {
		n.calls += 1 + len(in[pod])
		_, _ = n.PodSandboxStatus(ctx, &runtimev1.PodSandboxStatusRequest{PodSandboxId: pod}) // it may be gone
		for _, id := range in[pod] {
			_, _ = n.ContainerStatus(ctx, &runtimev1.ContainerStatusRequest{ContainerId: id}) // the same
		}
	}
	return nil
}
