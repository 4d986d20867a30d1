package cri

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/pleg"
)

func TestConvertSandboxStatus(t *testing.T) {
	network := func(ip string, more ...string) func(*runtimev1.PodSandboxStatus) {
		return func(s *runtimev1.PodSandboxStatus) {
			s.Network = &runtimev1.PodSandboxNetworkStatus{Ip: ip}
			for _, m := range more {
				s.Network.AdditionalIps = append(s.Network.AdditionalIps, &runtimev1.PodIP{Ip: m})
			}
		}
	}
	tests := []struct {
		name   string
		change func(*runtimev1.PodSandboxStatus)
		want   func(*pleg.SandboxStatus)
		count  pleg.Anomalies
	}{
		{"good", func(*runtimev1.PodSandboxStatus) {}, func(*pleg.SandboxStatus) {}, pleg.Anomalies{}},
		{"no network", func(s *runtimev1.PodSandboxStatus) { s.Network = nil }, func(s *pleg.SandboxStatus) { s.IPs = nil }, pleg.Anomalies{}},
		{"empty address", network(""), func(s *pleg.SandboxStatus) { s.IPs = nil }, pleg.Anomalies{}},
		{"the node's network", func(s *runtimev1.PodSandboxStatus) {
			network("")(s)
			s.Linux = onNodesNetwork()
		}, func(s *pleg.SandboxStatus) { s.IPs, s.HostNetwork = nil, true }, pleg.Anomalies{}},
		{"one address", network("10.1.1.1"), func(s *pleg.SandboxStatus) { s.IPs = []string{"10.1.1.1"} }, pleg.Anomalies{}},
		{"only others", network("", "fd00::1"), func(s *pleg.SandboxStatus) { s.IPs = []string{"fd00::1"} }, pleg.Anomalies{}},
		{"no address", network("\x1b[2J"), func(s *pleg.SandboxStatus) { s.IPs = nil }, pleg.Anomalies{BadText: 1}},
		{"one bad among others", network("10.1.1.1", "x"), func(s *pleg.SandboxStatus) { s.IPs = nil }, pleg.Anomalies{BadText: 1}},
		{"with a zone", network("fe80::1%eth0"), func(s *pleg.SandboxStatus) { s.IPs = nil }, pleg.Anomalies{BadText: 1}},
		{"nil among the others", func(s *runtimev1.PodSandboxStatus) { s.Network.AdditionalIps = []*runtimev1.PodIP{nil} },
			func(s *pleg.SandboxStatus) { s.IPs = nil }, pleg.Anomalies{BadText: 1}},
		{"unknown state", func(s *runtimev1.PodSandboxStatus) { s.State = 7 }, func(s *pleg.SandboxStatus) { s.State = pleg.Unknown }, pleg.Anomalies{BadState: 1}},
		{"negative time", func(s *runtimev1.PodSandboxStatus) { s.CreatedAt = -1 }, func(s *pleg.SandboxStatus) { s.CreatedAt = time.Time{} }, pleg.Anomalies{BadTime: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := goodSandboxStatus()
			tt.change(in)
			want := pleg.SandboxStatus{
				ID: "sandbox-1", Pod: pleg.PodRef{UID: "uid-1", Namespace: "shop", Name: "web"}, State: pleg.Exited,
				Attempt: 2, CreatedAt: time.Unix(1_700_000_000, 1), IPs: []string{"10.0.0.7", "fd00::7"},
			}
			tt.want(&want)
			got, count := convertSandboxStatus(in)
			checkConverted(t, want, got, tt.count, count)
		})
	}
}

func TestConvertContainerStatus(t *testing.T) {
	tests := []struct {
		name   string
		change func(*runtimev1.ContainerStatus)
		want   func(*pleg.ContainerStatus)
		count  pleg.Anomalies
	}{
		{"good", func(*runtimev1.ContainerStatus) {}, func(*pleg.ContainerStatus) {}, pleg.Anomalies{}},
		{"no labels", func(s *runtimev1.ContainerStatus) { s.Labels = nil; s.Metadata.Name = "other" },
			func(s *pleg.ContainerStatus) { s.Name = "other" }, pleg.Anomalies{}},
		{"never started", func(s *runtimev1.ContainerStatus) { s.StartedAt, s.FinishedAt = 0, 0 },
			func(s *pleg.ContainerStatus) { s.StartedAt, s.FinishedAt = time.Time{}, time.Time{} }, pleg.Anomalies{}},
		{"negative times", func(s *runtimev1.ContainerStatus) { s.CreatedAt, s.StartedAt, s.FinishedAt = -1, -1, -1 },
			func(s *pleg.ContainerStatus) {
				s.CreatedAt, s.StartedAt, s.FinishedAt = time.Time{}, time.Time{}, time.Time{}
			}, pleg.Anomalies{BadTime: 3}},
		{"unknown state", func(s *runtimev1.ContainerStatus) { s.State = 99 },
			func(s *pleg.ContainerStatus) { s.State = pleg.Unknown }, pleg.Anomalies{BadState: 1}},
		{"invalid text", func(s *runtimev1.ContainerStatus) { s.Reason, s.Message = "\xff", "a\xffb" },
			func(s *pleg.ContainerStatus) { s.Reason, s.Message = "\uFFFD", "a\uFFFDb" }, pleg.Anomalies{BadText: 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := goodContainerStatus()
			tt.change(in)
			want := pleg.ContainerStatus{
				ID: "container-1", Name: "nginx", State: pleg.Exited, Attempt: 3, Image: "nginx:1.27", ExitCode: 137,
				Reason: "OOMKilled", Message: "killed", CreatedAt: time.Unix(1_700_000_001, 0),
				StartedAt: time.Unix(1_700_000_002, 0), FinishedAt: time.Unix(1_700_000_003, 0),
			}
			tt.want(&want)
			got, count := convertContainerStatus(in)
			checkConverted(t, want, got, tt.count, count)
		})
	}
}

func TestUnusableSandbox(t *testing.T) {
	tests := map[string]func(*runtimev1.PodSandboxStatus){
		"":                            func(*runtimev1.PodSandboxStatus) {},
		"status.Id is not set":        func(s *runtimev1.PodSandboxStatus) { s.Id = "" },
		"status.Metadata is not set":  func(s *runtimev1.PodSandboxStatus) { s.Metadata = nil },
		"status.CreatedAt is not set": func(s *runtimev1.PodSandboxStatus) { s.CreatedAt = 0 },
		"metadata.Name, metadata.Namespace or metadata.Uid is not in metadata": func(s *runtimev1.PodSandboxStatus) { s.Metadata.Uid = "" },
	}
	checkUnusable(t, unusableSandbox, goodSandboxStatus, tests)
}

func TestUnusableContainer(t *testing.T) {
	tests := map[string]func(*runtimev1.ContainerStatus){
		"":                                 func(*runtimev1.ContainerStatus) {},
		"status.Id is not set":             func(s *runtimev1.ContainerStatus) { s.Id = "" },
		"status.Metadata is not set":       func(s *runtimev1.ContainerStatus) { s.Metadata = nil },
		"metadata.Name is not in metadata": func(s *runtimev1.ContainerStatus) { s.Metadata.Name = "" },
		"status.CreatedAt is not set":      func(s *runtimev1.ContainerStatus) { s.CreatedAt = 0 },
		"status.Image is not set":          func(s *runtimev1.ContainerStatus) { s.Image = nil },
		"status.ImageRef is not set":       func(s *runtimev1.ContainerStatus) { s.ImageRef = "" },
	}
	checkUnusable(t, unusableContainer, goodContainerStatus, tests)
}

func checkUnusable[S any](t *testing.T, unusable func(*S) string, good func() *S, tests map[string]func(*S)) {
	t.Helper()
	for want, change := range tests {
		s := good()
		change(s)
		if got := unusable(s); got != want {
			t.Errorf("unusable for %q, want %q", got, want)
		}
	}
	if got := unusable(nil); got != "the answer has no status" {
		t.Errorf("nil is unusable for %q", got)
	}
}

func TestConvertConditions(t *testing.T) {
	got, count := convertConditions([]*runtimev1.RuntimeCondition{nil, {Type: "RuntimeReady", Status: true, Reason: "\xff", Message: "m"}})
	want := []pleg.Condition{{Type: "RuntimeReady", Status: true, Reason: "\uFFFD", Message: "m"}}
	checkConverted(t, want, got, pleg.Anomalies{NoMetadata: 1, BadText: 1}, count)
}

func checkConverted[T any](t *testing.T, want, got T, wantCount, count pleg.Anomalies) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
	if count != wantCount {
		t.Errorf("anomalies = %+v, want %+v", count, wantCount)
	}
}
