package diagnose

import (
	"strings"
	"testing"

	"github.com/plegtop/plegtop/engine/call"
)

// A restart does not change a containerd without CRI: its configuration is changed first.
func TestContainerdWithoutCRI(t *testing.T) {
	const unknown = "rpc error: code = Unimplemented desc = unknown service runtime.v1.RuntimeService"
	for _, tt := range []struct{ endpoint, check, act string }{
		{"unix://" + ourSocket, "timeout 5 ctr -n k8s.io plugins ls", "remove cri from disabled_plugins in /etc/containerd/config.toml, "},
		{"unix:///run/k3s/containerd/containerd.sock", "timeout 5 ctr -a /run/k3s/containerd/containerd.sock -n k8s.io plugins ls", "remove cri from disabled_plugins in its configuration, "},
	} {
		n := healthy(3).fail(call.ListPodSandbox, call.ErrUnimplemented, unknown, 20).fail(call.Status, call.ErrUnimplemented, unknown, 4)
		in := n.input()
		in.Evidence, in.Endpoint = looked(n), tt.endpoint
		f := findingOf(t, Diagnose(in), RuntimeDown)
		if !strings.HasPrefix(f.Summary, "the runtime serves no CRI: ") || f.check().Command != tt.check || f.act().Command != "" || !strings.HasPrefix(f.act().Text, tt.act) {
			t.Errorf("%s\ncheck %q\nact %q", f.Summary, f.check(), f.act())
		}
		for _, s := range f.Next {
			if strings.Contains(s.Command, "restart") && s.When == "" {
				t.Errorf("%s", s)
			}
		}
	}
}
