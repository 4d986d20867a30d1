package metrics

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.yaml.in/yaml/v3"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/record"
)

const deploy = "../../docs/deploy"

// rules are what Prometheus reads of alerts.yaml.
type rules struct {
	Groups []struct {
		Rules []struct {
			Alert, Expr         string
			Labels, Annotations map[string]string
		}
	}
}

func alerts(t *testing.T) (all rules) {
	t.Helper()
	if err := yaml.Unmarshal(page(t, deploy+"/alerts.yaml"), &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Groups) == 0 || len(all.Groups[0].Rules) < 8 {
		t.Fatalf("%+v", all)
	}
	return all
}

func page(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var (
	metricName = regexp.MustCompile(`\bplegtop_[a-z_]+`)
	labelValue = regexp.MustCompile(`\b(id|check|what|phase|role|severity|delivery|seen_by|operation)=~?"([^"]*)"`)
)

// Every metric that alerts and the dashboard ask for is exported, and so are values of its labels.
func TestDeployedMetricsExist(t *testing.T) {
	exported := string(page(t, "testdata/hung.golden")) + string(exposed(t, full(t))) + "\n"
	for _, id := range diagnose.IDs() {
		exported += fmt.Sprintf("id=%q ", id)
	}
	exported += `what="PLEG unhealthy" severity="info"`
	for _, file := range []string{"alerts.yaml", "alerts_test.yaml", "grafana.json"} {
		text := strings.ReplaceAll(string(page(t, filepath.Join(deploy, file))), `\"`, `"`)
		names := metricName.FindAllString(text, -1)
		if len(names) < 5 {
			t.Errorf("%s names only %v", file, names)
		}
		for _, name := range names {
			if !strings.Contains(exported, "\n"+name+" ") && !strings.Contains(exported, "\n"+name+"{") {
				t.Errorf("%s: nobody exports %s", file, name)
			}
		}
		for _, found := range labelValue.FindAllStringSubmatch(text, -1) {
			for value := range strings.SplitSeq(found[2], "|") {
				if !strings.Contains(value, "$") && !strings.Contains(exported, fmt.Sprintf("%s=%q", found[1], value)) {
					t.Errorf("%s: no metric has %s=%q", file, found[1], value)
				}
			}
		}
	}
}

// Every alert leads to a page that is there.
func TestAlertsHaveRunbooks(t *testing.T) {
	const docs = "https://github.com/plegtop/plegtop/blob/main/docs/"
	for _, rule := range alerts(t).Groups[0].Rules {
		at := rule.Annotations["runbook_url"]
		path, anchor, _ := strings.Cut(strings.TrimPrefix(at, docs), "#")
		if rest := strings.TrimPrefix(at, docs); rest == at || rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" {
			t.Errorf("%s: runbook %q, labels %v, annotations %v", rule.Alert, at, rule.Labels, rule.Annotations)
			continue
		}
		anchors := []string{anchor}
		if anchor == "{{ $labels.id }}" {
			anchors = nil
			for _, id := range diagnose.IDs() {
				anchors = append(anchors, string(id))
			}
		}
		text := strings.ToLower(strings.ReplaceAll(string(page(t, "../../docs/"+path)), " ", "-"))
		for _, a := range anchors {
			if !strings.Contains(text, "\n##-"+a+"\n") {
				t.Errorf("%s: %s has no section %q", rule.Alert, path, a)
			}
		}
	}
}

// What is deployed parses, and asks for no more than it has to.
func TestDeployParses(t *testing.T) {
	var dashboard struct{ Panels []struct{ Title string } }
	if err := json.Unmarshal(page(t, deploy+"/grafana.json"), &dashboard); err != nil || len(dashboard.Panels) < 5 {
		t.Errorf("grafana.json: %v: %+v", err, dashboard)
	}
	kinds := map[string][]string{"daemonset.yaml": {"Namespace", "DaemonSet"}, "daemonset-evidence.yaml": {"DaemonSet"}, "podmonitor.yaml": {"PodMonitor"}}
	for file, want := range kinds {
		var got []string
		for from := yaml.NewDecoder(bytes.NewReader(page(t, filepath.Join(deploy, file)))); ; {
			var object struct{ Kind string }
			if err := from.Decode(&object); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			got = append(got, object.Kind)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has %v, want %v", file, got, want)
		}
	}
	set := string(page(t, deploy+"/daemonset.yaml"))
	for _, want := range []string{
		"automountServiceAccountToken: false", "readOnlyRootFilesystem: true", "drop: [ALL]", "allowPrivilegeEscalation: false", "runAsNonRoot: true",
		"app.kubernetes.io/name: plegtop", "name: http\n              containerPort: 9469", "- operator: Exists", "path: /healthz", "path: /readyz", "image: ghcr.io/plegtop/plegtop",
	} {
		if !strings.Contains(set, want) {
			t.Errorf("daemonset.yaml lacks %q", want)
		}
	}
	if strings.Contains(set, "hostPID: true") {
		t.Error("daemonset.yaml sees the node's processes")
	}
}

// fires has which alerts each recording brings up, in the order of the alphabet: promtool, which
// reads the file that is made of this, tells whether it does.
var fires = map[string][]string{
	"clock-step":              nil,
	"event-drift":             nil,
	"failing-store":           {critical},
	"flaky":                   nil,
	"hung-inspect":            {critical, "PlegtopInspectionHangs"},
	"no-address":              nil,
	"real-containerd-stopped": {critical, "PlegtopListHangs"},
	"real-shim-stopped":       {critical},
	"real-update-hangs":       {critical, "PlegtopListHangs"},
	"restart":                 nil,
	"runtime-slow":            nil,
	"status-lock":             {critical, "PlegtopListHangs"},
	"unhealthy":               {critical, "PlegtopListHangs", "PlegtopNodeNotReadySoon"},
}

const critical = "PlegtopFindingCritical"

const step = 5 * time.Second // from one sample of a recording to the next

// testdata/recorded.yaml has the series of each recording that rules ask for, by which promtool
// tells which alerts they bring up. Moments are counted from the beginning of the recording.
func TestAlertsOfRecordings(t *testing.T) {
	b := []byte("# Made of the recordings in engine/replay/testdata by `go test ./ui/metrics -run Alerts -update`.\nrule_files: [../../../docs/deploy/alerts.yaml]\nevaluation_interval: 5s\ntests:\n")
	asked := metricName.FindAllString(string(page(t, deploy+"/alerts.yaml")), -1)
	asked = slices.DeleteFunc(asked, func(name string) bool { return name == "plegtop_snapshot_timestamp_seconds" }) // is always new
	paths, err := filepath.Glob("../../engine/replay/testdata/*.plegrec")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d recordings, %v", len(paths), err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".plegrec")
		want, known := fires[name]
		if !known {
			t.Errorf("say in fires which alerts %s brings up", name)
		}
		recording, err := record.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer recording.Close()
		series, samples := seriesOf(t, recording, asked)
		b = fmt.Appendf(b, "  - name: %s\n    interval: %v\n    input_series:\n", name, step)
		for _, name := range slices.Sorted(maps.Keys(series)) {
			b = fmt.Appendf(b, "      - series: '%s'\n        values: %s\n", name, compact(series[name], samples))
		}
		b = fmt.Appendf(b, "    promql_expr_test:\n      - expr: count by (alertname) (max_over_time(ALERTS{alertstate=\"firing\"}[1h]))\n        eval_time: %v\n        exp_samples:\n", time.Duration(samples-1)*step)
		for _, alert := range want {
			b = fmt.Appendf(b, "          - labels: '{alertname=%q}'\n            value: 1\n", alert)
		}
	}
	const path = "testdata/recorded.yaml"
	if *update {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(page(t, path)), string(b)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// seriesOf returns the samples of a recording by their series, for the metrics that are asked for.
func seriesOf(t *testing.T, recording *record.Recording, asked []string) (series map[string]map[int]float64, n int) {
	t.Helper()
	series = map[string]map[int]float64{}
	began := recording.Heads()[0].At
	take := func(u *diagnose.Update) {
		registry := prometheus.NewRegistry()
		registry.MustRegister(newCollector(func() *diagnose.Update { return u }, "test"))
		all, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range all {
			for name, v := range valuesOf(family) {
				if bare, _, _ := strings.Cut(name, "{"); !slices.Contains(asked, bare) {
					continue
				}
				if strings.HasSuffix(family.GetName(), "_timestamp_seconds") {
					v = math.Round(v - float64(began.UnixMilli())/1000)
				}
				if series[name] == nil {
					series[name] = map[int]float64{}
				}
				series[name][n] = v
			}
		}
		n++
	}
	var last *diagnose.Update
	for run := recording.Play(time.Time{}).Feed(); run != nil; run = run.Rest() {
		live := diagnose.NewLive(run, "")
		for {
			u, err := live.Next(t.Context())
			if err != nil {
				break
			}
			for last != nil && u.Snapshot.At.Sub(began) > time.Duration(n)*step {
				take(last)
			}
			last = &u
		}
	}
	take(last)
	return series, n
}

// valuesOf returns the series of a family, of the node worker-17, as PromQL writes them.
func valuesOf(family *dto.MetricFamily) map[string]float64 {
	all := map[string]float64{}
	for _, m := range family.Metric {
		labels := `node="worker-17"`
		for _, l := range m.Label {
			labels += fmt.Sprintf(",%s=%q", l.GetName(), l.GetValue())
		}
		name := family.GetName() + "{" + labels + "}"
		switch {
		case m.Histogram != nil:
			// which no rule asks for within the minutes of a recording
		case m.Counter != nil:
			all[name] = m.Counter.GetValue()
		default:
			all[name] = m.Gauge.GetValue()
		}
	}
	return all
}

// compact writes samples as promtool reads them: what stays the same is written once, and what
// goes is marked, as Prometheus does where a scrape has it no more.
func compact(values map[int]float64, n int) string {
	var words []string
	for i := 0; i < n; {
		v, is := values[i]
		from := i
		for i++; i < n; i++ {
			if next, there := values[i]; there != is || next != v {
				break
			}
		}
		word, first := strconv.FormatFloat(v, 'f', -1, 64), 1 // 7x2 is three times 7
		switch {
		case !is && from > 0:
			word = "stale _"
		case !is:
			word, first = "_", 0
		}
		if more := i - from - first; more > 0 {
			word += fmt.Sprintf("x%d", more)
		} else {
			word = strings.TrimSuffix(word, " _")
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}
