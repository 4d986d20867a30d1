package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/ui/theme"
)

func TestNodeOpensAndCloses(t *testing.T) {
	s := newStage(t, 80, 24).show(nodeOf(healthyNode())).report(looked())
	for _, keys := range []string{"v v", "v esc", "v 1", "enter v esc esc"} {
		if s.press(strings.Fields(keys)...); s.m.node.open || s.m.detail.pod != nil {
			t.Errorf("after %s the node is open: %v", keys, s.m.node.open)
		}
	}
	s.press("v", "G")
	if s.rowOf("looked at") == "" {
		t.Errorf("the end is out of reach:\n%s", withoutStyles(s.m.frame()))
	}
	for _, key := range []string{"r", "y", "c", "enter"} {
		if s.press(key); len(s.controls.got) > 0 || !s.m.node.open || s.m.detail.pod != nil {
			t.Errorf("%s over the node asked for %q", key, s.asked())
		}
	}
	if s.press("+"); s.asked() != "period 2s" {
		t.Errorf("+ over the node asked for %q", s.asked())
	}
}

// lineOf returns what the node's sheet says beside a name.
func lineOf(snap *engine.Snapshot, r *evidence.Report, name string) string {
	look := theme.Default()
	n := nodeSheet{open: true}
	snap.Evidence = r
	n.observe(pen{&look, snap.At}, snap, Source{}, 1000)
	for _, line := range n.lines {
		if len(line) > 1 && strings.TrimSpace(line[0].text) == name {
			out := ""
			for _, p := range line[1:] {
				out += p.text + " "
			}
			return strings.Join(strings.Fields(out), " ")
		}
	}
	return "no such line"
}

func TestNodeSheet(t *testing.T) {
	node := func(change func(*engine.Node)) *engine.Snapshot {
		s := nodeOf(healthyNode())
		change(&s.Node)
		return s
	}
	r, vain, noToken := looked(), lookedInVain(), looked()
	noToken.Kubelet.Metrics = evidence.Answer{Asked: true, Err: "not available: the token is not sent: port 10250 is held by user 1000"}
	noToken.Kubelet.Health = noToken.Kubelet.Metrics
	stepped, still := looked(), looked()
	stepped.Clock = evidence.Clock{Watched: time.Minute, Step: 3 * time.Hour, StepAge: 20 * time.Second, Steps: 1}
	still.Kubelet.StillFor = time.Minute
	still.Usage[0].PID = 0
	stopped, gone, ill := looked(), lookedInVain(), looked()
	stopped.Kubelet = evidence.Kubelet{}
	stopped.Processes.Daemons = []evidence.Process{{PID: 901, Command: "kubelet", State: evidence.Stopped, For: 12 * time.Second, Freezer: "/sys/fs/cgroup/k"}}
	gone.Processes.Missing, gone.Kubelet.Ping.Refused = "", true
	ill.State = evidence.Disk{Path: "/run/containerd", Total: 100 << 20, Free: 80 << 20, ReadOnly: "mounted so"}
	ill.Devices.Busy = []evidence.Device{{Name: "sdb", InFlight: 3, Still: time.Minute}}
	ill.Limits = []evidence.Limit{{Of: "containerd", What: evidence.OpenFiles, Used: 900, Most: 1024}, {What: evidence.Threads, Used: 1, Most: 1024}}
	idle := looked()
	idle.Devices.Busy = []evidence.Device{{Name: "sdb", InFlight: 3}}
	idle.Limits = ill.Limits[1:]
	for _, tt := range []struct {
		snap   *engine.Snapshot
		report *evidence.Report
		name   string
		want   string
	}{
		{nodeOf(healthyNode()), &stopped, "node Ready", "▲ nothing is posted now: the kubelet's process: pid 901 (kubelet) is stopped (T) for 12s, by /sys/fs/cgroup/k"},
		{nodeOf(healthyNode()), &stopped, "stands still", "✖ daemon: pid 901 (kubelet) is stopped (T) for 12s, by /sys/fs/cgroup/k"},
		{nodeOf(healthyNode()), &gone, "node Ready", "▲ nothing is posted now: no kubelet is there"},
		{nodeOf(healthyNode()), &gone, "it would be", "✔ True, reason KubeletReady, for 1h"},
		{nodeOf(healthyNode()), &r, "state folder", "no such line"},
		{nodeOf(healthyNode()), &ill, "state folder", "80M of 100M free at /run/containerd, read-only: mounted so"},
		{nodeOf(healthyNode()), &ill, "device", "✖ sdb has answered none of 3 requests for 1m"},
		{nodeOf(healthyNode()), &idle, "device", "no such line"},
		{nodeOf(healthyNode()), &idle, "limit", "no such line"},
		{nodeOf(healthyNode()), &ill, "limit", "containerd has 900 of 1024 open files"},
		{nodeOf(healthyNode()), &r, "runtime Status", "✔ answered well 2s ago (limit 30s)"},
		{node(func(n *engine.Node) { n.SyncedAt = ago(12 * time.Second); n.DownAt = noon.Add(18 * time.Second) }), &r, "runtime Status", "▲ answered well 12s ago (limit 30s); runtime down in 18s"},
		{node(func(n *engine.Node) { n.RuntimeErr = "container runtime not ready: x" }), &r, "runtime Status", "✖ container runtime not ready: x"},
		{illNode(), &r, "runtime Status", "✖ answered well 42s ago (limit 30s): container runtime is down"},
		{node(func(n *engine.Node) { n.NetworkErr = "cni" }), &r, "network", "✖ cni"},
		{hungNode(), &r, "PLEG", "▲ list 47s old (limit 3m); unhealthy in 2m13s"},
		{illNode(), &r, "sync loop", "✖ stopped 12s ago: no pod is started or stopped; looks again every 5s"},
		{illNode(), &r, "/healthz/syncloop", "▲ would fail in 4m48s; a liveness check may then restart the kubelet"},
		{node(func(n *engine.Node) { n.LoopHeld = ago(20 * time.Second) }), &r, "sync loop", "▲ waits for a list in its housekeeping, for 20s (limit 2m): no pod is started or stopped, and it sees nothing"},
		{node(func(n *engine.Node) {
			n.PostingHeld, n.Next = ago(20*time.Second), engine.Posting{From: noon.Add(95 * time.Second), To: noon.Add(105 * time.Second)}
		}), &r, "next posted", "▲ waits for the answer to Version, for 20s (limit 2m): nothing is posted; False in 1m35s to 1m45s"},
		{node(func(n *engine.Node) { n.HealthzAt = ago(time.Minute) }), &r, "/healthz/syncloop", "✖ would fail, for 1m now; a liveness check may restart the kubelet"},
		{illNode(), &r, "node Ready", "✖ False, reason KubeletNotReady, for 10s"},
		{healthyNode(), &r, "node Ready", "? not known yet"},
		{healthyNode(), &r, "duration p99", "88ms >10s"},
		{healthyNode(), &vain, "duration p99", "88ms"},
		{healthyNode(), nil, "kubelet ping", "not available: nobody looks at the node here"},
		{healthyNode(), &vain, "kubelet ping", "not available: connection refused"},
		{healthyNode(), &noToken, "kubelet metrics", "not available: the token is not sent: port 10250 is held by user 1000"},
		{healthyNode(), &noToken, "kubelet healthz", "no such line"}, // for the same reason
		{healthyNode(), &vain, "kubelet metrics", "✖ took the connection and gave no answer in 2.0s"},
		{healthyNode(), &still, "its relists", "✖ no more than before for 1m"},
		{healthyNode(), &r, "containerd", "3.4% 71M 38 812"},
		{healthyNode(), &still, "containerd", "3.4% 71M 38 several"},
		{healthyNode(), &r, "plegtop", "- 21M 11 40112"},
		{healthyNode(), &r, "io", "61.5% 40.2% 55.1% 37.0%"},
		{healthyNode(), &r, "disk", "7.0G of 100G free at /var/lib/containerd, 6.1M of 6.5M inodes"},
		{healthyNode(), &stepped, "clock", "1 step, of 3h, 20s ago"},
		{healthyNode(), &r, "container_status", "40112 2 3ms 80ms"},
	} {
		got := lineOf(tt.snap, tt.report, tt.name)
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
