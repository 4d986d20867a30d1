package pleg

import (
	"strings"
	"testing"
)

func TestParseMode(t *testing.T) {
	for _, m := range []Mode{Generic, Evented} {
		if got, err := ParseMode(m.String()); got != m || err != nil {
			t.Errorf("ParseMode(%q) = %v, %v", m, got, err)
		}
	}
	for _, none := range []string{"fast", "preview"} {
		if _, err := ParseMode(none); err == nil || !strings.Contains(err.Error(), "generic or evented") {
			t.Errorf("mode %q, which is none: %v", none, err)
		}
	}
}

func TestModeOfEachRelease(t *testing.T) {
	for _, tt := range []struct {
		mode    Mode
		release Release
		ok      bool
	}{
		{Generic, 25, true}, {Generic, 36, true}, {Generic, 37, true},
		{Evented, 25, false}, {Evented, 26, false}, {Evented, 36, false}, {Evented, 37, true},
	} {
		err := tt.mode.Check(tt.release)
		if (err == nil) != tt.ok || err != nil && !strings.Contains(err.Error(), "kubelet 1.37, not of "+tt.release.String()) {
			t.Errorf("%v of %v: %v", tt.mode, tt.release, err)
		}
	}
}

// kubelet 1.37, evented.go: every CONTAINER_STOPPED event that has the metadata of its
// sandbox, however the container ended.
func TestEventsThatAskForARelist(t *testing.T) {
	whole := pod("a", "s1 running", "c1 exited")
	noStatus := Upstream{Signal: SignalStopped, ID: "c1", Pod: whole.PodRef}
	noSandbox := pod("a", "c1 exited")
	tests := []struct {
		name string
		u    Upstream
		want UID
	}{
		{"the end of a container", upstream(SignalStopped, "c1", whole), "a"},
		{"the end of a sandbox", upstream(SignalStopped, "s1", whole), "a"},
		{"made", upstream(SignalCreated, "c1", whole), ""},
		{"started", upstream(SignalStarted, "c1", whole), ""},
		{"deleted", upstream(SignalDeleted, "c1", whole), ""},
		{"no status", noStatus, ""},
		{"no sandbox", upstream(SignalStopped, "c1", noSandbox), ""},
		{"no pod", upstream(SignalStopped, "c1", pod("", "s1 running", "c1 exited")), ""},
	}
	for _, tt := range tests {
		if got := tt.u.Asks(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func upstream(s Signal, id string, p Pod) Upstream {
	return Upstream{Signal: s, ID: id, At: epoch, Pod: p.PodRef, Status: statusOf(&p)}
}
