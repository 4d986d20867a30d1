package lines

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

// fullCheck has what the other scenes leave empty: with them each field is written.
func fullCheck() diagnose.Update {
	u := chainCheck()
	s := u.Snapshot
	u.Waits = diagnose.Once(s, options.Endpoint).Waits
	u.Headline.Clock.To, u.Headline.Node = 200*time.Second, diagnose.NodeNotReadyIn
	s.Partial, s.Counts.Created, s.Counts.Unknown = "no containers: ListContainers failed", 1, 2
	s.Sweep.Canceled, s.Sweep.CutOff, s.Sweep.GivenUp, s.Sweep.Refused = true, true, "the runtime went silent", "it was too slow"
	s.Sweep.Failed, s.Sweep.Flaky = []answers.Outcome{{Flight: s.Sweep.Slowest[0].Flight, Err: s.Sweep.Hung[0].Err}}, 3
	s.Phase.ListTook, s.Relists = 5*ms, engine.Relists{Count: 2, Last: 1250 * ms}
	u.Findings[0].Nodes = []string{"helper 5077", "call ContainerStatus"}
	u.Findings[0].Members, u.Findings[0].Count = []diagnose.Subject{u.Findings[0].Subject}, 1
	u.Findings[0].Members[0].Operation = "Status"
	u.Findings = append(u.Findings, diagnose.Finding{
		ID: diagnose.PLEGUnhealthy, Severity: diagnose.Warning, Summary: "PLEG is not healthy",
		Cause: diagnose.InspectHung, CauseOf: diagnose.Subject{Operation: "ContainerStatus", ObjectRef: pleg.ObjectRef{ID: nfsID, Pod: nfsPod, Container: "app"}},
	})
	u.Findings[0].Since = checked.Add(-10 * time.Minute)
	r := s.Evidence
	bad := evidence.Answer{Asked: true, TimedOut: true, Took: 2 * time.Second, Text: "[-]poststarthook failed", Err: "it gave no answer"}
	r.Kubelet.Ping, r.Kubelet.Health, r.Kubelet.SyncLoop, r.Kubelet.Discarded = bad, bad, bad, 7
	r.Kubelet.Metrics.Text, r.Kubelet.Metrics.Err = "m", "cut off"
	r.Kubelet.LastSeen = r.Kubelet.LastSeen.In(time.FixedZone("", 3600))
	r.Pressure.CPU = evidence.Stall{Some10: 1.5, Some60: 2.25, Full10: 1e-7, Full60: 1e21}
	r.Pressure.IO = evidence.Stall{Some10: 0.1, Some60: 100, Full10: 33.333333333333336, Full60: 5}
	r.Pressure.Memory = evidence.Stall{Some10: 6, Some60: 7, Full10: 8, Full60: 9}
	r.Disk.ReadOnly, r.Disk.Total, r.State.Inodes, r.State.InodesUnused = "errors=remount-ro", 1<<63, 5, 4
	r.Clock.Steps = 2
	r.Usage = append(r.Usage, evidence.Usage{Name: "plegtop"})
	r.Usage = append(r.Usage, evidence.Usage{Name: "cri-o", CPU: 1e10 / 3})
	stuck := evidence.Process{
		PID: 5, Parent: 1, Command: "kubelet", State: evidence.Uninterrupted, Thread: 6, For: time.Minute, Age: time.Hour, Verb: "update", Container: nfsID, Pod: nfsPod,
		Mount: evidence.Mount{Point: "/data", Type: "nfs4"}, Freezer: "cgroup.freeze", Wchan: "rpc_wait_bit_killable",
	}
	r.Processes.Daemons, r.Processes.Helpers = append(r.Processes.Daemons, stuck), append(r.Processes.Helpers, stuck)
	return u
}

// TestFullGolden holds all that check, watch and bench can write as JSON, to the byte.
func TestFullGolden(t *testing.T) {
	o := options
	o.JSON = true
	golden(t, filepath.Join("testdata", "full.json"), indented(t, checkOutput(t, fullCheck(), o)))
	var unknown bytes.Buffer
	if _, err := WriteUnknown(&unknown, fmt.Errorf("no runtime:\n%s", hostile), &engine.Snapshot{At: checked, Threshold: time.Minute}, o); err != nil {
		t.Fatal(err)
	}
	golden(t, filepath.Join("testdata", "unknown.json"), indented(t, unknown.Bytes()))
	golden(t, filepath.Join("testdata", "watch.ndjson"), []byte(watch(t, Options{JSON: true}, allLines()...)))
	golden(t, filepath.Join("testdata", "bench.json"), indented(t, fullBench(t).written()))
}

// allLines is [everything], and what that leaves empty.
func allLines() []diagnose.Update {
	full := fullCheck()
	full.Snapshot.At = noon.Add(3 * time.Minute)
	full.Snapshot.Node.LoopHeld = noon
	for _, f := range full.Findings {
		full.Turns = append(full.Turns, diagnose.Turn{Kind: diagnose.Changed, Finding: f, Was: diagnose.Info, Lasted: 90 * time.Second, Again: true})
	}
	hard := hostileCheck()
	hard.Snapshot.At = noon.Add(4 * time.Minute)
	hard.Turns = []diagnose.Turn{{Kind: diagnose.Began, Finding: hard.Findings[0]}}
	e := sighted(hostile, map[sources.Source]time.Duration{sources.FromCRI: -ms, sources.FromRelist: 0})
	e.Pod, e.ID, e.Reason, e.Sandbox, e.Exited = pleg.PodRef{UID: hostile, Namespace: hostile, Name: hostile}, hostile, hostile, true, false
	wrong := died()
	wrong.SeenAt = time.Date(99_999, 1, 1, 0, 0, 0, 0, time.UTC)
	hard.Events = []engine.Event{e, wrong}
	return append(everything(), full, hard)
}

// fullBench is a bench with a row of each kind.
func fullBench(t *testing.T) *benchResult {
	t.Helper()
	b, quiet, refused := newBenched(sources.FromCRI), newBenched(sources.FromRelist, sources.FromCRI), newBenched(sources.FromCRI)
	b.update(t, 0, sources.StreamConnected)
	b.update(t, 9, sources.StreamConnected, transitionOf("a", 5*time.Second, 412*ms, map[sources.Source]time.Duration{sources.FromCRI: 5 * time.Second}))
	b.update(t, 21, sources.StreamConnected)
	b.finish(t.Context())
	quiet.update(t, 0, sources.StreamOff)
	quiet.update(t, 4, sources.StreamOff)
	quiet.runtime = -1
	quiet.finish(t.Context())
	refused.update(t, 0, sources.StreamRefused)
	for _, m := range []*measurement{b.measurement, quiet.measurement} {
		m.start.cpu, m.paid.cpu, m.paid.real = 0, 10*ms, m.start.real.Add(4*time.Second)
	}
	quiet.runtime = -1
	r := &benchResult{o: *quiet.o, at: noon, rows: []*measurement{b.measurement, quiet.measurement, refused.measurement}, cut: true}
	r.o.JSON, r.o.Source, r.o.Node = true, "demo", hostile
	return r
}

// BenchmarkWatchEvent is one line of watch: there may be thousands a second.
func BenchmarkWatchEvent(b *testing.B) {
	e := sighted("app", map[sources.Source]time.Duration{sources.FromCRI: 100 * ms, sources.FromRelist: 512 * ms})
	var line []byte
	b.ReportAllocs()
	for b.Loop() {
		line = appendEvent(line[:0], e)
	}
}

// BenchmarkCheckObject is the JSON of a check.
func BenchmarkCheckObject(b *testing.B) {
	u := fullCheck()
	b.ReportAllocs()
	for b.Loop() {
		CheckOptions{JSON: true}.Answer(u)
	}
}
