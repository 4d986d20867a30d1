package metrics

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/plegtop/plegtop/engine/diagnose"
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
