package proc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/procfs"
)

func TestClocksOfTheNodeGoOn(t *testing.T) {
	now := time.Now()
	f, err := New(filepath.Join(t.TempDir(), "node"), now.Add(-500*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	kubelet := Process{PID: 1043, Name: "kubelet", State: 'S', Threads: 1, Percent: 10}
	if err := f.Follow(now, []Process{kubelet}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		after time.Duration
		want  string
		used  float64 // seconds of a core
	}{
		{0, "1800000.00 ", 180000}, {900 * time.Millisecond, "1800000.00 ", 180000}, {20 * time.Second, "1800020.00 ", 180002},
	} {
		if err := f.Pass(now.Add(tt.after)); err != nil {
			t.Fatal(err)
		}
		up, err := os.ReadFile(f.proc("uptime"))
		if err != nil || !strings.HasPrefix(string(up), tt.want) {
			t.Errorf("after %v: uptime %q, %v; want %s", tt.after, up, err, tt.want)
		}
		node, err := procfs.NewFS(f.proc())
		if err != nil {
			t.Fatal(err)
		}
		p, err := node.Proc(kubelet.PID)
		if err != nil {
			t.Fatal(err)
		}
		if stat, err := p.Stat(); err != nil || stat.CPUTime()-tt.used > 0.02 || tt.used-stat.CPUTime() > 0.02 {
			t.Errorf("after %v: the kubelet has used %v s, %v; want %v", tt.after, stat.CPUTime(), err, tt.used)
		}
	}
}
