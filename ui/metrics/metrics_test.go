package metrics

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/record"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/ui/rewind"
)

var update = flag.Bool("update", false, "write the goldens again")

// recorded returns what a recording shows some time after its beginning.
func recorded(t *testing.T, name string, after time.Duration) *diagnose.Update {
	t.Helper()
	r, err := record.Open(filepath.Join("../../engine/record/testdata", name+".plegrec"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	first, _ := r.Span()
	u, err := rewind.Moment(t.Context(), r, first.Add(after))
	if err != nil {
		t.Fatal(err)
	}
	return &u
}

// exposed returns the metrics of an update as Prometheus reads them.
func exposed(t *testing.T, u *diagnose.Update) []byte {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(newCollector(func() *diagnose.Update { return u }, "test"))
	all, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, family := range all {
		if _, err := expfmt.MetricFamilyToText(&b, family); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// What is exported of a node on which all is well, and of one on which an inspection hangs.
func TestMetrics(t *testing.T) {
	for name, after := range map[string]time.Duration{"healthy": 4 * time.Second, "hung": 40 * time.Second} {
		got, path := exposed(t, recorded(t, "hung-inspect", after)), filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// hostile is what a runtime may say to break an exposition.
const hostile = "a\"\\\n\xff\x00}"

// full is an update that has a value of each metric, some of them twice.
func full(t *testing.T) *diagnose.Update {
	u := recorded(t, "event-drift", 40*time.Second)
	s := *u.Snapshot
	pod := pleg.PodRef{UID: "1", Namespace: hostile, Name: hostile}
	late := call.Flight{Op: call.ContainerStatus, Pod: pod, Container: hostile, ID: hostile, Since: s.At.Add(-time.Minute)}
	s.InFlight = []call.Flight{late, late}
	s.Calls = append([]answers.Calls(nil), s.Calls...)
	s.Calls[call.Status].ByCode = []answers.CodeCount{{Code: hostile, Count: 1}, {Code: hostile + "\x01", Count: 1}}
	s.Version = pleg.Version{RuntimeName: hostile, RuntimeVersion: hostile, APIVersion: hostile}
	s.Phase = engine.Phase{Step: engine.Listing, Began: s.At.Add(-time.Minute)}
	s.Node.Next = kubelet.Posting{From: s.At.Add(time.Minute), To: s.At.Add(2 * time.Minute)}
	s.Node.SyncedAt, s.Node.DownAt = s.At.Add(-20*time.Second), s.At.Add(10*time.Second)
	s.Drift = []sources.Drift{{Source: sources.FromCRI, Both: 5, MissedBySource: 3, MissedByRelist: 1}}
	u.Snapshot = &s
	subject := diagnose.Subject{ObjectRef: pleg.ObjectRef{Pod: pod}}
	f := diagnose.Finding{ID: diagnose.InspectHung, Severity: diagnose.Critical, Subject: subject, Members: []diagnose.Subject{subject}, Since: s.At.Add(-time.Minute)}
	earlier := f
	earlier.Since = s.At.Add(-time.Hour)
	u.Findings = []diagnose.Finding{f, earlier, {ID: diagnose.PLEGUnhealthy, Severity: diagnose.Warning, Cause: diagnose.InspectHung}}
	u.Headline.Clock = diagnose.Clock{What: "NotReady", In: time.Minute}
	return u
}

// Metrics are named as Prometheus has it, each has a value here, and what a runtime says breaks
// nothing.
func TestMetricsAreClean(t *testing.T) {
	u := full(t)
	text := exposed(t, u)
	for _, m := range table {
		if !bytes.Contains(text, []byte("\n"+m.name+"{")) && !bytes.Contains(text, []byte("\n"+m.name+" ")) && !bytes.Contains(text, []byte("\n"+m.name+"_bucket{")) {
			t.Errorf("%s has no value", m.name)
		}
	}
	problems, err := promlint.New(bytes.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	for _, want := range []string{
		`plegtop_findings{id="inspect-hung",role="cause",severity="critical"} 2`, `plegtop_findings{id="pleg-unhealthy",role="effect",severity="warning"} 1`,
		`plegtop_event_transitions{seen_by="relist",source="cri"} 3`, `plegtop_relist_phase{phase="list"} 1`,
	} {
		if !bytes.Contains(text, []byte(want+"\n")) {
			t.Errorf("no %s", want)
		}
	}
	if got, want := value(t, text, `plegtop_finding_start_timestamp_seconds{id="inspect-hung"}`), u.Findings[1].Since; !got.Equal(want.Truncate(time.Millisecond)) {
		t.Errorf("the finding is of %v, want %v, which is the earlier of two", got, want)
	}
	if bytes.Contains(text, []byte(`pod="`)) {
		t.Error("names of pods")
	}
}

// value returns a moment that is among metrics.
func value(t *testing.T, text []byte, name string) time.Time {
	t.Helper()
	_, rest, _ := strings.Cut(string(text), "\n"+name+" ")
	word, _, _ := strings.Cut(rest, "\n")
	var seconds float64
	if _, err := fmt.Sscan(word, &seconds); err != nil {
		t.Fatalf("%s %q: %v", name, word, err)
	}
	return time.UnixMilli(int64(seconds*1000 + 0.5))
}

// Before anything was seen there is the version, and nothing that could be taken for a node's.
func TestNothingIsMadeUp(t *testing.T) {
	if text := string(exposed(t, nil)); strings.Count(text, "\n") != 3 || !strings.Contains(text, `plegtop_build_info{version="test"} 1`) {
		t.Errorf("%s", text)
	}
}

// docs/serve.md has each metric, as the table has it.
func TestMetricsInDocs(t *testing.T) {
	const path, from, to = "../../docs/serve.md", "<!-- metrics -->\n", "<!-- /metrics -->\n"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), from)
	got, tail, ok := strings.Cut(rest, to)
	if !ok {
		t.Fatalf("%s has no list of metrics between its markers", path)
	}
	want := "| metric | labels | says |\n|---|---|---|\n"
	for _, m := range table {
		kind := ""
		if m.bounds != nil {
			kind = "Histogram. "
		}
		want += fmt.Sprintf("| `%s` | %s | %s%s |\n", m.name, strings.Join(m.labels, ", "), kind, m.help)
	}
	if *update {
		if err := os.WriteFile(path, []byte(head+from+want+to+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
