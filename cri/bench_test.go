package cri

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/cri/sim"
	"github.com/plegtop/plegtop/engine/pleg"
)

// The first two benchmarks ask the same embedded runtime for 1000 pods of 3 containers,
// none of which changes. The first is what plegtop makes of it: a whole relist,
// up to the core that finds nothing changed. The second is what any client
// would have to do for it: the generated client's two list calls, and nothing
// else.

func BenchmarkRelistOverGRPC(b *testing.B) {
	c := dialed(b, big(b).Endpoint())
	core, err := pleg.New(pleg.Config{})
	if err != nil {
		b.Fatal(err)
	}
	relistAll(b, c, core)
	b.ReportAllocs()
	for b.Loop() {
		if n := relistAll(b, c, core); n != 0 {
			b.Fatalf("%d pods changed", n)
		}
	}
}

func BenchmarkBareLists(b *testing.B) {
	conn, err := grpc.NewClient(big(b).Endpoint(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageLimit)))
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	client := runtimev1.NewRuntimeServiceClient(conn)
	bareLists(b, client)
	b.ReportAllocs()
	for b.Loop() {
		bareLists(b, client)
	}
}

// What reading the lists of 1000 pods of 3 containers takes, none of which changes, each
// time in another order.
func BenchmarkUnchangedLists(b *testing.B) {
	var wires [4][2][]byte
	for i := range wires {
		var s runtimev1.ListPodSandboxResponse
		for _, id := range rand.Perm(1000) {
			s.Items = append(s.Items, sandboxOf(fmt.Sprint(id)))
		}
		var c runtimev1.ListContainersResponse
		for _, id := range rand.Perm(3000) {
			c.Containers = append(c.Containers, containerOf(fmt.Sprint(id)))
		}
		wires[i] = [2][]byte{onWire(b, &s), onWire(b, &c)}
	}
	sandboxes, containers := newKnown(readSandbox), newKnown(readContainer)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		_, _, err := sandboxes.list(wires[i%4][0])
		_, _, err2 := containers.list(wires[i%4][1])
		if err := errors.Join(err, err2); err != nil {
			b.Fatal(err)
		}
	}
}

func big(b *testing.B) *sim.Server {
	b.Helper()
	s, err := sim.Start(b.Context(), sim.Config{Scenario: "big"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s
}

// relistAll makes a relist and returns how many pods had to be inspected, all
// of them with an empty status.
func relistAll(b *testing.B, c *Client, core *pleg.Core) int {
	at := time.Now()
	sandboxes, err := c.ListPodSandbox(b.Context(), "")
	if err != nil {
		b.Fatal(err)
	}
	containers, err := c.ListContainers(b.Context(), "")
	if err != nil {
		b.Fatal(err)
	}
	pods, _ := pleg.Assemble(sandboxes, containers, at)
	if len(pods) < 1000 || len(containers) < 3000 {
		b.Fatalf("%d pods with %d containers", len(pods), len(containers))
	}
	if err := core.Begin(at, pods); err != nil {
		b.Fatal(err)
	}
	inspected := 0
	for next, more := core.Next(); more; next, more = core.Next() {
		if err := core.Settle(next.Pod.UID, at, nil, nil); err != nil {
			b.Fatal(err)
		}
		inspected++
	}
	if err := core.End(); err != nil {
		b.Fatal(err)
	}
	core.Released()
	return inspected
}

func bareLists(b *testing.B, client runtimev1.RuntimeServiceClient) {
	if _, err := client.ListPodSandbox(b.Context(), &runtimev1.ListPodSandboxRequest{}); err != nil {
		b.Fatal(err)
	}
	if _, err := client.ListContainers(b.Context(), &runtimev1.ListContainersRequest{Filter: &runtimev1.ContainerFilter{}}); err != nil {
		b.Fatal(err)
	}
}
