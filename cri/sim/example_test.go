package sim_test

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/cri/sim"
)

// A test makes a node of its own and says what goes wrong on it.
func Example() {
	ctx := context.Background()
	server, err := sim.Start(ctx, sim.Config{Scenario: "empty", Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	conn, err := grpc.NewClient(server.Endpoint(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	client := cri.NewRuntimeServiceClient(conn)

	pod := server.AddPod(sim.PodSpec{
		Namespace: "shop", Name: "cart-0", Age: time.Hour, Containers: []string{"app"},
	})
	ask := func() {
		got, err := client.ContainerStatus(ctx, &cri.ContainerStatusRequest{ContainerId: pod.Containers["app"]})
		fmt.Printf("%v, %v %q\n", status.Code(err), got.GetStatus().GetState(), got.GetStatus().GetReason())
	}
	ask()
	server.AddRule(sim.Rule{
		Match: sim.Match{Method: "ContainerStatus", Container: "app"}, Errs: []error{status.Error(codes.Internal, "ttrpc: closed")}, Left: 1,
	})
	ask()
	if err := server.ExitContainer(pod.Containers["app"], 137, "OOMKilled", ""); err != nil {
		fmt.Println(err)
	}
	ask()
	// Output:
	// OK, CONTAINER_RUNNING ""
	// Internal, CONTAINER_CREATED ""
	// OK, CONTAINER_EXITED "OOMKilled"
}
