package lines

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
)

func TestNPDLine(t *testing.T) {
	long := func(r diagnose.Update) diagnose.Update {
		f := &r.Findings[0]
		f.Subject.Pod = pleg.PodRef{Namespace: "a-team-with-a-long-name", Name: "deployment-with-a-very-long-name-7d9c8b6f5d-x2v4q"}
		return r
	}
	warned := func(r diagnose.Update) diagnose.Update {
		r.Snapshot.Sweep.CutOff = false
		return r
	}
	givenUp := func(r diagnose.Update) diagnose.Update {
		r.Snapshot.Sweep.GivenUp = "nobody listens any more"
		return r
	}
	noID := func(n int) diagnose.Update {
		r := healthyCheck()
		s := *r.Snapshot
		s.Anomalies.NoID = n
		r.Snapshot = &s
		return r
	}
	neverAsked := func(r diagnose.Update) diagnose.Update {
		r.Snapshot.Sweep, r.Headline = nil, diagnose.Headline{Word: "NO LIST", Text: "was answered in time"}
		return r
	}
	for _, tt := range []struct {
		name string
		of   diagnose.Update
		want string
	}{
		{"hung", hungCheck(), "inspect-hung: ContainerStatus default/nfs-client/app 12s +1"},
		{"long names", long(hungCheck()), "inspect-hung: ContainerStatus a-team-with-a-long-~e-7d9c8b6f5d-x2v4q/app 12s +1"},
		{"no pod", downCheck(), "runtime-down: the runtime refuses connections +2"},
		{"healthy", healthyCheck(), "ok: 110 pods, 220 containers: every call answered, slowest 12ms"},
		{"warning", warned(warningsCheck()), "ok, warning: crash-loop: shop/cart-7d9c8b6f5d-x2v4q/app"},
		{"cut off", warningsCheck(), "unknown: cut off by the deadline"},
		{"given up", givenUp(warningsCheck()), "unknown: given up: nobody listens any more"},
		{"one without an id", noID(1), "ok, warning: 1 object listed without an id, which nobody can ask for"},
		{"most without an id", noID(95_000), "unknown: 95,000 objects listed without an id, which nobody can ask for"},
		{"never asked", neverAsked(warningsCheck()), "unknown: NO LIST was answered in time"},
	} {
		if got := string(checkOutput(t, tt.of, CheckOptions{NPD: true, JSON: true})); got != tt.want+"\n" {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if got, want := npdCode(tt.of) == NPDUnknown, strings.HasPrefix(tt.want, "unknown"); got != want {
			t.Errorf("%s: the status says unknown: %t", tt.name, got)
		}
	}
}

func TestNPDUnknown(t *testing.T) {
	var b bytes.Buffer
	code, err := WriteUnknown(&b, errors.New("no runtime found:\n  /run/containerd/containerd.sock: permission denied: try sudo, or name it with --runtime-endpoint"), &engine.Snapshot{}, CheckOptions{NPD: true})
	if want := "unknown: no runtime found:   /run/containerd/containerd.sock: permission denie~\n"; err != nil || b.String() != want || code != NPDUnknown {
		t.Errorf("%d, %q, %v; want %q", code, b.String(), err, want)
	}
}

func FuzzNPDLine(f *testing.F) {
	f.Add("default", "nfs-client", "app", "hangs", 1)
	f.Add(hostile, strings.Repeat("x", 300), hostile, "", 12)
	f.Add("", "", strings.Repeat("é", 90), hostile, 1000)
	f.Fuzz(func(t *testing.T, namespace, pod, container, summary string, n int) {
		r := hungCheck()
		one := &r.Findings[0]
		one.Summary = summary
		one.Subject.Pod, one.Subject.Container = pleg.PodRef{UID: "u", Namespace: namespace, Name: pod}, container
		for range min(max(n, 0), 2000) {
			r.Findings = append(r.Findings, diagnose.Finding{ID: diagnose.CrashLoop})
		}
		line := string(checkOutput(t, r, CheckOptions{NPD: true}))
		body, ended := strings.CutSuffix(line, "\n")
		if len(line) > npdLimit || !ended || !strings.HasPrefix(line, "inspect-hung: ") {
			t.Errorf("%d bytes: %q", len(line), line)
		}
		if i := strings.IndexFunc(body, func(r rune) bool { return r < ' ' || r > '~' }); i >= 0 {
			t.Errorf("not printable ASCII: %q", line)
		}
	})
}

// npdCode is the exit code that goes with the line of u.
func npdCode(u diagnose.Update) int {
	_, code := npd(u)
	return code
}
