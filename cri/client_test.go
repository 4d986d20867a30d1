package cri

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/protobuf/proto"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// testLimit ends a test whose runtime, for once, does not do what it should.
const testLimit = 5 * time.Minute

func within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestAnswersInThePackagesWords(t *testing.T) {
	var trace call.Trace
	c, ctx := start(t, healthy()), call.WithTrace(within(t, testLimit), &trace)

	version, err := c.Version(ctx)
	check(t, "Version", pleg.Version{RuntimeName: "stub", RuntimeVersion: "1.2.3", APIVersion: "v1"}, version, err)

	conditions, err := c.Status(ctx)
	check(t, "Status", []pleg.Condition{
		{Type: "RuntimeReady", Status: true},
		{Type: "NetworkReady", Reason: "NoCNI", Message: "no network config"},
	}, conditions, err)

	pod := pleg.PodRef{UID: "uid-1", Namespace: "shop", Name: "web"}
	sandboxes, err := c.ListPodSandbox(ctx, "")
	check(t, "ListPodSandbox", []pleg.ListedSandbox{{Pod: pod, Sandbox: pleg.Sandbox{
		ID: "sandbox-1", State: pleg.Running, Attempt: 2, CreatedAt: time.Unix(1_700_000_000, 1),
	}}}, sandboxes, err)

	containers, err := c.ListContainers(ctx, "")
	check(t, "ListContainers", []pleg.ListedContainer{{Pod: pod, Container: pleg.Container{
		ID: "container-1", Name: "nginx", State: pleg.Running, Attempt: 3, CreatedAt: time.Unix(1_700_000_001, 0), Image: "nginx:1.27", SandboxID: "sandbox-1",
	}}}, containers, err)

	sandbox, err := c.PodSandboxStatus(ctx, "sandbox-1")
	check(t, "PodSandboxStatus", pleg.SandboxStatus{
		ID: "sandbox-1", Pod: pod, State: pleg.Exited, Attempt: 2, CreatedAt: time.Unix(1_700_000_000, 1), IPs: []string{"10.0.0.7", "fd00::7"},
	}, sandbox, err)

	container, err := c.ContainerStatus(ctx, "container-1")
	check(t, "ContainerStatus", pleg.ContainerStatus{
		ID: "container-1", Name: "nginx", State: pleg.Exited, Attempt: 3, Image: "nginx:1.27", ExitCode: 137, Reason: "OOMKilled",
		Message: "killed", CreatedAt: time.Unix(1_700_000_001, 0), StartedAt: time.Unix(1_700_000_002, 0), FinishedAt: time.Unix(1_700_000_003, 0),
	}, container, err)
	check(t, "what was changed", pleg.Anomalies{}, trace.Anomalies, nil)
}

func check[T any](t *testing.T, what string, want, got T, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}

func TestUnusableAnswersFail(t *testing.T) {
	s := healthy()
	s.answers[runtimev1.RuntimeService_Status_FullMethodName] = reply(&runtimev1.StatusResponse{})
	s.answers[runtimev1.RuntimeService_PodSandboxStatus_FullMethodName] = reply(&runtimev1.PodSandboxStatusResponse{})
	s.answers[runtimev1.RuntimeService_ContainerStatus_FullMethodName] = reply(&runtimev1.ContainerStatusResponse{})
	c, ctx := start(t, s), within(t, testLimit)
	_, err := c.Status(ctx)
	wantError(t, err, &call.Error{Op: call.Status, Kind: call.ErrOther, Text: "the answer has no status"})
	_, err = c.PodSandboxStatus(ctx, "x")
	wantError(t, err, &call.Error{Op: call.PodSandboxStatus, Kind: call.ErrOther, Text: "the answer has no status"})
	_, err = c.ContainerStatus(ctx, "x")
	wantError(t, err, &call.Error{Op: call.ContainerStatus, Kind: call.ErrOther, Text: "the answer has no status"})
}

func wantError(t *testing.T, err error, want *call.Error) {
	t.Helper()
	got, ok := errors.AsType[*call.Error](err)
	if !ok {
		t.Errorf("error = %v, want a *call.Error", err)
		return
	}
	if *got != *want {
		t.Errorf("error = %+v, want %+v", *got, *want)
	}
}

func TestTraceCountsWhatWasChanged(t *testing.T) {
	s := healthy()
	container, sandbox := goodContainerStatus(), goodSandboxStatus()
	container.State, container.StartedAt = 77, -1
	sandbox.State = 77
	for method, answer := range map[string]proto.Message{
		runtimev1.RuntimeService_Version_FullMethodName:          &runtimev1.VersionResponse{RuntimeName: "x"},
		runtimev1.RuntimeService_Status_FullMethodName:           &runtimev1.StatusResponse{Status: &runtimev1.RuntimeStatus{Conditions: []*runtimev1.RuntimeCondition{{}, {}}}},
		runtimev1.RuntimeService_ListPodSandbox_FullMethodName:   &runtimev1.ListPodSandboxResponse{Items: []*runtimev1.PodSandbox{goodSandbox(), {}}},
		runtimev1.RuntimeService_ListContainers_FullMethodName:   &runtimev1.ListContainersResponse{Containers: []*runtimev1.Container{{}, goodContainer(), {}}},
		runtimev1.RuntimeService_PodSandboxStatus_FullMethodName: &runtimev1.PodSandboxStatusResponse{Status: sandbox},
		runtimev1.RuntimeService_ContainerStatus_FullMethodName:  &runtimev1.ContainerStatusResponse{Status: container},
	} {
		s.answers[method] = reply(answer)
	}
	c, ctx := start(t, s), within(t, testLimit)
	calls := []struct {
		op   call.Operation
		make func(context.Context) error
		want pleg.Anomalies
	}{
		{call.Version, func(ctx context.Context) error { _, err := c.Version(ctx); return err }, pleg.Anomalies{}},
		{call.ListPodSandbox, func(ctx context.Context) error { _, err := c.ListPodSandbox(ctx, ""); return err }, pleg.Anomalies{NoMetadata: 1}},
		{call.ListContainers, func(ctx context.Context) error { _, err := c.ListContainers(ctx, ""); return err }, pleg.Anomalies{NoMetadata: 2}},
		{call.PodSandboxStatus, func(ctx context.Context) error { _, err := c.PodSandboxStatus(ctx, "x"); return err }, pleg.Anomalies{BadState: 1}},
		{call.ContainerStatus, func(ctx context.Context) error { _, err := c.ContainerStatus(ctx, "x"); return err }, pleg.Anomalies{BadState: 1, BadTime: 1}},
	}
	for _, tt := range calls {
		var trace call.Trace
		err := tt.make(call.WithTrace(ctx, &trace))
		check(t, "anomalies of "+tt.op.String(), tt.want, trace.Anomalies, err)
		if err := tt.make(ctx); err != nil {
			t.Errorf("%v without a trace: %v", tt.op, err)
		}
	}
}

// untilReady waits for the client's own reconnect, however long its back-off.
func untilReady(t *testing.T, c *Client) {
	t.Helper()
	ctx := within(t, testLimit)
	for state := c.conn.GetState(); state != connectivity.Ready; state = c.conn.GetState() {
		if state == connectivity.Idle {
			c.conn.Connect()
		}
		if !c.conn.WaitForStateChange(ctx, state) {
			t.Fatal("the client did not connect again")
		}
	}
}
