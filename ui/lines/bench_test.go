package lines

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/cri/sim"
	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

var benchSchema = compiled("bench.schema.json")

// A benched is a node whose runtime uses half a core, so many seconds after noon.
type benched struct{ *measurement }

func newBenched(source sources.Source, others ...sources.Source) benched {
	o := &BenchOptions{
		CheckOptions: CheckOptions{Node: "n", Source: "cri", Endpoint: "unix:///s", KubeletVersion: "1.37"},
		Periods:      []time.Duration{time.Second}, Sources: append(others, source), For: 20 * time.Second,
		Look: func(context.Context, engine.Looking) (*evidence.Report, error) {
			return &evidence.Report{Usage: []evidence.Usage{{Name: "containerd", CPU: 0.5}, {Name: "kubelet", CPU: 3}, {Name: "plegtop", CPU: 4}}}, nil
		},
	}
	m := &measurement{o: o, period: time.Second, source: source, told: map[transition]time.Time{}}
	m.setStreams = func(on ...sources.Source) { m.last.Sources = nil }
	return benched{m}
}

// update hands over what there is to see after so many seconds.
func (b benched) update(t *testing.T, n int, state sources.StreamState, events ...engine.Event) bool {
	t.Helper()
	s := second(n).Snapshot
	if n < 0 {
		s.Phase.Step = engine.Inspecting
	}
	s.Started, s.Version = noon, pleg.Version{RuntimeName: "containerd", RuntimeVersion: "2.4"}
	s.Health.ListedAt, s.Relists.Count = s.At, uint64(n)
	s.Calls = []answers.Calls{{Op: call.Status, Count: uint64(10 * n)}, {Op: call.ListContainers, Count: uint64(n)}}
	s.Sources = []sources.SourceState{{Source: sources.FromCRI, State: state, Reason: "so\x1b[2J"}}
	s.Drift = []sources.Drift{{Source: sources.FromCRI, Transitions: uint64(3 * n), MissedBySource: uint64(n / 4)}}
	return b.take(t.Context(), engine.Update{Snapshot: s, Events: events})
}

// transitionOf returns the death of a container, seen so long after noon and so late.
func transitionOf(id string, seen, lag time.Duration, seenBy map[sources.Source]time.Duration) engine.Event {
	e := sighted("", seenBy)
	e.ID, e.SeenAt, e.Lag, e.HasLag = id, noon.Add(seen), lag, true
	return e
}

// TestBenchOfTheRelist holds what is measured with no source: lag to when the relist saw
// what a referee had seen before, costs of the first half, misses of the second.
func TestBenchOfTheRelist(t *testing.T) {
	b := newBenched(sources.FromRelist, sources.FromCRI)
	unseen := func(id string, at time.Duration) engine.Event {
		e := transitionOf(id, at, 0, map[sources.Source]time.Duration{sources.FromCRI: at})
		e.Delivery, e.HasLag = pleg.Unseen, false
		return e
	}
	both := map[sources.Source]time.Duration{sources.FromCRI: 15 * time.Second, sources.FromRelist: 15*time.Second + 300*ms}
	derived := transitionOf("d", 15*time.Second, 0, nil)
	derived.Delivery, derived.Kind = pleg.Derived, pleg.NetworkSetUp
	first := transitionOf("no news", 3*time.Second, 0, nil)
	first.AtStart = true
	for _, step := range []struct {
		at     int
		state  sources.StreamState
		events []engine.Event
	}{
		{-1, sources.StreamOff, []engine.Event{transitionOf("while it inspects", 0, 0, nil)}},
		{0, sources.StreamOff, []engine.Event{transitionOf("before", 0, 0, nil)}},
		{5, sources.StreamOff, []engine.Event{transitionOf("a", 5*time.Second, 400*ms, nil), transitionOf("old", -time.Second, 0, nil), first}},
		{10, sources.StreamOff, nil},
		{12, sources.StreamConnected, nil},
		{15, sources.StreamConnected, []engine.Event{unseen("short", 13*time.Second), unseen("c", 14*time.Second)}},
		{16, sources.StreamConnected, []engine.Event{transitionOf("b", 15*time.Second, 100*ms, both), transitionOf("c", 14*time.Second, 0, nil), derived}},
		{20, sources.StreamConnected, []engine.Event{unseen("not yet", 20*time.Second)}},
	} {
		if over := b.update(t, step.at, step.state, step.events...); over != (step.at == 20) {
			t.Errorf("over after %d s: %v", step.at, over)
		}
	}
	b.finish(t.Context())
	got := b.object(false)
	if got.CallsPerSecond < 1e3 { // 11 each second by the clock of the engine, which is not ours here
		t.Errorf("%v calls a second", got.CallsPerSecond)
	}
	got.CallsPerSecond, got.PlegtopCores = 0, nil
	want := benchRowObject{
		Period: time.Second, Source: "none", For: 20 * time.Second, Relists: 20, LagP50: new(400 * ms), LagP99: new(400 * ms), Lags: 3, Transitions: 3,
		Missed: new(uint64(1)), MissedOf: 3, Referees: []sources.Source{sources.FromCRI}, RuntimeCores: new(0.5),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
	for source, want := range map[string]int{"cri": 1, "demo": 2} {
		r := benchResult{o: *b.o, rows: []*measurement{b.measurement}}
		r.o.Source = source
		if got := r.object().Remarks; len(got) != want || !strings.HasPrefix(got[want-1], "with none, what the relist missed") {
			t.Errorf("%s: remarks %q", source, got)
		}
	}
}

// TestBenchOfASource holds what is measured with one: lag to when it was first seen, and
// what the relist saw and the source did not.
func TestBenchOfASource(t *testing.T) {
	b := newBenched(sources.FromCRI)
	b.update(t, 0, sources.StreamOpening)
	b.update(t, 1, sources.StreamConnected)
	short := transitionOf("short", 3*time.Second, 5*ms, map[sources.Source]time.Duration{sources.FromCRI: 3 * time.Second})
	short.Delivery = pleg.Unseen
	found := short
	found.Delivery = pleg.Delivered
	b.update(t, 7, sources.StreamConnected, short)
	b.take(t.Context(), engine.Update{Snapshot: b.last, Lost: 3})
	b.update(t, 9, sources.StreamConnected, found) // by a relist after all
	b.update(t, 21, sources.StreamLost)
	b.last.Sources[0].Lost = 7
	b.last.SourceChanges = []sources.SourceChange{
		{Source: sources.FromCRI, State: sources.StreamLost, At: noon}, // before it began
		{Source: sources.FromCgroup, State: sources.StreamLost, At: noon.Add(5 * time.Second)},
		{Source: sources.FromCRI, State: sources.StreamConnected, At: noon.Add(6 * time.Second)},
	}
	if b.broke() {
		t.Error("another stream, or another time, is taken for it")
	}
	b.last.SourceChanges = append(b.last.SourceChanges, sources.SourceChange{Source: sources.FromCRI, State: sources.StreamLost, At: noon.Add(20 * time.Second)})
	b.finish(t.Context())
	got := b.object(false)
	got.CallsPerSecond, got.PlegtopCores = 0, nil
	want := benchRowObject{
		Period: time.Second, Source: "cri", For: 20 * time.Second, Relists: 20, LagP50: new(5 * ms), LagP99: new(5 * ms), Lags: 1, Transitions: 1,
		Missed: new(uint64(5)), MissedOf: 60, Referees: []sources.Source{sources.FromRelist}, RuntimeCores: new(0.5),
		Remarks: []string{"3 events came too fast to be measured", "the stream broke meanwhile", "7 events of the stream came too fast to be looked at"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
}

// TestBenchWrites holds the text and the JSON of all kinds of rows.
func TestBenchWrites(t *testing.T) {
	quiet := newBenched(sources.FromRelist)
	quiet.update(t, 0, sources.StreamOff)
	quiet.update(t, 4, sources.StreamOff)
	quiet.stopped.Store(true)
	quiet.last.Relists.Failed = 2
	quiet.finish(t.Context())
	refused := newBenched(sources.FromCRI)
	if over := refused.update(t, 0, sources.StreamRefused); !over {
		t.Error("what is refused is waited for")
	}
	late := newBenched(sources.FromCRI)
	late.update(t, 15, sources.StreamOpening)
	late.last.Sources[0].LastErr = "refused\x1b[2J"
	if late.begin(t.Context()); late.why != "" {
		t.Error("given up at once:", late.why)
	}
	late.last.At = late.last.At.Add(ms)
	late.begin(t.Context())
	never := newBenched(sources.FromRelist)
	for _, m := range []*measurement{quiet.measurement, refused.measurement, late.measurement, never.measurement} {
		m.runtime = -1
		m.start.cpu, m.paid.cpu, m.paid.real = 0, 10*ms, m.start.real.Add(4*time.Second)
	}
	r := benchResult{o: *quiet.o, at: noon, rows: []*measurement{quiet.measurement, refused.measurement, late.measurement, never.measurement}, cut: true}
	want := `runtime     containerd 2.4 at unix:///s, as kubelet 1.37
measured    cut short: 4 of 1, for 20s each

period  source  lag p50  p99  seen  missed  calls/s  plegtop cpu  runtime cpu
1s        none        -    -     0       ?     11.0        0.25%            -
1s         cri        -    -     -       -        -            -            -
1s         cri        -    -     -       -        -            -            -
1s        none        -    -     -       -        -            -            -

none 1s     cut short after 4.0s
none 1s     plegtop was stopped (^z) meanwhile: measure again
none 1s     no transitions: start or stop some pods meanwhile
none 1s     2 of 4 relists failed
cri 1s      not measured: cri refused: so^[[2J
cri 1s      not measured: the stream was not open within 15s: refused^[[2J
none 1s     cut short before it began
`
	if diff := cmp.Diff(want, string(r.written())); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	r.o.JSON = true
	validBench(t, r.written())
}

func validBench(t *testing.T, line []byte) {
	t.Helper()
	var v any
	if err := json.Unmarshal(line, &v); err != nil {
		t.Fatal(err)
	}
	if err := benchSchema.Validate(v); err != nil {
		t.Errorf("%s%v", line, err)
	}
}

// TestBenchOfTheDemo runs it, and ends it before its time.
func TestBenchOfTheDemo(t *testing.T) {
	server, client := demo(t, sim.Config{Scenario: "event-drift"})
	var progress, out bytes.Buffer
	running := 0
	o := BenchOptions{
		CheckOptions: CheckOptions{JSON: true, Source: "demo", Endpoint: server.Endpoint()}, Progress: NewProgress(&progress, 80),
		Periods: []time.Duration{100 * ms, 200 * ms}, Sources: []sources.Source{sources.FromRelist}, For: time.Second / 2,
		Engine: func(period time.Duration, _ ...sources.Source) (*engine.Engine, error) {
			running++
			return engine.New(engine.Config{Runtime: client, Clock: server, Period: period})
		},
	}
	if code, err := Bench(t.Context(), &out, o); code != ExitOK || err != nil || running != 2 {
		t.Errorf("%d engines, code %d: %v", running, code, err)
	}
	validBench(t, out.Bytes())
	for _, want := range []string{"bench 1 of 2: 100ms with none", "bench 2 of 2: 200ms with none"} {
		if !strings.Contains(progress.String(), want) {
			t.Errorf("progress has no %q: %q", want, &progress)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	out.Reset()
	o.For = time.Hour
	o.Stops = func(ctx context.Context, hold func(context.Context), release func()) {
		stopped, cancel := context.WithCancel(ctx)
		cancel()
		hold(stopped)
		release()
	}
	if code, err := Bench(ctx, &out, o); code != ExitWarning || err != nil || running != 3 || !strings.Contains(out.String(), `"cutShort":true`) || !strings.Contains(out.String(), "plegtop was stopped") {
		t.Errorf("cut short: %d engines, code %d, %v: %s", running, code, err, &out)
	}
	validBench(t, out.Bytes())

	progress.Reset()
	running = 0
	o.For, o.Sources = time.Second/10, []sources.Source{sources.FromRelist, sources.FromCgroup}
	sound := o.Engine
	o.Engine = func(period time.Duration, on ...sources.Source) (*engine.Engine, error) {
		if len(on) > 0 {
			return nil, errors.New("no room")
		}
		return sound(period)
	}
	if code, err := Bench(t.Context(), nil, o); code != ExitCannotTell || fmt.Sprint(err) != "bench: period 100ms with cgroup: no room" || !strings.HasSuffix(progress.String(), " \r") {
		t.Errorf("broken off: code %d, %v; the progress ends with %q", code, err, last(progress.String(), 5))
	}
}

func last(s string, n int) string { return s[max(len(s)-n, 0):] }

func TestQuantile(t *testing.T) {
	var all []time.Duration
	for i := range 200 {
		all = append(all, time.Duration(i+1))
	}
	if got := fmt.Sprint(quantile(all, 50), quantile(all, 99), quantile(all[:1], 50), quantile(all[:2], 99)); got != "100ns 198ns 1ns 2ns" {
		t.Error(got)
	}
}

func TestAgree(t *testing.T) {
	for answer, want := range map[string]bool{"y\n": true, "Yes\n": true, "": false, "\n": false, "no\n": false, strings.Repeat("y", 1<<20): false} {
		var out strings.Builder
		if err := Agree(strings.NewReader(answer), &out, true, 250*ms); (err == nil) != want || !strings.HasSuffix(out.String(), "every 250ms; its kubelet does so every second. Go on? [y/N] ") {
			t.Errorf("%.10q: %v after %q", answer, err, out.String())
		}
	}
	if err := Agree(strings.NewReader(""), nil, false, time.Second); err != nil {
		t.Error("asked about the kubelet's own period:", err)
	}
}
