package pleg

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestConfigValidate(t *testing.T) {
	tests := []struct {
		name   string
		config Config
		ok     bool
	}{
		{"zero", Config{}, true},
		{"oldest", Config{Release: Oldest}, true},
		{"newest", Config{Release: Newest}, true},
		{"older", Config{Release: Oldest - 1}, false},
		{"newer", Config{Release: Newest + 1}, false},
		{"no capacity", Config{Capacity: -1}, true},
		{"negative threshold", Config{Threshold: -1}, false},
	}
	for _, tt := range tests {
		if _, err := New(tt.config); (err == nil) != tt.ok {
			t.Errorf("%s: New = %v, want ok %v", tt.name, err, tt.ok)
		}
	}
}

func TestParseRelease(t *testing.T) {
	tests := []struct {
		text string
		want Release // 0: an error
	}{
		{"1.36", 36}, {"v1.36.2", 36}, {"v1.30.4-eks-abc", 30}, {"1.30+", 30}, {"1.25", 25}, {"1.37", 37},
		{"1.24", 0}, {"1.38", 0}, {"2.36", 0}, {"", 0}, {"1", 0}, {"1.", 0}, {"1.256", 0}, {"latest", 0},
	}
	for _, tt := range tests {
		if got, err := ParseRelease(tt.text); got != tt.want || (err == nil) != (tt.want != 0) {
			t.Errorf("ParseRelease(%q) = %v, %v, want %d", tt.text, got, err, tt.want)
		}
	}
}

func TestMode(t *testing.T) {
	for _, m := range []Mode{Generic, Evented} {
		if got, err := ParseMode(m.String()); got != m || err != nil {
			t.Errorf("ParseMode(%q) = %v, %v", m, got, err)
		}
	}
	if _, err := ParseMode("fast"); err == nil || !strings.Contains(err.Error(), "generic or evented") {
		t.Errorf("mode fast: %v", err)
	}
	for _, tt := range []struct {
		mode    Mode
		release Release
		ok      bool
	}{
		{Generic, 25, true}, {Generic, 37, true}, {Evented, 25, false}, {Evented, 36, false}, {Evented, 37, true},
	} {
		err := tt.mode.Check(tt.release)
		if (err == nil) != tt.ok || err != nil && !strings.Contains(err.Error(), "kubelet 1.37, not of "+tt.release.String()) {
			t.Errorf("%v of %v: %v", tt.mode, tt.release, err)
		}
	}
}

// kubelet 1.37, evented.go: every CONTAINER_STOPPED event that has the metadata of its sandbox,
// however the container ended.
func TestEventsThatAskForARelist(t *testing.T) {
	whole := statusOf(pod("a", "s1 running", "c1 exited"))
	tests := []struct {
		name string
		u    Upstream
		want UID
	}{
		{"the end of a container", Upstream{Signal: SignalStopped, ID: "c1", Status: whole}, "a"},
		{"the end of a sandbox", Upstream{Signal: SignalStopped, ID: "s1", Status: whole}, "a"},
		{"created", Upstream{Signal: SignalCreated, ID: "c1", Status: whole}, ""},
		{"started", Upstream{Signal: SignalStarted, ID: "c1", Status: whole}, ""},
		{"deleted", Upstream{Signal: SignalDeleted, ID: "c1", Status: whole}, ""},
		{"no status", Upstream{Signal: SignalStopped, ID: "c1", Pod: whole.PodRef}, ""},
		{"no sandbox", Upstream{Signal: SignalStopped, ID: "c1", Status: statusOf(pod("a", "c1 exited"))}, ""},
	}
	for _, tt := range tests {
		if got := tt.u.Asks(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A container's name stands behind its pod's as a path: a space would make it a word of the sentence.
func TestObjectsAreNamedByTheirPath(t *testing.T) {
	pod := PodRef{UID: "u", Namespace: "shop", Name: "web"}
	for _, tt := range []struct {
		of         ObjectRef
		path, text string
	}{
		{ObjectRef{Pod: pod, Container: "app", ID: "c"}, "shop/web/app", "shop/web/app"},
		{ObjectRef{Pod: pod, ID: "s", Sandbox: true}, "shop/web", "shop/web"},
		{ObjectRef{Pod: pod, ID: "c"}, "shop/web", "shop/web container c"},
		{ObjectRef{Pod: PodRef{UID: "u"}, Container: "app"}, "u/app", "u/app"},
		{ObjectRef{Container: "app", ID: "c"}, "app", "c (of a pod whose name is not known)"},
	} {
		if path, text := tt.of.Path(), tt.of.String(); path != tt.path || text != tt.text {
			t.Errorf("%+v is %q and %q, want %q and %q", tt.of, path, text, tt.path, tt.text)
		}
	}
}

func TestOrphans(t *testing.T) {
	p := pod("a", "s1 running", "s2 exited", "c1 running", "c2 running", "c3 exited", "c4 running", "c5 running")
	for i, sandbox := range []string{"s1", "s2", "s2", "s3", ""} {
		p.Containers[i].SandboxID = sandbox
	}
	var got []string
	for _, c := range p.Orphans() {
		got = append(got, c.ID)
	}
	if want := []string{"c2", "c4"}; !slices.Equal(got, want) {
		t.Errorf("orphans %v, want %v", got, want)
	}
}

func TestCompose(t *testing.T) {
	ref := PodRef{UID: "a", Namespace: "ns", Name: "pod"}
	at := func(n int) time.Time { return epoch.Add(time.Duration(n) * time.Second) }
	old, young := SandboxStatus{ID: "s1", State: Running, CreatedAt: at(1), IPs: []string{"1"}}, SandboxStatus{ID: "s2", State: Running, CreatedAt: at(2), IPs: []string{"2", "3"}}
	ended := young
	ended.State = Exited
	c := func(id string, n int) ContainerStatus { return ContainerStatus{ID: id, CreatedAt: at(n)} }
	tests := []struct {
		name       string
		sandboxes  []SandboxStatus
		containers []ContainerStatus
		want       PodStatus
	}{
		{"nothing", nil, nil, PodStatus{PodRef: ref}},
		{
			"newest first, those of one age as given", nil, []ContainerStatus{c("c1", 1), c("c3", 2), c("c2", 2), c("c0", 0)},
			PodStatus{PodRef: ref, Containers: []ContainerStatus{c("c3", 2), c("c2", 2), c("c1", 1), c("c0", 0)}},
		},
		{"addresses of the newest sandbox", []SandboxStatus{old, young}, nil, PodStatus{PodRef: ref, IPs: []string{"2", "3"}, Sandboxes: []SandboxStatus{young, old}}},
		{"none if the newest is not ready", []SandboxStatus{old, ended}, nil, PodStatus{PodRef: ref, Sandboxes: []SandboxStatus{ended, old}}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(&tt.want, Compose(ref, tt.sandboxes, tt.containers), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: status (-want +got):\n%s", tt.name, diff)
		}
	}
}
