package lines

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/quick"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
)

// valid returns what the schema has against a JSON object.
func valid(object []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(object))
	if err != nil {
		return err
	}
	return schema.Validate(v)
}

func TestCheckJSONFollowsTheSchema(t *testing.T) {
	for _, scene := range scenes {
		object := checkOutput(t, scene.make(), CheckOptions{JSON: true, Source: "demo"})
		if err := valid(object); err != nil {
			t.Errorf("%s: %v", scene.name, err)
		}
		if harmful(strings.TrimSuffix(string(object), "\n")) {
			t.Errorf("%s: control character in %q", scene.name, object)
		}
	}
}

// TestSchemaIsStrict holds that the schema finds the mistakes that it is for.
func TestSchemaIsStrict(t *testing.T) {
	good := string(checkOutput(t, hungCheck(), CheckOptions{JSON: true, Source: "cri"}))
	for _, tt := range []struct{ name, old, new string }{
		{"another schema", "plegtop/check/1", "plegtop/check/2"},
		{"a field too many", `"source":`, `"sauce":1,"source":`},
		{"a field too few", `"kubeletVersion":"v1.36.2",`, ``},
		{"no array", `"findings":[`, `"findings":null,"was":[`},
		{"unknown finding", `"id":"inspect-hung"`, `"id":"inspect-stuck"`},
		{"unknown severity", `"severity":"critical"`, `"severity":"fatal"`},
		{"unknown operation", `"operation":"ContainerStatus"`, `"operation":"StopContainer"`},
		{"duration as text", `"thresholdSeconds":180`, `"thresholdSeconds":"3m"`},
		{"negative age", `"listAgeSeconds":0.34`, `"listAgeSeconds":-0.34`},
		{"time without a zone", `12:00:00Z`, `12:00:00`},
		{"empty name", `"container":"app"`, `"container":""`},
		{"escape in a text", `"summary":"`, `"summary":"\u001b[2J`},
		{"bidi in a text", `"verdict":"`, `"verdict":"\u202e`},
		{"verdict of a healthy one", `"verdict":""`, `"verdict":"pleg has yet to be successful"`},
	} {
		bad := strings.Replace(good, tt.old, tt.new, 1)
		if bad == good {
			t.Errorf("%s: the object has no %s", tt.name, tt.old)
		} else if err := valid([]byte(bad)); err == nil {
			t.Errorf("%s is valid by the schema", tt.name)
		}
	}
}

// TestSchemaKnowsEveryFinding holds that the contract takes each kind.
func TestSchemaKnowsEveryFinding(t *testing.T) {
	for _, id := range diagnose.IDs() {
		r := healthyCheck()
		r.Findings = []diagnose.Finding{{ID: id, Summary: "so"}}
		if err := valid(checkOutput(t, r, CheckOptions{JSON: true, Source: "cri"})); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func TestCheckJSONKeepsNames(t *testing.T) {
	var back struct {
		Findings []struct {
			Subject struct{ Pod, Container string }
		}
	}
	if err := json.Unmarshal(checkOutput(t, hostileCheck(), CheckOptions{JSON: true}), &back); err != nil {
		t.Fatal(err)
	}
	want := strings.ToValidUTF8(hostile, "\ufffd")
	got := back.Findings[0].Subject
	if strings.ReplaceAll(got.Pod, "\ufffd\ufffd", "\ufffd") != want || got.Pod != got.Container {
		t.Errorf("pod = %q, want %q", got.Pod, want)
	}
}

// TestCheckJSONHoldsAgainstAnyText lets the runtime say whatever it likes.
func TestCheckJSONHoldsAgainstAnyText(t *testing.T) {
	err := quick.Check(func(a, b string, raw []byte) bool {
		r := hungCheck()
		r.Snapshot.Version = pleg.Version{RuntimeName: a, RuntimeVersion: string(raw)}
		r.Snapshot.Node.Message = b + string(raw)
		f := &r.Findings[0]
		f.Summary, f.Evidence = "s"+string(raw), []string{a, b}
		f.Subject.Pod, f.Subject.Container = pleg.PodRef{Namespace: a, Name: string(raw)}, b
		f.Next = []diagnose.Step{{Kind: diagnose.Look, Text: "t" + b, Command: string(raw) + "x"}}
		object := checkOutput(t, r, CheckOptions{JSON: true, Source: "cri", Node: a, Endpoint: b})
		text := checkOutput(t, r, CheckOptions{Width: 80, Node: a, Endpoint: b})
		return valid(object) == nil && !harmful(strings.TrimSpace(string(object))) && !harmful(strings.ReplaceAll(string(text), "\n", ""))
	}, &quick.Config{MaxCount: 100})
	if err != nil {
		t.Error(err)
	}
}
