package host

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/evidence"
)

func TestStandingFrom(t *testing.T) {
	then := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now := then.Add(time.Minute)
	was := standing{state: evidence.Uninterrupted, thread: 7, runs: 3, since: then}
	tests := []struct {
		name   string
		change func(*standing)
		want   time.Time
	}{
		{"the same", func(*standing) {}, then},
		{"another state", func(s *standing) { s.state = evidence.Stopped }, now},
		{"another thread", func(s *standing) { s.thread = 0 }, now},
		{"ran in between", func(s *standing) { s.runs = 4 }, now},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := was
			s.since = now
			tt.change(&s)
			if got := s.from(was).since; !got.Equal(tt.want) {
				t.Errorf("since = %v, want %v", got, tt.want)
			}
		})
	}
	if got := (standing{since: now}).from(standing{}).since; !got.Equal(now) {
		t.Errorf("first seen: since = %v, want %v", got, now)
	}
}

func TestStateIn(t *testing.T) {
	tests := []struct {
		stat string
		want evidence.State
	}{
		{proc{pid: 7, comm: "java", state: evidence.Uninterrupted}.stat(1), evidence.Uninterrupted},
		{proc{pid: 7, comm: "a) S (b)", state: evidence.Stopped}.stat(1), evidence.Stopped},
		{"7 (java) R", evidence.Running},
		{"7 (java) ", 0},
		{"7 (java)", 0},
		{"", 0},
	}
	for _, tt := range tests {
		if got := stateIn(tt.stat); got != tt.want {
			t.Errorf("stateIn(%q) = %v, want %v", tt.stat, got, tt.want)
		}
	}
}

func TestStackOf(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"new", "[<0>] rpc_wait_bit_killable+0x1e/0xa0 [sunrpc]\n[<0>] do_syscall_64+0x71/0x280\n", []string{"rpc_wait_bit_killable", "do_syscall_64"}},
		{"old", "[<ffffffff8109d2b5>] refrigerator+0x85/0x120\n[<ffffffffffffffff>] 0xffffffffffffffff\n", []string{"refrigerator"}},
		{"no end of line", "[<0>] do_exit+0x1/0x2", []string{"do_exit"}},
		{"empty", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, stackOf(tt.text)); diff != "" {
				t.Errorf("stackOf (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBucket(t *testing.T) {
	const socket = "/run/containerd/containerd.sock"
	outer, own, sandbox := fixtureID("0"), fixtureID("1"), fixtureID("2")
	ours := part{role: shim, sandbox: sandbox, socket: socket}
	seen := evidence.Process{PID: 7}
	as := func(change func(*evidence.Process)) []evidence.Process {
		p := seen
		change(&p)
		return []evidence.Process{p}
	}
	in := func(ids ...string) map[string][]evidence.Process {
		all := map[string][]evidence.Process{}
		for _, id := range ids {
			all[id] = as(func(p *evidence.Process) { p.Container = id })
		}
		return all
	}
	asShim := evidence.Processes{Containers: in(), Shims: as(func(p *evidence.Process) { p.Sandbox, p.Socket = sandbox, socket })}
	tests := []struct {
		name string
		ids  []string
		part part
		node []string
		want evidence.Processes
	}{
		{"container", []string{own}, part{}, nil, evidence.Processes{Containers: in(own)}},
		{"container of a container", []string{outer, own}, part{}, nil, evidence.Processes{Containers: in(outer, own)}},
		{"the node is a container", []string{outer, own}, part{}, []string{outer}, evidence.Processes{Containers: in(own)}},
		{"shim", nil, ours, nil, asShim},
		{"shim in its pod's group", []string{sandbox}, ours, nil, asShim},
		{"shim on a node that is a container", []string{outer}, ours, []string{outer}, asShim},
		{"shim within a container", []string{own}, ours, nil, evidence.Processes{Containers: in(own)}},
		{"shim of another runtime", nil, part{role: shim, sandbox: sandbox, socket: "/run/x.sock"}, nil, evidence.Processes{Containers: in()}},
		{"errand", nil, part{role: runc, container: own}, nil, evidence.Processes{Containers: in(), Runcs: in(own)[own]}},
		{"errand that has gone into the container", []string{own}, part{role: runc}, nil, evidence.Processes{Containers: in(own)}},
		{"daemon", nil, part{role: daemon}, nil, evidence.Processes{Containers: in(), Daemons: []evidence.Process{seen}}},
		{"another containerd in a container", []string{own}, part{role: daemon}, nil, evidence.Processes{Containers: in(own)}},
		{"neither", nil, part{}, nil, evidence.Processes{Containers: in()}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := evidence.Processes{Containers: map[string][]evidence.Process{}}
			bucket(&got, seen, membership{ids: tt.ids}, tt.part, tt.node, "unix://"+socket)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("bucket (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHeirs(t *testing.T) {
	all := []evidence.Process{
		{PID: 1, Container: "web"},
		{PID: 2, Parent: 1},
		{PID: 3, Parent: 1, Container: "db"},
		{PID: 4, Parent: 99},
	}
	heirs(all)
	var got []string
	for _, p := range all {
		got = append(got, p.Container)
	}
	if diff := cmp.Diff([]string{"web", "web", "db", ""}, got); diff != "" {
		t.Errorf("containers (-want +got):\n%s", diff)
	}
}

func TestGaps(t *testing.T) {
	tests := []struct {
		gaps gaps
		want string
	}{
		{gaps{}, ""},
		{gaps{denied: 12}, "denied for 12 processes: try sudo"},
		{
			gaps{cut: "cut off after 2s", unread: 3, hidden: true, hanging: []procFile{{7, "cmdline", true}}},
			"cut off after 2s; reading cmdline of process 7 hangs; could not read 3 processes; the processes of other users are hidden: try sudo",
		},
	}
	for _, tt := range tests {
		if got := tt.gaps.String(); got != tt.want {
			t.Errorf("%+v reads\n%q, want\n%q", tt.gaps, got, tt.want)
		}
	}
}
