package diagnose

import (
	"cmp"
	"os/exec"
	"strings"
	"testing"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

func TestQuote(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", "''"},
		{"abc-1.2_3", "abc-1.2_3"},
		{"a b", "'a b'"},
		{"it's", `'it'\''s'`},
		{"$(reboot)", "'$(reboot)'"},
		{"grün", "'grün'"},
	}
	for _, tt := range tests {
		if got := quote(tt.in); got != tt.want {
			t.Errorf("quote(%q) = %s, want %s", tt.in, got, tt.want)
		}
	}
}

// FuzzQuote compares quote with a real shell.
func FuzzQuote(f *testing.F) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		bash = ""
	}
	for _, s := range []string{"", "a b", "'", `\'`, "\x1b[0m", "\xff\x80", "`id`", "$'x'", "é\u200d", "a1\x01b2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if untypable(s) || bash == "" {
			return // it is put into no command
		}
		quoted := quote(s)
		out, err := exec.Command(bash, "-c", "printf %s "+quoted).Output()
		if err != nil || string(out) != s {
			t.Fatalf("bash reads %s as %q, want %q: %v", quoted, out, s, err)
		}
	})
}

func TestCrictl(t *testing.T) {
	const ctr = "ctr -n k8s.io tasks kill c1"
	tests := []struct{ endpoint, want, ctr string }{
		{"", "crictl inspect c1", ctr},
		{"unix:///run/containerd/containerd.sock", "crictl inspect c1", ctr},
		{"/run/containerd/containerd.sock", "crictl inspect c1", ctr},
		{"unix:///run/k3s/containerd.sock", "crictl -r unix:///run/k3s/containerd.sock inspect c1", "ctr -a /run/k3s/containerd.sock -n k8s.io tasks kill c1"},
		{"unix:///tmp/a b.sock", "crictl -r 'unix:///tmp/a b.sock' inspect c1", "ctr -a '/tmp/a b.sock' -n k8s.io tasks kill c1"},
	}
	for _, tt := range tests {
		v := &Facts{Snapshot: new(engine.Snapshot), Endpoint: tt.endpoint, Look: &noLook, kept: new(kept)}
		for template, want := range map[string]string{"{ctr} tasks kill {id}": tt.ctr, "{crictl} inspect {id}": tt.want} {
			if got, why := v.command(template, Values{"id": one("c1")}); got != want || why != lacksNothing {
				t.Errorf("%s at %q: %s, want %s", template, tt.endpoint, got, want)
			}
		}
	}
	for _, id := range []string{"--help", "a\x1b[2J", "a\u202eb", "\xff"} {
		if got, why := (&Facts{Snapshot: new(engine.Snapshot), Look: &noLook, kept: new(kept)}).command("{crictl} inspect {id}", Values{"id": one(id)}); why != lacksText {
			t.Errorf("an id that nobody should type is in a command: %q", got)
		}
	}
}

// The steps name the unit in which the runtime runs. If there are several units, only the one that runs is restarted,
// and none is started.
func TestUnits(t *testing.T) {
	daemon := func(command, unit string) *evidence.Report {
		return &evidence.Report{Processes: evidence.Processes{Daemons: []evidence.Process{{Command: command, Unit: unit}, {Command: "kubelet", Unit: "kubelet.service"}}}}
	}
	const k3s = "unix:///run/k3s/containerd/containerd.sock"
	tests := []struct {
		name, runtime, endpoint string
		look                    *evidence.Report
		want                    string
	}{
		{"containerd", "containerd", "unix:///run/containerd/containerd.sock", nil, "systemctl restart containerd"},
		{"nothing is known", "", "", nil, "systemctl restart containerd"},
		{"CRI-O", "cri-o", "unix:///var/run/crio/crio.sock", nil, "systemctl restart crio"},
		{"cri-dockerd", "docker", "unix:///run/cri-dockerd.sock", nil, "systemctl restart cri-docker"},
		{"k3s or rke2", "containerd", k3s, nil, "systemctl try-restart k3s k3s-agent rke2-server rke2-agent"},
		{"k3s, looked at", "containerd", k3s, daemon("containerd", "k3s-agent.service"), "systemctl restart k3s-agent"},
		{"rke2, looked at", "containerd", k3s, daemon("containerd", "rke2-server.service"), "systemctl restart rke2-server"},
		{"microk8s", "containerd", "unix:///var/snap/microk8s/common/run/containerd.sock", nil, "snap restart microk8s.daemon-containerd"},
		{"k0s, looked at", "containerd", "unix:///run/k0s/containerd.sock", daemon("containerd", "k0sworker.service"), "systemctl restart k0sworker"},
		{"a unit of another name", "containerd", "unix:///run/containerd/containerd.sock", daemon("containerd", "my-containerd.service"), "systemctl restart my-containerd"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := &Facts{Snapshot: &engine.Snapshot{Version: pleg.Version{RuntimeName: tt.runtime}}, Endpoint: tt.endpoint, Look: cmp.Or(tt.look, &noLook), kept: new(kept)}
			step := v.thenRestart()[0]
			if step.Command != tt.want || !step.Risky() {
				t.Errorf("step %v, want %q", step, tt.want)
			}
			logs := "timeout 5 journalctl -n 300 --no-pager -u k3s -u k3s-agent -u rke2-server -u rke2-agent"
			if says := v.logs()[0].Command; strings.Contains(tt.want, "try-") && says != logs {
				t.Errorf("step %v, logs %q", step, says)
			}
		})
	}
}

// A kubelet that nobody has seen runs in the unit that its distribution has for it.
func TestKubeletUnit(t *testing.T) {
	for endpoint, want := range map[string]string{
		"":                                       "kubelet",
		"unix:///run/containerd/containerd.sock": "kubelet",
		"unix:///run/k0s/containerd.sock":        "k0sworker",
		"unix:///var/snap/microk8s/common/run/containerd.sock": "snap.microk8s.daemon-kubelite",
	} {
		look := &evidence.Report{}
		if strings.Contains(endpoint, "k0s") {
			look.Processes.Daemons = []evidence.Process{{Command: "containerd", Unit: "k0sworker.service"}}
		}
		v := &Facts{Snapshot: &engine.Snapshot{}, Endpoint: endpoint, Look: look, kept: new(kept)}
		if got := strings.Join(v.kubeletUnits(), " "); got != want {
			t.Errorf("at %q: %s, want %s", endpoint, got, want)
		}
	}
}
