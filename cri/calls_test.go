package cri

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

var (
	shopWeb       = pleg.PodRef{UID: "uid-1", Namespace: "shop", Name: "web"}
	wantSandbox   = pleg.ListedSandbox{Pod: shopWeb, Sandbox: pleg.Sandbox{ID: "sandbox-1", State: pleg.Running, Attempt: 2, CreatedAt: time.Unix(1_700_000_000, 1)}}
	wantContainer = pleg.ListedContainer{Pod: shopWeb, Container: pleg.Container{
		ID: "container-1", Name: "nginx", State: pleg.Running, Attempt: 3, CreatedAt: time.Unix(1_700_000_001, 0), Image: "nginx:1.27", SandboxID: "sandbox-1",
	}}
	wantSandboxStatus = pleg.SandboxStatus{
		ID: "sandbox-1", Pod: shopWeb, State: pleg.Exited, Attempt: 2, CreatedAt: time.Unix(1_700_000_000, 1), IPs: []string{"10.0.0.7", "fd00::7"},
	}
	wantContainerStatus = pleg.ContainerStatus{
		ID: "container-1", Name: "nginx", State: pleg.Exited, Attempt: 3, Image: "nginx:1.27", ExitCode: 137, Reason: "OOMKilled", Message: "killed",
		CreatedAt: time.Unix(1_700_000_001, 0), StartedAt: time.Unix(1_700_000_002, 0), FinishedAt: time.Unix(1_700_000_003, 0),
	}
)

func TestVersionAndStatus(t *testing.T) {
	s := healthy()
	c := start(t, s)
	var trace call.Trace
	ctx := call.WithTrace(within(t, testLimit), &trace)
	v, err := c.Version(ctx)
	want(t, "Version", pleg.Version{RuntimeName: "stub", RuntimeVersion: "1.2.3", APIVersion: "v1"}, v, err)
	conditions, err := c.Status(ctx)
	want(t, "Status", []pleg.Condition{
		{Type: "RuntimeReady", Status: true},
		{Type: "NetworkReady", Reason: "NoCNI", Message: "no network config"},
	}, conditions, err)
	sent, received := 0, 0
	methods, requests := s.seen()
	for i, method := range methods {
		answer, _ := s.answers[method](ctx, nil)
		sent, received = sent+proto.Size(requests[i]), received+proto.Size(answer)
	}
	want(t, "trace", call.Trace{RequestBytes: int64(sent), ResponseBytes: int64(received)}, trace, nil)
	s.answers[runtimeStatus] = reply(&runtimev1.StatusResponse{})
	_, err = c.Status(ctx)
	wantError(t, err, &call.Error{Op: call.Status, Text: "the answer has no status"})
}

func want[T any](t *testing.T, what string, want, got T, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
	} else if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}

func wantError(t *testing.T, err error, want *call.Error) {
	t.Helper()
	got, ok := errors.AsType[*call.Error](err)
	if !ok {
		t.Errorf("error = %v, want a *call.Error", err)
	} else if *got != *want {
		t.Errorf("error = %+v, want %+v", *got, *want)
	}
}

// A change is a row of the tables below: an answer that is not good, and what becomes of it.
type change[M, T any] struct {
	name   string
	change func(*M)
	want   func(*T) // nil if it is left out, or refused
	found  pleg.Anomalies
	err    string
}

// changes asks for each changed answer over gRPC, alone, and compares.
func changes[M, T any](t *testing.T, good func() *M, wanted T, answer func(*M) (string, proto.Message), get func(context.Context, *Client) ([]T, error), table []change[M, T]) {
	t.Helper()
	s := healthy()
	c := start(t, s)
	for _, tt := range table {
		t.Run(tt.name, func(t *testing.T) {
			m := good()
			tt.change(m)
			method, a := answer(m)
			s.answers[method] = reply(a)
			var trace call.Trace
			got, err := get(call.WithTrace(within(t, testLimit), &trace), c)
			if (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
				t.Fatalf("error = %v, want %q", err, tt.err)
			}
			var all []T
			if tt.want != nil {
				one := wanted
				tt.want(&one)
				all = append(all, one)
			}
			if len(all)+len(got) > 0 {
				want(t, tt.name, all, got, nil)
			}
			want(t, "what was found", tt.found, trace.Anomalies, nil)
		})
	}
}

func values[T any](rows []*T, err error) (all []T, _ error) {
	for _, row := range rows {
		all = append(all, *row)
	}
	return all, err
}

func TestListedSandboxes(t *testing.T) {
	type (
		sandbox = runtimev1.PodSandbox
		row     = pleg.ListedSandbox
	)
	get := func(ctx context.Context, c *Client) ([]row, error) { return values(c.ListPodSandbox(ctx, "")) }
	answer := func(s *sandbox) (string, proto.Message) {
		return listSandboxes, &runtimev1.ListPodSandboxResponse{Items: []*sandbox{s}}
	}
	changes(t, goodSandbox, wantSandbox, answer, get, []change[sandbox, row]{
		{"good", func(*sandbox) {}, func(*row) {}, pleg.Anomalies{}, ""},
		{"no metadata", func(s *sandbox) { s.Metadata = nil }, nil, pleg.Anomalies{NoMetadata: 1}, ""},
		{"no id", func(s *sandbox) { s.Id = "" }, nil, pleg.Anomalies{NoID: 1}, ""},
		{"no uid", func(s *sandbox) { s.Metadata.Uid = "" }, nil, pleg.Anomalies{NoPodUID: 1}, ""},
		{"no name", func(s *sandbox) { s.Metadata.Name = "" }, func(r *row) { r.Pod.Name = "" }, pleg.Anomalies{}, ""},
		{"not ready", func(s *sandbox) { s.State = runtimev1.PodSandboxState_SANDBOX_NOTREADY }, func(r *row) { r.State = pleg.Exited }, pleg.Anomalies{}, ""},
		{"unknown state", func(s *sandbox) { s.State = 9 }, func(r *row) { r.State = pleg.Unknown }, pleg.Anomalies{BadState: 1}, ""},
		{"no time", func(s *sandbox) { s.CreatedAt = 0 }, func(r *row) { r.CreatedAt = time.Time{} }, pleg.Anomalies{}, ""},
		{"negative time", func(s *sandbox) { s.CreatedAt = -5 }, func(r *row) { r.CreatedAt = time.Time{} }, pleg.Anomalies{BadTime: 1}, ""},
	})
}

func TestListedContainers(t *testing.T) {
	type (
		container = runtimev1.Container
		row       = pleg.ListedContainer
	)
	get := func(ctx context.Context, c *Client) ([]row, error) { return values(c.ListContainers(ctx, "")) }
	answer := func(s *container) (string, proto.Message) {
		return listContainers, &runtimev1.ListContainersResponse{Containers: []*container{s}}
	}
	in := func(s runtimev1.ContainerState) func(*container) { return func(c *container) { c.State = s } }
	is := func(s pleg.State) func(*row) { return func(r *row) { r.State = s } }
	changes(t, goodContainer, wantContainer, answer, get, []change[container, row]{
		{"good", func(*container) {}, func(*row) {}, pleg.Anomalies{}, ""},
		{"no metadata", func(c *container) { c.Metadata = nil }, nil, pleg.Anomalies{NoMetadata: 1}, ""},
		{"no id", func(c *container) { c.Id = "" }, nil, pleg.Anomalies{NoID: 1}, ""},
		{"no image", func(c *container) { c.Image = nil }, nil, pleg.Anomalies{NoImage: 1}, ""},
		{"no labels", func(c *container) { c.Labels = nil }, nil, pleg.Anomalies{NoPodUID: 1}, ""},
		{"only the uid label", func(c *container) { c.Labels = map[string]string{uidLabel: "uid-1"} }, func(r *row) { r.Pod = pleg.PodRef{UID: "uid-1"} }, pleg.Anomalies{}, ""},
		{"name from the label", func(c *container) { c.Metadata.Name = "other" }, func(*row) {}, pleg.Anomalies{}, ""},
		{"name from the metadata", func(c *container) { delete(c.Labels, containerLabel); c.Metadata.Name = "other" }, func(r *row) { r.Name = "other" }, pleg.Anomalies{}, ""},
		{"image without the user's name", func(c *container) { c.Image.UserSpecifiedImage = "" }, func(r *row) { r.Image = "sha256:abc" }, pleg.Anomalies{}, ""},
		{"created", in(0), is(pleg.Created), pleg.Anomalies{}, ""},
		{"exited", in(2), is(pleg.Exited), pleg.Anomalies{}, ""},
		{"unknown to the runtime", in(3), is(pleg.Unknown), pleg.Anomalies{}, ""},
		{"unknown state", in(-1), is(pleg.Unknown), pleg.Anomalies{BadState: 1}, ""},
		{"negative time", func(c *container) { c.CreatedAt = -1 << 63 }, func(r *row) { r.CreatedAt = time.Time{} }, pleg.Anomalies{BadTime: 1}, ""},
		{"a label of 1 MB", func(c *container) { c.Labels["app"] = strings.Repeat("x", 1<<20) }, func(*row) {}, pleg.Anomalies{}, ""},
		{"a long id", func(c *container) { c.Id = long }, func(r *row) { r.ID = cut(long) }, pleg.Anomalies{BadText: 1}, ""},
	})
}

func TestSandboxStatus(t *testing.T) {
	type (
		sandbox = runtimev1.PodSandboxStatus
		result  = pleg.SandboxStatus
	)
	get := func(ctx context.Context, c *Client) ([]result, error) {
		s, err := c.PodSandboxStatus(ctx, "x")
		if err != nil {
			return nil, err
		}
		return []result{s}, nil
	}
	answer := func(s *sandbox) (string, proto.Message) {
		if s.Id == "none" {
			s = nil
		}
		return sandboxStatus, &runtimev1.PodSandboxStatusResponse{Status: s}
	}
	ips := func(first string, more ...string) func(*sandbox) {
		return func(s *sandbox) {
			s.Network = &runtimev1.PodSandboxNetworkStatus{Ip: first}
			for _, ip := range more {
				s.Network.AdditionalIps = append(s.Network.AdditionalIps, &runtimev1.PodIP{Ip: ip})
			}
		}
	}
	have := func(ips ...string) func(*result) { return func(r *result) { r.IPs = ips } }
	changes(t, goodSandboxStatus, wantSandboxStatus, answer, get, []change[sandbox, result]{
		{"good", func(*sandbox) {}, func(*result) {}, pleg.Anomalies{}, ""},
		{"no network", func(s *sandbox) { s.Network = nil }, have(), pleg.Anomalies{}, ""},
		{"empty address", ips(""), have(), pleg.Anomalies{}, ""},
		{"the node's network", func(s *sandbox) {
			ips("")(s)
			s.Linux = &runtimev1.LinuxPodSandboxStatus{Namespaces: &runtimev1.Namespace{Options: &runtimev1.NamespaceOption{Network: runtimev1.NamespaceMode_NODE}}}
		}, func(r *result) { r.IPs, r.HostNetwork = nil, true }, pleg.Anomalies{}, ""},
		{"one address", ips("10.1.1.1"), have("10.1.1.1"), pleg.Anomalies{}, ""},
		{"only others", ips("", "fd00::1"), have("fd00::1"), pleg.Anomalies{}, ""},
		{"no address", ips("\x1b[2J"), have(), pleg.Anomalies{BadText: 1}, ""},
		{"one bad among others", ips("10.1.1.1", "x"), have(), pleg.Anomalies{BadText: 1}, ""},
		{"with a zone", ips("fe80::1%eth0"), have(), pleg.Anomalies{BadText: 1}, ""},
		{"an empty one among others", ips("10.1.1.1", ""), have(), pleg.Anomalies{BadText: 1}, ""},
		{"a handler", func(s *sandbox) { s.RuntimeHandler = "kata" }, func(r *result) { r.Handler = "kata" }, pleg.Anomalies{}, ""},
		{"unknown state", func(s *sandbox) { s.State = 7 }, func(r *result) { r.State = pleg.Unknown }, pleg.Anomalies{BadState: 1}, ""},
		{"negative time", func(s *sandbox) { s.CreatedAt = -1 }, func(r *result) { r.CreatedAt = time.Time{} }, pleg.Anomalies{BadTime: 1}, ""},
		{"no status", func(s *sandbox) { s.Id = "none" }, nil, pleg.Anomalies{}, "the answer has no status"},
		{"no id", func(s *sandbox) { s.Id = "" }, nil, pleg.Anomalies{}, "status.Id is not set"},
		{"no metadata", func(s *sandbox) { s.Metadata = nil }, nil, pleg.Anomalies{}, "status.Metadata is not set"},
		{"no uid", func(s *sandbox) { s.Metadata.Uid = "" }, nil, pleg.Anomalies{}, "metadata.Name, metadata.Namespace or metadata.Uid is not in metadata"},
		{"no time", func(s *sandbox) { s.CreatedAt = 0 }, nil, pleg.Anomalies{}, "status.CreatedAt is not set"},
	})
}

func TestContainerStatus(t *testing.T) {
	type (
		container = runtimev1.ContainerStatus
		result    = pleg.ContainerStatus
	)
	get := func(ctx context.Context, c *Client) ([]result, error) {
		s, err := c.ContainerStatus(ctx, "x")
		if err != nil {
			return nil, err
		}
		return []result{s}, nil
	}
	answer := func(s *container) (string, proto.Message) {
		if s.Id == "none" {
			s = nil
		}
		return containerStatus, &runtimev1.ContainerStatusResponse{Status: s}
	}
	changes(t, goodContainerStatus, wantContainerStatus, answer, get, []change[container, result]{
		{"good", func(*container) {}, func(*result) {}, pleg.Anomalies{}, ""},
		{"no labels", func(s *container) { s.Labels, s.Metadata.Name = nil, "other" }, func(r *result) { r.Name = "other" }, pleg.Anomalies{}, ""},
		{"never started", func(s *container) { s.StartedAt, s.FinishedAt = 0, 0 }, func(r *result) { r.StartedAt, r.FinishedAt = time.Time{}, time.Time{} }, pleg.Anomalies{}, ""},
		{"negative times", func(s *container) { s.StartedAt, s.FinishedAt = -1, -1 }, func(r *result) { r.StartedAt, r.FinishedAt = time.Time{}, time.Time{} }, pleg.Anomalies{BadTime: 2}, ""},
		{"unknown state", func(s *container) { s.State = 99 }, func(r *result) { r.State = pleg.Unknown }, pleg.Anomalies{BadState: 1}, ""},
		{"long texts", func(s *container) { s.Id, s.Message = long, long }, func(r *result) { r.ID, r.Message = cut(long), cut(long) }, pleg.Anomalies{BadText: 2}, ""},
		{"no status", func(s *container) { s.Id = "none" }, nil, pleg.Anomalies{}, "the answer has no status"},
		{"no id", func(s *container) { s.Id = "" }, nil, pleg.Anomalies{}, "status.Id is not set"},
		{"no metadata", func(s *container) { s.Metadata = nil }, nil, pleg.Anomalies{}, "status.Metadata is not set"},
		{"no name", func(s *container) { s.Metadata.Name = "" }, nil, pleg.Anomalies{}, "metadata.Name is not in metadata"},
		{"no time", func(s *container) { s.CreatedAt = 0 }, nil, pleg.Anomalies{}, "status.CreatedAt is not set"},
		{"no image", func(s *container) { s.Image = nil }, nil, pleg.Anomalies{}, "status.Image is not set"},
		{"no image reference", func(s *container) { s.ImageRef = "" }, nil, pleg.Anomalies{}, "status.ImageRef is not set"},
	})
}

func TestRaw(t *testing.T) {
	const text = "\x1b]52;c;x\x07 \u202e \x7f <&> \"q\" größer"
	s := healthy()
	container := goodContainerStatus()
	container.State, container.Message = runtimev1.ContainerState_CONTAINER_CREATED, text
	s.answers[containerStatus] = reply(&runtimev1.ContainerStatusResponse{Status: container})
	c, ctx := start(t, s), within(t, testLimit)
	raw, err := c.Raw(ctx, call.ContainerStatus, "container-1")
	var back struct {
		Status struct{ Message, State string }
	}
	if err := errors.Join(err, json.Unmarshal(raw, &back)); err != nil || back.Status.Message != text || back.Status.State != "CONTAINER_CREATED" {
		t.Errorf("raw is %s, %v", raw, err)
	}
	for range 1 << 15 {
		container.Mounts = append(container.Mounts, new(runtimev1.Mount))
	}
	if raw, err = c.Raw(ctx, call.ContainerStatus, "container-1"); err != nil || !json.Valid(raw) || len(raw) > 1<<20 {
		t.Errorf("empty parts of 64 KiB become %d bytes, %v", len(raw), err)
	}
	if _, err := c.Raw(ctx, call.ListContainers, ""); err == nil || !strings.Contains(err.Error(), "ListContainers") {
		t.Errorf("a raw list: %v", err)
	}
	s.answers[sandboxStatus] = refuse(status.Error(codes.NotFound, "gone"))
	_, err = c.Raw(ctx, call.PodSandboxStatus, "x")
	wantError(t, err, &call.Error{Op: call.PodSandboxStatus, Kind: call.ErrNotFound, Code: "NotFound", Text: "gone"})
}

// harmless are the only methods that plegtop may ever call on a real runtime.
var harmless = []string{
	version, runtimeStatus, listSandboxes, listContainers, sandboxStatus, containerStatus,
	getEvents,          // when asked for
	pluginsMethod,      // of a containerd, where v1 is not implemented
	alphaVersionMethod, // by Discover, where v1 is not implemented
}

// Every exported method, and every failure that leads to another call, makes harmless calls only. The streaming
// forms of the lists are never called, and nothing asks for the verbose answer.
func TestEveryCallIsHarmless(t *testing.T) {
	var called []string
	take := func(method string, request any) {
		if v, ok := request.(interface{ GetVerbose() bool }); ok && v.GetVerbose() {
			t.Errorf("asked for the verbose answer of %s", method)
		}
		called = append(called, method)
	}
	s := healthy()
	s.streams = map[string]streamAnswer{getEvents: chunks()}
	c, ctx := start(t, s), within(t, testLimit)
	_, err := c.Version(ctx)
	_, err2 := c.Status(ctx)
	_, err3 := c.PodSandboxStatus(ctx, "sandbox-1")
	_, err4 := c.ContainerStatus(ctx, "container-1")
	err = errors.Join(err, err2, err3, err4)
	for _, uid := range []pleg.UID{"", "uid-1"} {
		_, err1 := c.ListPodSandbox(ctx, uid)
		_, err2 := c.ListContainers(ctx, uid)
		err = errors.Join(err, err1, err2)
	}
	for _, op := range []call.Operation{call.PodSandboxStatus, call.ContainerStatus} {
		_, err1 := c.Raw(ctx, op, "x")
		err = errors.Join(err, err1)
	}
	if err != nil {
		t.Error(err)
	}
	_ = c.Events(ctx, func(pleg.Upstream) {})
	methods, requests := s.seen()
	for i, method := range methods {
		take(method, requests[i])
	}
	filters := []proto.Message{
		&runtimev1.ListPodSandboxRequest{}, &runtimev1.ListContainersRequest{Filter: &runtimev1.ContainerFilter{}},
		&runtimev1.ListPodSandboxRequest{Filter: &runtimev1.PodSandboxFilter{LabelSelector: map[string]string{uidLabel: "uid-1"}}},
		&runtimev1.ListContainersRequest{Filter: &runtimev1.ContainerFilter{LabelSelector: map[string]string{uidLabel: "uid-1"}}},
	}
	for i, filter := range filters {
		if got := requests[4+i]; !proto.Equal(got, filter) {
			t.Errorf("a list asks for %v, want %v", got, filter)
		}
	}

	path := shortDir(t) + "/x.sock" // a server that implements nothing
	unknown := func(_ any, s grpc.ServerStream) error {
		method, _ := grpc.MethodFromServerStream(s)
		take(method, nil)
		return status.Error(codes.Unimplemented, "unknown service "+strings.Split(method, "/")[1])
	}
	background(t, grpc.NewServer(grpc.UnknownServiceHandler(unknown)), listen(t, path))
	if _, err := Discover(ctx, Search{Endpoint: path, Timeout: ample}); err != nil {
		t.Errorf("a named endpoint without CRI: %v", err)
	}
	slices.Sort(called)
	if diff := cmp.Diff(slices.Sorted(slices.Values(harmless)), slices.Compact(called)); diff != "" {
		t.Errorf("harmless calls -, calls +:\n%s", diff)
	}
}
