package lines

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/plegtop/plegtop/cri"
	"github.com/plegtop/plegtop/cri/sim"
	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

// compiled returns a schema of docs.
func compiled(name string) *jsonschema.Schema {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	return c.MustCompile(filepath.Join("..", "..", "docs", name))
}

var watchSchema = compiled("watch.schema.json")

// validLines returns how many lines of each kind there are, all of which must follow the schema.
func validLines(t *testing.T, lines string) map[string]int {
	t.Helper()
	kinds := map[string]int{}
	for line := range strings.Lines(lines) {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if err := watchSchema.Validate(v); err != nil {
			t.Errorf("%s%v", line, err)
		}
		if harmful(strings.TrimSuffix(line, "\n")) {
			t.Errorf("control character in %q", line)
		}
		kinds[v.(map[string]any)["kind"].(string)]++
	}
	return kinds
}

// everything is updates in which each kind of line is written.
func everything() []diagnose.Update {
	all := append(streamed(), story()...)
	all[1].Lost = 3
	down := second(140)
	down.Snapshot.Health = kubelet.Health{Verdict: "pleg was last seen active 3m1.002555892s ago; threshold is 3m0s"}
	down.Snapshot.Failure = &answers.Failure{Err: context.DeadlineExceeded}
	down.Snapshot.Node = kubelet.Node{Known: true, Reason: "KubeletNotReady", Message: hostile, RuntimeDown: hostile, LoopStopped: noon}
	for kind := range pleg.NetworkFailed + 1 {
		for delivery := range pleg.Derived + 1 {
			e := died()
			e.Kind, e.Delivery, e.Mode = kind, delivery, pleg.Mode(delivery%2)
			e.From, e.To = pleg.State(kind%5), pleg.State(delivery%5)
			e.Pod, e.Container, e.ID = pleg.PodRef{}, "", ""
			down.Events = append(down.Events, e)
		}
	}
	return append(all, down)
}

func TestWatchJSONFollowsTheSchema(t *testing.T) {
	got := validLines(t, watch(t, Options{JSON: true}, everything()...))
	for _, kind := range []string{"headline", "event", "gap", "health", "node", "loop", "finding", "source", "drift"} {
		if got[kind] == 0 {
			t.Errorf("no %s line in %v", kind, got)
		}
		delete(got, kind)
	}
	if len(got) > 0 {
		t.Errorf("more kinds: %v", got)
	}
	for _, scene := range scenes {
		u := scene.make()
		for _, f := range u.Findings {
			u.Turns = append(u.Turns, diagnose.Turn{Kind: diagnose.Began, Finding: f})
		}
		validLines(t, watch(t, Options{JSON: true}, u))
	}
}

// TestWatchJSONHoldsAgainstAnyText lets the runtime and its stream say whatever they like.
func TestWatchJSONHoldsAgainstAnyText(t *testing.T) {
	err := quick.Check(func(a, b string, raw []byte, seq uint64, lead int64, state uint8) bool {
		e := sighted(a, map[sources.Source]time.Duration{sources.FromCRI: time.Duration(lead), sources.FromRelist: 0})
		e.Seq, e.Pod, e.ID, e.Reason = max(seq, 1), pleg.PodRef{UID: pleg.UID(b), Namespace: a, Name: string(raw)}, b, string(raw)
		u := second(0)
		u.Events = []engine.Event{e}
		told := sources.StreamConnected + sources.StreamState(state)%(sources.StreamFellBack-sources.StreamConnected+1)
		u.Snapshot.SourceChanges = []sources.SourceChange{{Seq: 1, At: noon, Source: sources.FromCRI, State: told, Reason: string(raw) + a}}
		u.Snapshot.Drift = []sources.Drift{{Source: sources.FromCgroup, Both: seq, LeadP50: time.Duration(lead)}}
		text := watch(t, Options{}, u)
		return len(validLines(t, watch(t, Options{JSON: true}, u))) == 5 && !harmful(strings.ReplaceAll(text, "\n", "")) && !t.Failed()
	}, &quick.Config{MaxCount: 100})
	if err != nil {
		t.Error(err)
	}
}

// TestWatchSchemaIsStrict holds that the schema finds the mistakes that it is for.
func TestWatchSchemaIsStrict(t *testing.T) {
	good := watch(t, Options{JSON: true}, everything()...)
	for _, tt := range []struct{ name, old, new string }{
		{"another schema", "plegtop/watch/1", "plegtop/watch/2"},
		{"unknown kind", `"kind":"drift"`, `"kind":"drifts"`},
		{"a field too many", `"kind":"source",`, `"kind":"source","sauce":1,`},
		{"a field too few", `"state":"connected",`, ``},
		{"a state on the way", `"state":"connected"`, `"state":"opening"`},
		{"the relist as an event source", `"kind":"drift","source":"cri"`, `"kind":"drift","source":"relist"`},
		{"unknown source", `"seenBy":"cgroup"`, `"seenBy":"ebpf"`},
		{"unknown mode", `"mode":"generic"`, `"mode":"none"`},
		{"no sightings", `"sightings":[{"source":"relist","time":"2026`, `"sightings":[],"seen":[{"source":"relist","time":"2026`},
		{"unknown delivery", `"delivery":"unseen"`, `"delivery":"lost"`},
		{"lead as text", `"leadP50Seconds":0.4`, `"leadP50Seconds":"400ms"`},
		{"negative count", `"missedByRelist":1`, `"missedByRelist":-1`},
		{"unknown finding", `"id":"inspect-hung"`, `"id":"inspect-stuck"`},
	} {
		bad := strings.Replace(good, tt.old, tt.new, 1)
		at := slices.IndexFunc(strings.Split(bad, "\n"), func(line string) bool {
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
			return err == nil && watchSchema.Validate(v) != nil
		})
		if bad == good || at < 0 {
			t.Errorf("%s: found in line %d; changed: %v", tt.name, at, bad != good)
		}
	}
}

// TestSchemasAgree holds that what both views write is the same in both schemas. Neither
// refers to the other: who has copied one file alone, as a pipeline does, can validate with it.
func TestSchemasAgree(t *testing.T) {
	var of [2]struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Defs       map[string]json.RawMessage `json:"$defs"`
	}
	for i, name := range []string{"check.schema.json", "watch.schema.json"} {
		if err := json.Unmarshal(document(t, name), &of[i]); err != nil {
			t.Fatal(err)
		}
	}
	check, shared := of[0].Defs, 0
	check["headline"] = of[0].Properties["headline"]
	for name, def := range of[1].Defs {
		if other, both := check[name]; both {
			shared++
			if diff := cmp.Diff(compact(t, other), compact(t, def)); diff != "" {
				t.Errorf("%s (-check +watch):\n%s", name, diff)
			}
		}
	}
	if shared != 12 {
		t.Errorf("%d definitions are shared", shared)
	}
}

func compact(t *testing.T, j json.RawMessage) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, j); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// demo returns a runtime of the demo, and a client of it.
func demo(t *testing.T, c sim.Config) (*sim.Server, *cri.Client) {
	t.Helper()
	c.Seed = 1
	server, err := sim.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	client, err := cri.Dial(server.Endpoint())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return server, client
}
