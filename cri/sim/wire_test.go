package sim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/procfs"
)

// The node shows that the runtime listens at its path.
func TestRuntimeListens(t *testing.T) {
	s, _ := start(t, "hung-update")
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
