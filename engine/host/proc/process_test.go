package proc

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/evidence"
)

func TestThreadStateFrom(t *testing.T) {
	then := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now := then.Add(time.Minute)
	was := threadState{state: evidence.Uninterrupted, thread: 7, runs: 3, since: then}
	tests := []struct {
		name   string
		change func(*threadState)
		want   time.Time
	}{
		{"the same", func(*threadState) {}, then},
		{"another state", func(s *threadState) { s.state = evidence.Stopped }, now},
		{"another thread", func(s *threadState) { s.thread = 0 }, now},
		{"ran in between", func(s *threadState) { s.runs = 4 }, now},
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
	if got := (threadState{since: now}).from(threadState{}).since; !got.Equal(now) {
		t.Errorf("first seen: since = %v, want %v", got, now)
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

func TestInheritContainers(t *testing.T) {
	all := []evidence.Process{
		{PID: 1, Container: "web"},
		{PID: 2, Parent: 1},
		{PID: 3, Parent: 1, Container: "db"},
		{PID: 4, Parent: 99},
	}
	inheritContainers(all)
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
			gaps{cut: "cut off after 2s", unread: 3, hidden: true, hanging: []File{{0, "/run/x.sock", true}, {7, "cmdline", true}}},
			"cut off after 2s; reading /run/x.sock hangs; reading cmdline of process 7 hangs; could not read 3 processes; the processes of other users are hidden: try sudo",
		},
	}
	for _, tt := range tests {
		if got := tt.gaps.String(); got != tt.want {
			t.Errorf("%+v reads\n%q, want\n%q", tt.gaps, got, tt.want)
		}
	}
}
