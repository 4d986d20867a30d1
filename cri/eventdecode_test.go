package cri

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/pleg"
)

func goodEvent() *runtimev1.ContainerEventResponse {
	older := goodContainerStatus()
	older.Id, older.CreatedAt, older.Image.UserSpecifiedImage = "container-0", older.CreatedAt-1, "nginx:1.26"
	older.Annotations = map[string]string{"io.kubernetes.container.hash": "5f1c"}
	older.Mounts = []*runtimev1.Mount{{ContainerPath: "/etc/hosts", HostPath: "/var/lib/kubelet/pods/uid-1/etc-hosts"}}
	sandbox := goodSandboxStatus()
	sandbox.State, sandbox.RuntimeHandler = runtimev1.PodSandboxState_SANDBOX_READY, "runc"
	sandbox.Labels = map[string]string{uidLabel: "uid-1"}
	return &runtimev1.ContainerEventResponse{
		ContainerId: "container-1", ContainerEventType: runtimev1.ContainerEventType_CONTAINER_STOPPED_EVENT,
		CreatedAt: 1_700_000_004_000_000_000, PodSandboxStatus: sandbox,
		ContainersStatuses: []*runtimev1.ContainerStatus{older, goodContainerStatus()},
	}
}

// upstreamOf is what is to be made of an event that the generated code has read.
func upstreamOf(r *runtimev1.ContainerEventResponse) (pleg.Upstream, bool) {
	signal, known := signals[r.ContainerEventType]
	if !known || r.ContainerId == "" {
		return pleg.Upstream{}, false
	}
	var m sanitizer
	u := pleg.Upstream{Signal: signal, ID: m.text(r.ContainerId), At: m.time(r.CreatedAt)}
	if r.GetPodSandboxStatus().GetMetadata() == nil {
		return u, true
	}
	s, _ := convertSandboxStatus(r.PodSandboxStatus)
	var all []pleg.ContainerStatus
	for _, c := range r.ContainersStatuses {
		status, _ := convertContainerStatus(c)
		all = append(all, status)
	}
	u.Pod, u.Status = s.Pod, pleg.Compose(s.Pod, []pleg.SandboxStatus{s}, all)
	return u, true
}

func TestEventsAreDecoded(t *testing.T) {
	for name, change := range map[string]func(*runtimev1.ContainerEventResponse){
		"whole":           func(*runtimev1.ContainerEventResponse) {},
		"created":         func(r *runtimev1.ContainerEventResponse) { r.ContainerEventType = 0 },
		"started":         func(r *runtimev1.ContainerEventResponse) { r.ContainerEventType = 1 },
		"deleted":         func(r *runtimev1.ContainerEventResponse) { r.ContainerEventType = 3 },
		"unknown kind":    func(r *runtimev1.ContainerEventResponse) { r.ContainerEventType = 4 },
		"kind below zero": func(r *runtimev1.ContainerEventResponse) { r.ContainerEventType = -1 },
		"no id":           func(r *runtimev1.ContainerEventResponse) { r.ContainerId = "" },
		"no time":         func(r *runtimev1.ContainerEventResponse) { r.CreatedAt = 0 },
		"time below zero": func(r *runtimev1.ContainerEventResponse) { r.CreatedAt = -1 },
		"no sandbox":      func(r *runtimev1.ContainerEventResponse) { r.PodSandboxStatus = nil },
		"no metadata":     func(r *runtimev1.ContainerEventResponse) { r.PodSandboxStatus.Metadata = nil },
		"no containers":   func(r *runtimev1.ContainerEventResponse) { r.ContainersStatuses = nil },
		"unknown states": func(r *runtimev1.ContainerEventResponse) {
			r.PodSandboxStatus.State = 9
			r.ContainersStatuses[0].State = -9
		},
		"the node's network": func(r *runtimev1.ContainerEventResponse) {
			r.PodSandboxStatus.Network, r.PodSandboxStatus.Linux = nil, onNodesNetwork()
		},
		"an address is none":  func(r *runtimev1.ContainerEventResponse) { r.PodSandboxStatus.Network.AdditionalIps[0].Ip = "x" },
		"nothing at all":      func(r *runtimev1.ContainerEventResponse) { proto.Reset(r) },
		"a container of none": func(r *runtimev1.ContainerEventResponse) { proto.Reset(r.ContainersStatuses[1]) },
	} {
		t.Run(name, func(t *testing.T) {
			r := goodEvent()
			change(r)
			agreeOn(t, newEvent(), r)
		})
	}
	u, _ := upstreamOf(goodEvent()) // and that means
	if u.Status.Containers[0].ID != "container-1" || u.Pod.Name != "web" || len(u.Status.IPs) != 2 {
		t.Errorf("status = %+v, want the newest container first, and two addresses", u.Status)
	}
}

// agreeOn holds what is read of an event, whole and in pieces, against the generated code.
func agreeOn(t *testing.T, e *event, r *runtimev1.ContainerEventResponse) {
	t.Helper()
	wire, err := proto.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	want, wantOK := upstreamOf(r)
	half := len(wire) / 2
	for _, data := range []mem.BufferSlice{{mem.SliceBuffer(wire)}, {mem.SliceBuffer(wire[:half]), mem.SliceBuffer(wire[half:])}} {
		got, ok := e.upstream(data)
		if ok != wantOK {
			t.Fatalf("read = %v, want %v", ok, wantOK)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("event differs (-generated +read):\n%s", diff)
		}
	}
}

// FuzzEventDecode holds the decoding of events against the generated code: what that
// reads is read alike in its ordinary form; whatever else comes is refused, or clean.
func FuzzEventDecode(f *testing.F) {
	whole, err := proto.Marshal(goodEvent())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(append(whole, whole...))
	for _, wire := range oddAnswers() {
		f.Add(wire)
		f.Add(protowire.AppendBytes(protowire.AppendTag(nil, 4, protowire.BytesType), wire))
		f.Add(protowire.AppendBytes(protowire.AppendTag(nil, 5, protowire.BytesType), wire))
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		e := newEvent()
		if u, ok := e.decode(wire); ok {
			checkUpstream(t, u)
		}
		var r runtimev1.ContainerEventResponse
		err := proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(wire, &r)
		if err != nil || len(wire) > smallLimit || len(r.ContainersStatuses) > statusesLimit || len(r.GetPodSandboxStatus().GetNetwork().GetAdditionalIps()) > addressesLimit {
			return
		}
		agreeOn(t, e, &r)
	})
}

func checkUpstream(t *testing.T, u pleg.Upstream) {
	t.Helper()
	checkTexts(t, u.ID, u.Pod.Name, u.Pod.Namespace, string(u.Pod.UID))
	checkTime(t, u.At)
	if u.Status == nil {
		return
	}
	for _, s := range u.Status.Sandboxes {
		checkTexts(t, s.ID, s.Handler)
		checkState(t, s.State)
	}
	for _, c := range u.Status.Containers {
		checkTexts(t, c.ID, c.Name, c.Image, c.Reason, c.Message)
		checkState(t, c.State)
		checkTime(t, c.CreatedAt, c.StartedAt, c.FinishedAt)
	}
}

// What it costs to read an event of two containers: that of ours, and of the generated
// code with the same conversion.
func BenchmarkEventDecode(b *testing.B) {
	wire, err := proto.Marshal(goodEvent())
	if err != nil {
		b.Fatal(err)
	}
	for name, read := range map[string]func(*event) bool{
		"ours": func(e *event) bool { _, ok := e.decode(wire); return ok },
		"generated": func(*event) bool {
			var r runtimev1.ContainerEventResponse
			_ = proto.Unmarshal(wire, &r)
			_, ok := upstreamOf(&r)
			return ok
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			e := newEvent()
			for b.Loop() {
				if !read(e) {
					b.Fatal("no event")
				}
			}
		})
	}
}
