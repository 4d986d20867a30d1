package cri

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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

// upstreamOf is what is made of an event, the zero value if nothing.
func upstreamOf(t testing.TB, r *runtimev1.ContainerEventResponse) pleg.Upstream {
	t.Helper()
	u, statuses, ok := upstream(onWire(t, r))
	if ok != (u.ID != "") || statuses != len(r.ContainersStatuses) {
		t.Errorf("event = %+v with %d statuses, usable: %t", u, statuses, ok)
	}
	return u
}

func TestEventsAreDecoded(t *testing.T) {
	type event = runtimev1.ContainerEventResponse
	none := func(u *pleg.Upstream) { *u = pleg.Upstream{} }
	noStatus := func(u *pleg.Upstream) { u.Pod, u.Status = pleg.PodRef{}, nil }
	for name, tt := range map[string]struct {
		change func(*event)
		want   func(*pleg.Upstream)
	}{
		"whole":           {func(*event) {}, func(*pleg.Upstream) {}},
		"created":         {func(r *event) { r.ContainerEventType = 0 }, func(u *pleg.Upstream) { u.Signal = pleg.SignalCreated }},
		"started":         {func(r *event) { r.ContainerEventType = 1 }, func(u *pleg.Upstream) { u.Signal = pleg.SignalStarted }},
		"deleted":         {func(r *event) { r.ContainerEventType = 3 }, func(u *pleg.Upstream) { u.Signal = pleg.SignalDeleted }},
		"unknown kind":    {func(r *event) { r.ContainerEventType = 4 }, none},
		"kind below zero": {func(r *event) { r.ContainerEventType = -1 }, none},
		"no id":           {func(r *event) { r.ContainerId = "" }, none},
		"no time":         {func(r *event) { r.CreatedAt = 0 }, func(u *pleg.Upstream) { u.At = time.Time{} }},
		"no sandbox":      {func(r *event) { r.PodSandboxStatus = nil }, noStatus},
		"no metadata":     {func(r *event) { r.PodSandboxStatus.Metadata = nil }, noStatus},
		"no containers":   {func(r *event) { r.ContainersStatuses = nil }, func(u *pleg.Upstream) { u.Status.Containers = nil }},
		"unknown state": {func(r *event) { r.PodSandboxStatus.State = 9 }, func(u *pleg.Upstream) {
			u.Status.Sandboxes[0].State, u.Status.IPs = pleg.Unknown, nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			sandbox, _ := convertSandboxStatus(goodEvent().PodSandboxStatus)
			newest, _ := convertContainerStatus(goodEvent().ContainersStatuses[1])
			older, _ := convertContainerStatus(goodEvent().ContainersStatuses[0])
			want := pleg.Upstream{Signal: pleg.SignalStopped, ID: "container-1", At: time.Unix(1_700_000_004, 0), Pod: sandbox.Pod,
				Status: pleg.Compose(sandbox.Pod, []pleg.SandboxStatus{sandbox}, []pleg.ContainerStatus{newest, older})}
			tt.want(&want)
			r := goodEvent()
			tt.change(r)
			if diff := cmp.Diff(want, upstreamOf(t, r)); diff != "" {
				t.Errorf("event differs (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzEvents holds that whatever comes is refused, or clean.
func FuzzEvents(f *testing.F) {
	whole := onWire(f, goodEvent())
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(append(whole, whole...))
	f.Fuzz(func(t *testing.T, wire []byte) {
		u, _, ok := upstream(wire)
		if !ok {
			return
		}
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
	})
}
