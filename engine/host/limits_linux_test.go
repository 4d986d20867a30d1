package host

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/evidence"
)

// A process that was killed before the first look is not reported. One that was killed after it is reported,
// even if another process has taken the place of the daemon.
func TestKilledForWantOfMemory(t *testing.T) {
	for _, tt := range []struct{ name, lines, folder, file, limit string }{
		{"v2", "0::/system.slice/containerd.service\n", "system.slice/containerd.service", "memory.events.local", "memory.max"},
		{"v1", "5:memory:/system.slice/containerd.service\n", "memory/system.slice/containerd.service", "memory.oom_control", "memory.limit_in_bytes"},
	} {
		root := t.TempDir()
		w := newFixtureWalker(root)
		folder := filepath.Join("/sys/fs/cgroup", tt.folder)
		killed := func(at time.Duration, events string) uint64 {
			writeFile(t, filepath.Join(root, folder, tt.file), events)
			limits := w.look(t.Context(), firstLook.Add(at)).Limits
			i := slices.IndexFunc(limits, func(l evidence.Limit) bool { return l.What == evidence.OOMKills })
			if i < 0 {
				return 0
			}
			if limits[i].Path != filepath.Join(folder, tt.limit) || limits[i].Of != "containerd" || limits[i].Used == 0 {
				t.Errorf("%s: %+v", tt.name, limits[i])
			}
			return limits[i].Used
		}
		writeProcess(t, root, fakeProcess{PID: 10, Comm: "containerd", Cgroup: tt.lines})
		first, none := killed(0, "oom 9\noom_kill 3\n"), killed(time.Second, "oom 9\noom_kill 3\n")
		writeProcess(t, root, fakeProcess{PID: 10, Comm: "containerd", Cgroup: tt.lines, Started: 2 * time.Hour})
		if two := killed(2*time.Second, "oom 12\noom_kill 5\n"); first != 0 || none != 0 || two != 2 {
			t.Errorf("%s: %d, %d, %d killed, want 0, 0, 2", tt.name, first, none, two)
		}
		if unread := killed(3*time.Second, ""); unread != 0 {
			t.Errorf("%s: %d killed by an empty file", tt.name, unread)
		}
	}
}

// For everything that can run out and that the runtime or the node shares, the limit is read.
func TestLimitsOfTheNodeAndTheRuntime(t *testing.T) {
	const unit = "/sys/fs/cgroup/system.slice/containerd.service"
	limit := func(of, what string, used, most uint64, path string) evidence.Limit {
		l := evidence.Limit{Of: of, What: what, Used: used, Most: most, Path: path}
		if of != "" {
			l.PID = 10
		}
		return l
	}
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  []evidence.Limit
	}{
		{"nothing to read", nil, nil},
		{"files of the node", map[string]string{"/proc/sys/fs/file-nr": "95 0 100\n"}, []evidence.Limit{limit("", evidence.OpenFiles, 95, 100, "/proc/sys/fs/file-max")}},
		{"threads of the node", map[string]string{
			"/proc/loadavg": "0.1 0.2 0.3 3/31000 77\n", "/proc/sys/kernel/pid_max": "32768\n", "/proc/sys/kernel/threads-max": "63000\n",
		}, []evidence.Limit{
			limit("", evidence.Threads, 31000, 32768, "/proc/sys/kernel/pid_max"), limit("", evidence.Threads, 31000, 63000, "/proc/sys/kernel/threads-max"),
		}},
		{"processes of the unit", map[string]string{unit + "/pids.current": "480\n", unit + "/pids.max": "500\n"}, []evidence.Limit{
			limit("containerd", evidence.Threads, 480, 500, unit+"/pids.max"),
		}},
		{"no limit of the unit", map[string]string{unit + "/pids.current": "480\n", unit + "/pids.max": "max\n"}, nil},
		{"files of the runtime", map[string]string{
			"/proc/10/limits": "Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 4096                 files     \n",
			"/proc/10/fd/0":   "", "/proc/10/fd/1": "", "/proc/10/fd/2": "",
		}, []evidence.Limit{{Of: "containerd", PID: 10, What: evidence.OpenFiles, Used: 3, Most: 1024, Hard: 4096, Path: "/proc/10/limits"}}},
		{"memory that cannot be dropped, though little of it is of processes", map[string]string{
			unit + "/memory.current": "1000\n", unit + "/memory.max": "1000\n", unit + "/memory.stat": "anon 100\ninactive_file 10\nactive_file 5\nslab_reclaimable 5\n",
		}, []evidence.Limit{limit("containerd", evidence.Memory, 980, 1000, unit+"/memory.max")}},
		{"files in memory can be dropped", map[string]string{
			unit + "/memory.current": "1000\n", unit + "/memory.max": "1000\n", unit + "/memory.stat": "anon 100\ninactive_file 700\nactive_file 150\n",
		}, []evidence.Limit{limit("containerd", evidence.Memory, 150, 1000, unit+"/memory.max")}},
		{"nonsense", map[string]string{"/proc/loadavg": "0 0 0 x/y 1", "/proc/sys/kernel/pid_max": "many\n", "/proc/sys/fs/file-nr": "1 2\n"}, nil},
	} {
		root := t.TempDir()
		writeProcess(t, root, fakeProcess{PID: 10, Comm: "containerd", Cgroup: "/system.slice/containerd.service"})
		for path, text := range tt.files {
			writeFile(t, filepath.Join(root, path), text)
		}
		if diff := cmp.Diff(tt.want, newFixtureWalker(root).look(t.Context(), firstLook).Limits); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// A group of v1 whose tasks wait for memory has none left, whatever its other files say.
func TestMemoryThatIsWaitedFor(t *testing.T) {
	root := t.TempDir()
	const unit = "/sys/fs/cgroup/memory/system.slice/containerd.service"
	writeProcess(t, root, fakeProcess{PID: 10, Comm: "containerd", Cgroup: "5:memory:/system.slice/containerd.service\n"})
	for file, text := range map[string]string{"memory.oom_control": "oom_kill_disable 1\nunder_oom 1\noom_kill 0\n", "memory.limit_in_bytes": "1000\n", "memory.usage_in_bytes": "1000\n", "memory.stat": "total_rss 20\ntotal_inactive_file 400\n"} {
		writeFile(t, filepath.Join(root, unit, file), text)
	}
	want := []evidence.Limit{{Of: "containerd", PID: 10, What: evidence.Memory, Used: 1000, Most: 1000, Path: unit + "/memory.limit_in_bytes"}}
	if diff := cmp.Diff(want, newFixtureWalker(root).look(t.Context(), firstLook).Limits); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
}

// The control group of the runtime limits how much of the processors it may use. Both versions have files for
// that.
func TestQuotaOfTheRuntime(t *testing.T) {
	const v2, v1 = "/sys/fs/cgroup/system.slice/containerd.service/", "/sys/fs/cgroup/cpu,cpuacct/system.slice/containerd.service/"
	for _, tt := range []struct {
		name, cgroup string
		files        map[string]string
		want         float64
	}{
		{"v2", "/system.slice/containerd.service", map[string]string{v2 + "cpu.max": "20000 100000\n"}, 0.2},
		{"no quota", "/system.slice/containerd.service", map[string]string{v2 + "cpu.max": "max 100000\n"}, 0},
		{"no file", "/system.slice/containerd.service", nil, 0},
		{"v1", "3:cpu,cpuacct:/system.slice/containerd.service\n", map[string]string{v1 + "cpu.cfs_quota_us": "150000\n", v1 + "cpu.cfs_period_us": "100000\n"}, 1.5},
		{"no quota in v1", "3:cpu,cpuacct:/system.slice/containerd.service\n", map[string]string{v1 + "cpu.cfs_quota_us": "-1\n", v1 + "cpu.cfs_period_us": "100000\n"}, 0},
		{"nonsense", "/system.slice/containerd.service", map[string]string{v2 + "cpu.max": "20000 0\n"}, 0},
	} {
		root := t.TempDir()
		writeProcess(t, root, fakeProcess{PID: 10, Comm: "containerd", Cgroup: tt.cgroup})
		for path, text := range tt.files {
			writeFile(t, filepath.Join(root, path), text)
		}
		if got := newFixtureWalker(root).look(t.Context(), firstLook).Usage; len(got) != 1 || got[0].Quota != tt.want {
			t.Errorf("%s: %+v, want %v", tt.name, got, tt.want)
		}
	}
}
