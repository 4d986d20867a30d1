package sim

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/procfs"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Where the socket is lost, who is connected is answered and nobody else comes in. The
// node shows that the runtime listens at its path.
func TestSocketLost(t *testing.T) {
	s, c := start(t, "hung-kill")
	version := func(c cri.RuntimeServiceClient) error {
		_, err := c.Version(t.Context(), &cri.VersionRequest{})
		return err
	}
	connects := func() bool {
		conn, err := net.Dial("unix", s.wire.path)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}
	steps := []struct {
		fault      string
		on         bool
		there, old bool // whether one can connect, and who was connected is answered
	}{
		{"slow", false, true, true},
		{"socket-lost", true, false, true},
		{"socket-lost", false, true, true},
		{"socket-lost", true, false, true},
		{"runtime-down", true, false, false},
		{"runtime-down", false, false, false},
		{"socket-lost", false, true, true},
	}
	for i, step := range steps {
		if err := s.setFault(step.fault, step.on); err != nil {
			t.Fatal(err)
		}
		if connects() != step.there {
			t.Errorf("step %d: one can connect: %v", i, !step.there)
		}
		client := c
		if i == len(steps)-1 {
			client = dial(t, s) // the old one waits before it tries again
		}
		if err := version(client); (err == nil) != step.old {
			t.Errorf("step %d: who was connected gets %v", i, err)
		}
	}
	wantListening(t, s)
}

func wantListening(t *testing.T, s *Server) {
	t.Helper()
	dir := filepath.Join(s.HostRoot(), "proc", "812")
	open, err := os.Readlink(filepath.Join(dir, "fd", "3"))
	if err != nil {
		t.Fatal(err)
	}
	node, err := procfs.NewFS(dir)
	if err != nil {
		t.Fatal(err)
	}
	table, err := node.NetUNIX()
	if err != nil || len(table.Rows) != 1 || table.Rows[0].Path != s.wire.path || !strings.Contains(open, "["+"812"+"]") || table.Rows[0].Inode != 812 {
		t.Errorf("it has %s open; sockets %+v, %v", open, table, err)
	}
}
