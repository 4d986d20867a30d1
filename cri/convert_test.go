package cri

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/pleg"
)

func TestConvertSandboxes(t *testing.T) {
	good := pleg.ListedSandbox{
		Pod:     pleg.PodRef{UID: "uid-1", Namespace: "shop", Name: "web"},
		Sandbox: pleg.Sandbox{ID: "sandbox-1", State: pleg.Running, Attempt: 2, CreatedAt: time.Unix(1_700_000_000, 1)},
	}
	tests := []struct {
		name   string
		change func(*runtimev1.PodSandbox) *runtimev1.PodSandbox
		want   func(*pleg.ListedSandbox) // nil: left out
		count  pleg.Anomalies
	}{
		{"good", nil, func(*pleg.ListedSandbox) {}, pleg.Anomalies{}},
		{"nil", func(*runtimev1.PodSandbox) *runtimev1.PodSandbox { return nil }, nil, pleg.Anomalies{NoMetadata: 1}},
		{"no metadata", changed(func(s *runtimev1.PodSandbox) { s.Metadata = nil }), nil, pleg.Anomalies{NoMetadata: 1}},
		{"no id", changed(func(s *runtimev1.PodSandbox) { s.Id = "" }), nil, pleg.Anomalies{NoID: 1}},
		{"no uid", changed(func(s *runtimev1.PodSandbox) { s.Metadata.Uid = "" }), nil, pleg.Anomalies{NoPodUID: 1}},
		{"no name", changed(func(s *runtimev1.PodSandbox) { s.Metadata.Name = "" }),
			func(s *pleg.ListedSandbox) { s.Pod.Name = "" }, pleg.Anomalies{}},
		{"not ready", changed(func(s *runtimev1.PodSandbox) { s.State = runtimev1.PodSandboxState_SANDBOX_NOTREADY }),
			func(s *pleg.ListedSandbox) { s.State = pleg.Exited }, pleg.Anomalies{}},
		{"unknown state", changed(func(s *runtimev1.PodSandbox) { s.State = 9 }),
			func(s *pleg.ListedSandbox) { s.State = pleg.Unknown }, pleg.Anomalies{BadState: 1}},
		{"no time", changed(func(s *runtimev1.PodSandbox) { s.CreatedAt = 0 }),
			func(s *pleg.ListedSandbox) { s.CreatedAt = time.Time{} }, pleg.Anomalies{}},
		{"negative time", changed(func(s *runtimev1.PodSandbox) { s.CreatedAt = -5 }),
			func(s *pleg.ListedSandbox) { s.CreatedAt = time.Time{} }, pleg.Anomalies{BadTime: 1}},
		{"invalid text", changed(func(s *runtimev1.PodSandbox) { s.Metadata.Name, s.Id = "w\xffb", "\xfe" }),
			func(s *pleg.ListedSandbox) { s.Pod.Name, s.ID = "w\uFFFDb", "\uFFFD" }, pleg.Anomalies{BadText: 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := goodSandbox()
			if tt.change != nil {
				in = tt.change(in)
			}
			var want []pleg.ListedSandbox
			if tt.want != nil {
				want = append(want, good)
				tt.want(&want[0])
			}
			got, count := sandboxRows(in)
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("list differs (-want +got):\n%s", diff)
			}
			if count != tt.count {
				t.Errorf("anomalies = %+v, want %+v", count, tt.count)
			}
		})
	}
}

func TestConvertContainers(t *testing.T) {
	good := pleg.ListedContainer{
		Pod: pleg.PodRef{UID: "uid-1", Namespace: "shop", Name: "web"},
		Container: pleg.Container{
			ID: "container-1", Name: "nginx", State: pleg.Running, Attempt: 3,
			CreatedAt: time.Unix(1_700_000_001, 0), Image: "nginx:1.27", SandboxID: "sandbox-1",
		},
	}
	big := string(make([]byte, 1<<20))
	tests := []struct {
		name   string
		change func(*runtimev1.Container) *runtimev1.Container
		want   func(*pleg.ListedContainer) // nil: left out
		count  pleg.Anomalies
	}{
		{"good", nil, func(*pleg.ListedContainer) {}, pleg.Anomalies{}},
		{"nil", func(*runtimev1.Container) *runtimev1.Container { return nil }, nil, pleg.Anomalies{NoMetadata: 1}},
		{"no metadata", changed(func(c *runtimev1.Container) { c.Metadata = nil }), nil, pleg.Anomalies{NoMetadata: 1}},
		{"no id", changed(func(c *runtimev1.Container) { c.Id = "" }), nil, pleg.Anomalies{NoID: 1}},
		{"no image", changed(func(c *runtimev1.Container) { c.Image = nil }), nil, pleg.Anomalies{NoImage: 1}},
		{"no labels", changed(func(c *runtimev1.Container) { c.Labels = nil }), nil, pleg.Anomalies{NoPodUID: 1}},
		{"only the uid label", changed(func(c *runtimev1.Container) { c.Labels = map[string]string{uidLabel: "uid-1"} }),
			func(c *pleg.ListedContainer) { c.Pod = pleg.PodRef{UID: "uid-1"} }, pleg.Anomalies{}},
		{"name from the label", changed(func(c *runtimev1.Container) { c.Metadata.Name = "other" }),
			func(*pleg.ListedContainer) {}, pleg.Anomalies{}},
		{"name from the metadata", changed(func(c *runtimev1.Container) { delete(c.Labels, containerLabel); c.Metadata.Name = "other" }),
			func(c *pleg.ListedContainer) { c.Name = "other" }, pleg.Anomalies{}},
		{"image without the user's name", changed(func(c *runtimev1.Container) { c.Image.UserSpecifiedImage = "" }),
			func(c *pleg.ListedContainer) { c.Image = "sha256:abc" }, pleg.Anomalies{}},
		{"sandbox not listed", changed(func(c *runtimev1.Container) { c.PodSandboxId = "gone" }),
			func(c *pleg.ListedContainer) { c.SandboxID = "gone" }, pleg.Anomalies{}},
		{"created", changed(func(c *runtimev1.Container) { c.State = runtimev1.ContainerState_CONTAINER_CREATED }),
			func(c *pleg.ListedContainer) { c.State = pleg.Created }, pleg.Anomalies{}},
		{"exited", changed(func(c *runtimev1.Container) { c.State = runtimev1.ContainerState_CONTAINER_EXITED }),
			func(c *pleg.ListedContainer) { c.State = pleg.Exited }, pleg.Anomalies{}},
		{"said to be unknown", changed(func(c *runtimev1.Container) { c.State = runtimev1.ContainerState_CONTAINER_UNKNOWN }),
			func(c *pleg.ListedContainer) { c.State = pleg.Unknown }, pleg.Anomalies{}},
		{"unknown state", changed(func(c *runtimev1.Container) { c.State = -1 }),
			func(c *pleg.ListedContainer) { c.State = pleg.Unknown }, pleg.Anomalies{BadState: 1}},
		{"no time", changed(func(c *runtimev1.Container) { c.CreatedAt = 0 }),
			func(c *pleg.ListedContainer) { c.CreatedAt = time.Time{} }, pleg.Anomalies{}},
		{"negative time", changed(func(c *runtimev1.Container) { c.CreatedAt = -1 << 63 }),
			func(c *pleg.ListedContainer) { c.CreatedAt = time.Time{} }, pleg.Anomalies{BadTime: 1}},
		{"invalid text", changed(func(c *runtimev1.Container) { c.Labels[uidLabel] = "\xc3" }),
			func(c *pleg.ListedContainer) { c.Pod.UID = "\uFFFD" }, pleg.Anomalies{BadText: 1}},
		{"a label of 1 MB", changed(func(c *runtimev1.Container) { c.Labels["app"] = big }),
			func(*pleg.ListedContainer) {}, pleg.Anomalies{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := goodContainer()
			if tt.change != nil {
				in = tt.change(in)
			}
			var want []pleg.ListedContainer
			if tt.want != nil {
				want = append(want, good)
				tt.want(&want[0])
			}
			got, count := containerRows(in)
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("list differs (-want +got):\n%s", diff)
			}
			if count != tt.count {
				t.Errorf("anomalies = %+v, want %+v", count, tt.count)
			}
		})
	}
}

// sandboxRows is what the conversion makes of entries that the generated code has decoded.
func sandboxRows(entries ...*runtimev1.PodSandbox) ([]pleg.ListedSandbox, pleg.Anomalies) {
	return rowsOf(entries, (*sanitizer).listedSandbox)
}

func containerRows(entries ...*runtimev1.Container) ([]pleg.ListedContainer, pleg.Anomalies) {
	return rowsOf(entries, (*sanitizer).listedContainer)
}

func rowsOf[M, T any](entries []M, convert func(*sanitizer, M) (T, bool)) (rows []T, _ pleg.Anomalies) {
	var m sanitizer
	for _, one := range entries {
		if row, ok := convert(&m, one); ok {
			rows = append(rows, row)
		}
	}
	return rows, m.Anomalies
}

// changed turns a change in place into the form of the tables.
func changed[T any](f func(*T)) func(*T) *T {
	return func(v *T) *T { f(v); return v }
}
