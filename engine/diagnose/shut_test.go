package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
)

// What keeps a socket shut is named, with a step about it. A runtime that has its socket is not blamed.
func TestShut(t *testing.T) {
	sleep := evidence.Process{PID: 77, Command: "sleep"}
	daemon := evidence.Process{PID: 5, Command: "containerd"}
	gone := func() *node {
		return healthy(3).fail(call.ListPodSandbox, call.ErrUnavailable, notThere, 20).fail(call.Status, call.ErrUnavailable, notThere, 4)
	}
	for _, tt := range []struct {
		name   string
		node   *node
		socket evidence.Socket
		daemon bool
		want   string // in headline and summary
		step   string // in the first command
	}{
		{"a folder", gone(), evidence.Socket{Kind: "folder"}, true, "no call reaches the runtime: there is a folder in the place of its socket", "ls -ld " + ourSocket},
		{"another program", gone(), evidence.Socket{Kind: "socket", Holder: sleep}, true, "no call reaches the runtime: its socket is held by sleep (pid 77), no runtime that is known", "-p 77"},
		{"gone, while it listens", gone(), evidence.Socket{Unlinked: daemon}, true, "no call reaches the runtime: its socket is gone, and containerd (pid 5) answers no new connection", "ls -ld " + ourSocket},
		{"a lock", gone(), evidence.Socket{Locked: "/var/lib/x/meta.db", Locker: sleep, Waits: daemon}, true,
			"no call reaches the runtime: containerd (pid 5) waits for /var/lib/x/meta.db, which sleep (pid 77) has locked", "-p 77"},
		{"a lock of nobody", gone(), evidence.Socket{Locked: "/var/lib/x/meta.db", Waits: daemon}, true, "which a process that has ended has locked", "fuser -v /var/lib/x/meta.db"},
		{"it was stopped", gone(), evidence.Socket{}, false, "no call reaches the runtime: socket missing, process not running", "systemctl status"},
		{"it was killed", gone(), evidence.Socket{Kind: "socket"}, false, "no call reaches the runtime: nobody listens at its socket, process not running", "systemctl status"},
		{"it runs", gone(), evidence.Socket{Kind: "socket"}, true, "no call reaches the runtime: connection refused", "journalctl"},
		{"not known", gone(), evidence.Socket{Missing: "no answer for 2s"}, true, "no call reaches the runtime: connection refused", "journalctl"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := tt.node.neverAnswered().input()
			in.Evidence, in.Endpoint = looked(healthy(3)), "unix://"+ourSocket
			in.Evidence.Socket = tt.socket
			if !tt.daemon {
				in.Evidence.Processes.Daemons = nil
			}
			v := factsOf(in)
			found := Diagnose(in)
			h := v.headline(found)
			if len(found) == 0 || found[0].ID != RuntimeDown || found[0].Severity != Critical || !strings.Contains(found[0].Summary, tt.want) || !strings.Contains(h.Text, tt.want) {
				t.Fatalf("headline %+v, found %+v, want %q", h, found, tt.want)
			}
			if !strings.Contains(found[0].Next[0].Command, tt.step) {
				t.Errorf("first step %+v, want %q", found[0].Next[0], tt.step)
			}
			if act := found[0].act(); act.When != "" { // the kubelet is cut off already
				t.Errorf("the act waits: %+v", act)
			}
		})
	}
}

func (n *node) neverAnswered() *node {
	for i := range n.Calls {
		n.Calls[i].LastOK = time.Time{}
	}
	return n
}

// A program that only listens answers nothing: then it is not the runtime that hangs. A program that has answered
// before stands in front of the runtime.
func TestAnotherProgramIsNoSilentRuntime(t *testing.T) {
	for holder, want := range map[string]ID{"sleep": RuntimeDown, "proxy": RuntimeUnresponsive, "containerd": RuntimeUnresponsive, "systemd": RuntimeUnresponsive, "crio": RuntimeUnresponsive} {
		n := healthy(3)
		if holder != "proxy" {
			n.neverAnswered()
		}
		n.hang(call.ListPodSandbox, 30*time.Second).hang(call.Status, 30*time.Second).hang(call.Version, 30*time.Second)
		in := n.input()
		in.Evidence, in.Endpoint = looked(healthy(3)), "unix://"+ourSocket
		in.Evidence.Socket = evidence.Socket{Kind: "socket", Holder: evidence.Process{PID: 77, Command: holder}}
		found := Diagnose(in)
		if len(found) == 0 || found[0].ID != want {
			t.Errorf("%s: found %s, want %s", holder, gist(found), want)
		}
	}
}

func TestNoCRIIsNamed(t *testing.T) {
	const why = "containerd's plugin io.containerd.cri.v1.images did not start: no such folder"
	found := checked(3).fail(call.ListPodSandbox, call.ErrUnimplemented, why, 1).fail(call.Status, call.ErrUnimplemented, why, 1).noList().diagnose()
	if len(found) == 0 || found[0].ID != RuntimeDown || found[0].Summary != "the runtime serves no CRI: "+why {
		t.Errorf("found %+v", found)
	}
}

// The runtime that the endpoint names is down, while another one answers.
func TestOtherRuntime(t *testing.T) {
	n := healthy(3).fail(call.ListPodSandbox, call.ErrUnavailable, notThere, 20).fail(call.Status, call.ErrUnavailable, notThere, 4)
	n.Other = "unix:///run/containerd/containerd.sock"
	if found := n.diagnose(); len(found) == 0 || found[0].ID != RuntimeDown || !strings.Contains(strings.Join(found[0].Evidence, "\n"), "another runtime answered at unix:///run/containerd/containerd.sock") {
		t.Errorf("found %+v", found)
	}
}

// A runtime that answers on old connections, and to which nobody can connect anew, is a warning.
func TestSocketLost(t *testing.T) {
	daemon, cat := evidence.Process{PID: 5, Command: "containerd"}, evidence.Process{PID: 77, Command: "cat"}
	for _, tt := range []struct {
		name   string
		socket evidence.Socket
		back   time.Duration // of the last answers before the look; 0 for after
		want   string        // empty for nothing
	}{
		{"it is there", evidence.Socket{Kind: "socket", Holder: daemon}, 0, ""},
		{"not known to listen", evidence.Socket{}, 0, ""},
		{"gone", evidence.Socket{Unlinked: daemon}, 0, "containerd (pid 5) answers no new connection: its socket is gone"},
		{"a folder", evidence.Socket{Kind: "folder", Unlinked: daemon}, 0, "there is a folder in the place of its socket"},
		{"another program's", evidence.Socket{Kind: "socket", Holder: cat, Unlinked: daemon}, 0, "its socket was replaced by that of cat (pid 77)"},
		{"nobody's", evidence.Socket{Kind: "socket", Unlinked: daemon}, 0, "nobody listens at the socket"},
		{"not answered since", evidence.Socket{Unlinked: daemon}, time.Minute, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := healthy(3)
			in := n.input()
			in.Evidence, in.Endpoint = looked(n), "unix://"+ourSocket
			in.Evidence.Socket = tt.socket
			for i := range n.Calls {
				n.Calls[i].LastOK = in.Evidence.At.Add(time.Second)
				if tt.back > 0 {
					n.Calls[i].LastOK = in.Evidence.At.Add(-tt.back)
				}
			}
			v, found := factsOf(in), Diagnose(in)
			h := v.headline(found)
			if tt.want == "" {
				if len(found) > 0 || h.Severity != Info {
					t.Errorf("headline %+v, found %s", h, gist(found))
				}
				return
			}
			if len(found) != 1 || found[0].ID != RuntimeDown || found[0].Severity != Warning || !strings.Contains(found[0].Summary, tt.want) || h.Word != "SOCKET LOST" || h.Text != "node Ready until the kubelet reconnects: "+found[0].Summary {
				t.Errorf("headline %+v, found %+v, want %q", h, found, tt.want)
			}
			if first, want := found[0].act().Command, map[string]string{"a folder": "mv -T ", "another program's": "kill 77"}[tt.name]; want != "" && !strings.HasPrefix(first, want) {
				t.Errorf("act %q, want %q", first, want)
			}
			if act := found[0].Next[len(found[0].Next)-1]; act.Command != "systemctl restart containerd" || !strings.Contains(act.Text, " socket again") || !strings.Contains(act.Risk, "containers live on") || act.When != "the kubelet was not restarted yet" {
				t.Errorf("act %q", act)
			}
		})
	}
}

// Behind a CRI proxy the runtime is missing: the proxy is left alone, whether its calls fail or hang.
func TestRuntimeBehindAProxy(t *testing.T) {
	for name, n := range map[string]*node{
		"hang": healthy(5).hang(call.ListPodSandbox, 20*time.Second).hang(call.Status, 20*time.Second),
		"fail": healthy(5).dead(40),
	} {
		in := n.input()
		in.Evidence, in.Endpoint = looked(n), "unix:///run/koord-runtimeproxy/runtimeproxy.sock"
		in.Evidence.Processes.Daemons = in.Evidence.Processes.Daemons[1:] // the kubelet's alone
		in.Evidence.Socket = evidence.Socket{Kind: "socket", Holder: evidence.Process{PID: 77, Command: "koord-runtime-p"}}
		f := Diagnose(in)[0]
		if !strings.Contains(f.Summary, "the runtime behind it does not run") || f.act().Command != "systemctl start containerd" {
			t.Errorf("%s: %s: %v", name, f.Summary, f.act())
		}
	}
}
