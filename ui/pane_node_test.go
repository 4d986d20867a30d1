package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/ui/node"
)

// nodeShow returns a stage with the sheet of a node of which there is a report.
func nodeShow(w, h int, s *engine.Snapshot, r *evidence.Report) *Stage {
	s.Evidence = r
	return NewStage(node.New(), View(s), w, h)
}

func TestNodeGoldens(t *testing.T) {
	r, vain := Looked(), LookedInVain()
	deep := LookedDeep()
	nodeShow(118, 90, WithNode(Hung()), &deep).Golden(t, "hangs")
	nodeShow(78, 19, Ill(), &vain).EverySize(t)
	nodeShow(78, 19, &engine.Snapshot{}, nil).EverySize(t)
	if s := nodeShow(78, 80, WithNode(FellBack()), &r); s.Row("fell back") == "" {
		t.Errorf("nothing says that evented mode fell back:\n%s", s.Text())
	}
	hostile := LookedDeep()
	hostile.Deep.Units = evidence.Units{Source: evidence.Source{Missing: Nasty}}
	hostile.Deep.Stacks.Program, hostile.Deep.Stacks.Partial, hostile.Deep.Stacks.Locks[0].Of = Nasty, Long, Nasty
	hostile.Deep.Calls.InFlight[0].Method, hostile.Deep.Calls.From = Nasty, Nasty
	hostile.Processes.Helpers[1].Verb, hostile.Processes.Helpers[1].Pod.Name = Nasty, Long
	hostile.Kubelet.Ping, hostile.Kubelet.Version = evidence.Answer{Asked: true, Text: Nasty}, Nasty
	hostile.Disk.Path, hostile.Disk.ReadOnly = Nasty, Long
	hostile.Usage[0].Name, hostile.Processes.Partial = Nasty, Long
	s := Hostile()
	s.Node = kubelet.Node{Known: true, Reason: Nasty, Message: Long, RuntimeErr: Nasty, NetworkErr: Nasty}
	nodeShow(78, 120, s, &hostile).Check(t)
}

// lineOf returns what the sheet says beside a name.
func lineOf(snap *engine.Snapshot, r *evidence.Report, name string) string {
	for line := range strings.SplitSeq(nodeShow(500, 80, snap, r).Text(), "\n") {
		if said, ok := strings.CutPrefix(line, "  "+name+" "); ok {
			return strings.Join(strings.Fields(said), " ")
		}
	}
	return "no such line"
}

func TestNodeTells(t *testing.T) {
	node := func(change func(*kubelet.Node)) *engine.Snapshot {
		s := WithNode(Healthy())
		change(&s.Node)
		return s
	}
	r, vain, noToken, deep := Looked(), LookedInVain(), Looked(), LookedDeep()
	noToken.Kubelet.Metrics = evidence.Answer{Asked: true, Err: "not available: the token is not sent: port 10250 is held by user 1000"}
	noToken.Kubelet.Health = noToken.Kubelet.Metrics
	stepped, still := Looked(), Looked()
	stepped.Clock = evidence.Clock{Watched: time.Minute, Step: 3 * time.Hour, StepAge: 20 * time.Second, Steps: 1}
	still.Kubelet.StillFor = time.Minute
	still.Usage[0].PID = 0
	stopped, gone, ill := Looked(), LookedInVain(), Looked()
	stopped.Kubelet = evidence.Kubelet{}
	stopped.Processes.Daemons = []evidence.Process{{PID: 901, Command: "kubelet", State: evidence.Stopped, For: 12 * time.Second, Freezer: "/sys/fs/cgroup/k"}}
	gone.Processes.Missing, gone.Kubelet.Ping.Refused = "", true
	ill.State = evidence.Disk{Path: "/run/containerd", Total: 100 << 20, Free: 80 << 20, ReadOnly: "mounted so"}
	ill.Devices = []evidence.Device{{Name: "sdb", InFlight: 3, Still: time.Minute}}
	ill.Limits = []evidence.Limit{{Of: "containerd", What: evidence.OpenFiles, Used: 900, Most: 1024}, {What: evidence.Threads, Used: 1, Most: 1024}}
	idle, drawn := Looked(), Looked()
	drawn.Disk = evidence.Disk{Path: "/var/lib/containerd", Mount: evidence.Mount{Type: "ext4", Source: "/dev/vdb1"}}
	idle.Devices = []evidence.Device{{Name: "sdb", InFlight: 3}}
	idle.Limits = ill.Limits[1:]
	for _, tt := range []struct {
		snap   *engine.Snapshot
		report *evidence.Report
		name   string
		want   string
	}{
		{WithNode(Healthy()), &stopped, "node Ready", "▲ nothing is posted now: the kubelet's process: pid 901 (kubelet) is stopped (T) for 12s, by /sys/fs/cgroup/k"},
		{WithNode(Healthy()), &stopped, "stuck", "✖ daemon: pid 901 (kubelet) is stopped (T) for 12s, by /sys/fs/cgroup/k"},
		{WithNode(Healthy()), &gone, "node Ready", "▲ nothing is posted now: no kubelet is there"},
		{WithNode(Healthy()), &gone, "it would be", "✔ True, reason KubeletReady, for 1h"},
		{WithNode(Healthy()), &r, "state folder", "no such line"},
		{WithNode(Healthy()), &ill, "state folder", "80M of 100M free at /run/containerd, read-only: mounted so"},
		{WithNode(Healthy()), &ill, "device", "✖ sdb has answered none of 3 requests for 1m"},
		{WithNode(Healthy()), &idle, "device", "no such line"},
		{WithNode(Healthy()), &idle, "limit", "no such line"},
		{WithNode(Healthy()), &ill, "limit", "containerd has 900 of 1024 open files"},
		{WithNode(Healthy()), &r, "runtime Status", "✔ answered well 2s ago (limit 30s)"},
		{node(func(n *kubelet.Node) { n.SyncedAt = Ago(12 * time.Second); n.DownAt = Noon.Add(18 * time.Second) }), &r, "runtime Status", "▲ answered well 12s ago (limit 30s); runtime down in 18s"},
		{node(func(n *kubelet.Node) { n.RuntimeErr = "container runtime not ready: x" }), &r, "runtime Status", "✖ container runtime not ready: x"},
		{Ill(), &r, "runtime Status", "✖ answered well 42s ago (limit 30s): container runtime is down"},
		{node(func(n *kubelet.Node) { n.NetworkErr = "cni" }), &r, "network", "✖ cni"},
		{Hung(), &r, "PLEG", "▲ list 47s old (limit 3m); unhealthy in 2m13s"},
		{Ill(), &r, "sync loop", "✖ stopped 12s ago: no pod is started or stopped; looks again every 5s"},
		{Ill(), &r, "/healthz/syncloop", "▲ would fail in 4m48s; a liveness check may then restart the kubelet"},
		{node(func(n *kubelet.Node) { n.LoopHeld = Ago(20 * time.Second) }), &r, "sync loop", "▲ waits for a list in its housekeeping, for 20s (limit 2m): no pod is started or stopped, and it sees nothing"},
		{node(func(n *kubelet.Node) {
			n.PostingHeld, n.Next = Ago(20*time.Second), kubelet.Posting{From: Noon.Add(95 * time.Second), To: Noon.Add(105 * time.Second)}
		}), &r, "next posted", "▲ waits for the answer to Version, for 20s (limit 2m): nothing is posted; False in 1m35s to 1m45s"},
		{node(func(n *kubelet.Node) { n.HealthzAt = Ago(time.Minute) }), &r, "/healthz/syncloop", "✖ would fail, for 1m now; a liveness check may restart the kubelet"},
		{Ill(), &r, "node Ready", "✖ False, reason KubeletNotReady, for 10s"},
		{Healthy(), &r, "node Ready", "? not known yet"},
		{Healthy(), &r, "duration", "p50 13ms, p99 88ms mean 15ms"},
		{Healthy(), &vain, "duration", "p50 13ms, p99 88ms"},
		{Healthy(), nil, "kubelet ping", "not available: host inspection unavailable"},
		{Healthy(), &vain, "kubelet ping", "not available: connection refused"},
		{Healthy(), &noToken, "kubelet metrics", "not available: the token is not sent: port 10250 is held by user 1000"},
		{Healthy(), &noToken, "kubelet healthz", "no such line"}, // for the same reason
		{Healthy(), &vain, "kubelet metrics", "✖ no answer in 2.0s"},
		{Healthy(), &still, "its relists", "✖ no more than before for 1m"},
		{Healthy(), &r, "containerd", "3.4% 71M 38 812"},
		{Healthy(), &still, "containerd", "3.4% 71M 38 several"},
		{Healthy(), &r, "plegtop", "- 21M 11 40112"},
		{Healthy(), &r, "io", "61.5% 40.2% 55.1% 37.0%"},
		{Healthy(), &r, "disk", "7.0G of 100G free at /var/lib/containerd, 6.1M of 6.5M inodes"},
		{Healthy(), &drawn, "disk", "/var/lib/containerd is on /dev/vdb1 (ext4)"},
		{Healthy(), &stepped, "clock", "1 step, of 3h, 20s ago"},
		{Healthy(), &r, "goroutines", "not read: nothing hangs"},
		{Healthy(), &r, "helpers", "none"},
		{Healthy(), &deep, "kernel", "not available: not permitted: run as root"},
		{Healthy(), &deep, "calls in flight", "✔ 2 methods, 12K from http://127.0.0.1:1338/v1/metrics in 3ms"},
		{Healthy(), &deep, "goroutines", "▲ 4312 of containerd, 17s old, 3.0M from /run/containerd/debug.sock in 412ms; cut off after 5s"},
		{Healthy(), &vain, "on the node", "no such line"},
	} {
		if got := lineOf(tt.snap, tt.report, tt.name); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestStacks holds that the stacks that were read are shown, and that of others it is said
// that there are none.
func TestStacks(t *testing.T) {
	r, deep := Looked(), LookedDeep()
	for _, report := range []*evidence.Report{nil, &r} {
		if s := nodeShow(80, 20, WithNode(Healthy()), report).Press("y"); s.Said != "no goroutines were read" || s.Layers != nil {
			t.Errorf("it says %q and opens %v", s.Said, s.Layers)
		}
	}
	deep.Deep.Stacks.Groups[1].Frames[0] = Nasty
	s := nodeShow(80, 20, WithNode(Healthy()), &deep).Press("y")
	if len(s.Layers) != 1 {
		t.Fatalf("opens %v, says %q", s.Layers, s.Said)
	}
	v := NewStage(s.Layers[0], s.V, 200, 40)
	v.Check(t)
	for _, want := range []string{"goroutine 1234 (", "    ttrpc.(*Client).Call", "41 goroutines, such as 991: sync.RWMutex.RLock, for 10m at most", "    cri.(*criService).ListContainers"} {
		if v.Row(want) == "" {
			t.Errorf("no %q in\n%s", want, v.Text())
		}
	}
	if got := v.Info().Name; got != "Goroutines of containerd" {
		t.Errorf("it is called %q", got)
	}
}

// TestPausedNode holds that nothing is said of the chain while nobody looks.
func TestPausedNode(t *testing.T) {
	s := WithNode(Healthy())
	s.Paused = true
	if st := nodeShow(100, 30, s, nil); st.Row("not judged while paused; the last list is 0s old") == "" || st.Row("sync loop") != "" {
		t.Errorf("lines\n%s", st.Text())
	}
}

// TestNodeTellsOfStreams holds what the sheet says of event sources and the mode.
func TestNodeTellsOfStreams(t *testing.T) {
	off := Healthy()
	off.Sources = []sources.SourceState{{Source: sources.FromCRI}}
	evented := Streamed()
	evented.Mode = sources.ModeState{Mode: pleg.Evented, Asked: pleg.Evented, Asks: 31, Ignored: 4, Attempts: 3}
	for _, tt := range []struct {
		name string
		s    *engine.Snapshot
		want []string
	}{
		{"off", off, []string{"event sources off; e opens one", "mode generic; a relist every 1s, unhealthy after 3m; event sources only observe"}},
		{"on", Streamed(), []string{
			"cri ✔ connected 4m 1024 0 10s", "cgroup ▲ lost now 407 9 30s", "cri 412 391 14 7 2 5 +480ms -20ms",
			"41 more events of ids that nobody knows", "11:55:00 cri lost: Unavailable: the runtime was started again",
		}},
		{"evented", evented, []string{"mode evented; a relist every 1s, unhealthy after 3m 31 of 35 events of the stream asked for a relist of their pod; 3 of 5 attempts failed"}},
		{"fell back", FellBack(), []string{"mode generic, fallen back for good from evented: the stream failed five times", "cri ✖ fell back", "cri: five attempts failed"}},
	} {
		got := strings.Join(strings.Fields(nodeShow(160, 120, tt.s, nil).Text()), " ")
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", tt.name, want, got)
			}
		}
	}
	if got := nodeShow(160, 120, Healthy(), nil).Text(); strings.Contains(got, "Event sources") {
		t.Error("told of where there are none")
	}
}

// TestDemoHasNoNoise holds that a demo says nothing of a kubelet that it cannot have, and that our
// figures have no head where nothing stands beside them.
func TestDemoHasNoNoise(t *testing.T) {
	for _, demo := range []bool{true, false} {
		v := View(Healthy())
		v.Evidence = new(evidence.Report)
		if v.Source.Kind = "cri"; demo {
			v.Source.Kind = "demo"
		}
		s := NewStage(node.New(), v, 78, 80)
		if said := strings.Contains(s.Text(), "not asked"); said == demo {
			t.Errorf("demo %v, not asked %v:\n%s", demo, said, s.Text())
		}
		if strings.Contains(s.Text(), "PLEGTOP") || s.Row("duration") == "" {
			t.Errorf("a table of one column, or none:\n%s", s.Text())
		}
	}
}
