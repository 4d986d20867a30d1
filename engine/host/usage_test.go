package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/evidence"
)

// setUsage writes /proc/PID/stat with what usage is made of: ticks of 10 ms,
// pages, and the start in ticks.
func setUsage(t *testing.T, root string, pid int, comm string, ticks, pages, threads, start int) {
	t.Helper()
	fields := strings.Fields("S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 0 0 0 0 0" + strings.Repeat(" 0", 28))
	fields[11], fields[12] = fmt.Sprint(ticks/3), fmt.Sprint(ticks-ticks/3)
	fields[17], fields[19], fields[21] = fmt.Sprint(threads), fmt.Sprint(start), fmt.Sprint(pages)
	dir := filepath.Join(root, "proc", fmt.Sprint(pid))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	line := fmt.Sprintf("%d (%s) %s\n", pid, comm, strings.Join(fields, " "))
	if err := os.WriteFile(filepath.Join(dir, "stat"), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestUsageMeter(t *testing.T) {
	root := t.TempDir()
	clocks := &setClocks{}
	m := newUsageMeter(root, clocks.pair().mono)
	page := uint64(os.Getpagesize())
	wanted := []named{{"containerd", 10}, {"kubelet", 20}, {"gone", 30}}
	look := func(want ...evidence.Usage) {
		t.Helper()
		if diff := cmp.Diff(want, m.look(wanted)); diff != "" {
			t.Error(diff)
		}
		clocks.pass(0, 5*time.Second)
	}
	setUsage(t, root, 10, "containerd", 1000, 7, 30, 500)
	setUsage(t, root, 20, "kubelet", 2000, 9, 40, 600)
	look(evidence.Usage{Name: "containerd", PID: 10, CPU: -1, Memory: 7 * page, Threads: 30},
		evidence.Usage{Name: "kubelet", PID: 20, CPU: -1, Memory: 9 * page, Threads: 40})

	setUsage(t, root, 10, "containerd", 1000+750, 8, 31, 500)
	setUsage(t, root, 20, "kubelet", 2000, 9, 40, 600)
	look(evidence.Usage{Name: "containerd", PID: 10, CPU: 1.5, Memory: 8 * page, Threads: 31},
		evidence.Usage{Name: "kubelet", PID: 20, CPU: 0, Memory: 9 * page, Threads: 40})

	// The same number, but another process: it has no look before.
	setUsage(t, root, 10, "containerd", 5000, 8, 31, 99000)
	setUsage(t, root, 20, "kubelet", 2100, 9, 40, 600)
	look(evidence.Usage{Name: "containerd", PID: 10, CPU: -1, Memory: 8 * page, Threads: 31},
		evidence.Usage{Name: "kubelet", PID: 20, CPU: 0.2, Memory: 9 * page, Threads: 40})
}

func TestUsageMeterJoinsProcessesOfOneName(t *testing.T) {
	root := t.TempDir()
	clocks := &setClocks{}
	m := newUsageMeter(root, clocks.pair().mono)
	page := uint64(os.Getpagesize())
	setUsage(t, root, 10, "dockerd", 0, 1, 2, 5)
	m.look([]named{{"dockerd", 10}})
	clocks.pass(0, 10*time.Second)
	setUsage(t, root, 10, "dockerd", 500, 1, 2, 5)
	setUsage(t, root, 11, "dockerd", 300, 4, 8, 6)
	for _, order := range [][]named{{{"dockerd", 11}, {"dockerd", 10}}, {{"dockerd", 10}, {"dockerd", 11}}} {
		before := m.seen
		want := []evidence.Usage{{Name: "dockerd", CPU: 0.5, Memory: 5 * page, Threads: 10}}
		if diff := cmp.Diff(want, m.look(order)); diff != "" {
			t.Errorf("%v: %s", order, diff)
		}
		m.seen = before
	}
}

func TestByName(t *testing.T) {
	tests := []struct {
		daemons []evidence.Process
		want    []named
	}{
		{[]evidence.Process{{PID: 3, Command: "kubelet"}, {PID: 9, Command: "crio"}, {PID: 1, Command: "containerd"}}, []named{{"crio", 9}, {"containerd", 1}, {"kubelet", 3}}},
		{[]evidence.Process{{PID: 3, Command: "k3s-server"}, {PID: 4, Command: "containerd"}}, []named{{"containerd", 4}, {"k3s-server", 3}}},
		{[]evidence.Process{{PID: 3, Command: "kubelite"}, {PID: 4, Command: "containerd"}}, []named{{"containerd", 4}, {"kubelite", 3}}},
		{[]evidence.Process{{PID: 2, Command: "rke2"}, {PID: 3, Command: "kubelet"}, {PID: 4, Command: "containerd"}}, []named{{"containerd", 4}, {"kubelet", 3}}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, byName(tt.daemons), cmp.AllowUnexported(named{})); diff != "" {
			t.Error(diff)
		}
	}
}
