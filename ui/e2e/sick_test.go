//go:build linux

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plegtop/plegtop/cri/sim"
)

// An accused is what a finding says of whom it is about.
type accused struct {
	ID, Severity, Summary string
	Subject               struct{ Namespace, Pod, ContainerID string }
	Evidence              []string
	Chain                 []struct{ Kind, ID, Name, Proof string }
}

func (a accused) text() string { return a.Summary + "\n" + strings.Join(a.Evidence, "\n") }

func accusations(t *testing.T, c checked) []accused {
	t.Helper()
	var all struct{ Findings []accused }
	if err := json.Unmarshal([]byte(c.stdout), &all); err != nil {
		t.Fatalf("%v in %q; standard error: %s", err, c.stdout, c.stderr)
	}
	return all.Findings
}

// A check that is begun on a node that is sick already names the container and the
// program that does not end, though no list ever did.
func TestCheckOfASickNode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		scenario, id, severity string
		says                   []string // in the first finding and its evidence, or those that it leads to
		exit                   int
	}{
		{"hung-update", "helper-stuck", "critical", []string{
			"ContainerStatus", "goroutines wait for the status of container", "has held it for 5m in ttrpc Task.Update",
			"UpdateContainerResources 1 in flight", "containerd#12680",
		}, 2},
	} {
		t.Run(tt.scenario, func(t *testing.T) {
			t.Parallel()
			got := check(t, "--demo="+tt.scenario, "check", "-o", "json")
			all := accusations(t, got)
			if len(all) == 0 || all[0].ID != tt.id || all[0].Severity != tt.severity || got.exit != tt.exit {
				t.Fatalf("exit code %d, findings %+v, want %s first", got.exit, all, tt.id)
			}
			if s := all[0].Subject; s.Namespace != "payments" || !strings.HasPrefix(s.Pod, "api-") || !regexp.MustCompile("^[0-9a-f]{64}$").MatchString(s.ContainerID) {
				t.Errorf("it is about %+v", s)
			}
			var text strings.Builder
			for _, a := range all {
				text.WriteString(a.text())
			}
			for _, want := range tt.says {
				if !strings.Contains(text.String(), want) {
					t.Errorf("nowhere %q in %+v", want, all)
				}
			}
		})
	}
}

// The first line is enough to know whom to look at. After midnight it has the day before, too.
func TestFirstLineOfASickNode(t *testing.T) {
	t.Parallel()
	got := check(t, "--demo=hung-update", "check")
	first, _, _ := strings.Cut(got.stdout, "\n")
	if !regexp.MustCompile(`^✖ LISTS HANG  NotReady since [-0-9: ]+, no list since [-0-9: ]+: blocked by payments/api-\S+/api -> runc update \(5m\)`).MatchString(first) {
		t.Errorf("the first line is %q", first)
	}
}

// What no call tells stands in the headline all the same: every call is answered.
func TestHeadlinesOfWhatNoCallTells(t *testing.T) {
	t.Parallel()
	for scenario, headline := range map[string]string{
		"failing-store": "▲ AT RISK  node Ready, the kernel could not write the disk of the runtime's data: /var/lib/containerd on /dev/vdb1",
	} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			r := demo(t, 160, 40, nil, "--demo="+scenario)
			r.see(t, headline)
			r.press(t, "q")
			r.over(t, 0)
		})
	}
	first, _, _ := strings.Cut(check(t, "--demo=failing-store", "check").stdout, "\n")
	if !strings.HasPrefix(first, "✖ AT RISK  the kernel could not write the disk of the runtime's data") {
		t.Errorf("check says %q", first)
	}
}

// What plegtop asks of a node on which everything is served that it could ask: the calls
// of the CRI that read, and beside them a dump of stacks and the metrics, and neither of
// a node that is well. Not beside the other tests: of a machine that is too busy to answer plegtop asks more.
func TestNothingElseIsAskedFor(t *testing.T) {
	for scenario, want := range map[string]struct {
		seen, asked string
		dumps       int // one of the check, one of the screen
	}{
		"hung-update": {"payments/api-", "^GET (unix /debug/pprof/goroutine\\?debug=2|tcp /v1/metrics)$", 2},
		"tour":        {"report", "^$", 0}, // after 8 s, and so after a second look at the node
	} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			s, err := sim.Start(t.Context(), sim.Config{Scenario: scenario, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			const usual = "/run/containerd/containerd.sock"
			socket := strings.TrimPrefix(s.Endpoint(), "unix://")
			for _, onNode := range []string{usual, socket} { // as the shims call it
				must(t, os.MkdirAll(s.HostRoot()+filepath.Dir(onNode), 0o700))
				must(t, os.Link(socket, s.HostRoot()+onNode))
			}
			node := []string{"--runtime-endpoint", "unix://" + usual, "--host-root", s.HostRoot()}
			_ = check(t, append(slices.Clone(node), "check")...)
			r := start(t, 120, 40, nil, plegtop(t), node...)
			r.see(t, want.seen)
			r.press(t, "q")
			r.over(t, 0)
			reads := []string{
				"Version", "Status", "RuntimeConfig", "ListPodSandbox", "ListContainers", "PodSandboxStatus", "ContainerStatus",
			}
			calls := s.Calls()
			for _, c := range calls {
				if !slices.Contains(reads, c.Method) {
					t.Errorf("it calls %s", c.Method)
				}
			}
			if len(calls) == 0 {
				t.Error("no call was recorded")
			}
			asked := s.Requests()
			dumps := 0
			for _, request := range asked {
				if strings.Contains(request, "goroutine") {
					dumps++
				}
			}
			if dumps != want.dumps {
				t.Errorf("check and screen ask for %q, want %d dumps", asked, want.dumps)
			}
			for _, request := range asked {
				if !regexp.MustCompile(want.asked).MatchString(request) {
					t.Errorf("it asks for %q", request)
				}
			}
		})
	}
}
