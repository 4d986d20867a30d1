package evidence

import (
	"testing"
	"time"
)

const second = time.Second

// store returns the report of a node whose runtime has its data on an ext4 of its own.
func store(devices ...Device) *Report {
	return &Report{
		Disk:    Disk{Path: "/var/lib/containerd", Mount: Mount{Type: "ext4", Source: "/dev/sdb1", Device: "8:17"}, Below: []string{"sdb"}},
		Devices: devices,
	}
}

// in returns a process in uninterruptible sleep.
func in(lasted time.Duration, functions ...string) Process {
	return Process{PID: 7, State: Uninterrupted, For: lasted, Wchan: functions[0], Stack: functions[1:], Own: true, Age: time.Hour}
}

func (p Process) on(m Mount) Process {
	p.Mount = m
	return p
}

func TestDoing(t *testing.T) {
	is := func(s State, lasted time.Duration) Process { return Process{State: s, For: lasted} }
	disk, nfs := Mount{Point: "/data", Type: "ext4", Source: "/dev/sdc1", Device: "8:33"}, Mount{Point: "/nfs", Type: "nfs4", Source: "nas:/x", Device: "0:57"}
	cgroups := Mount{Point: "/sys/fs/cgroup", Type: "cgroup2", Source: "cgroup2", Device: "0:27"}
	own, overlay := Mount{Point: "/var/lib/containerd", Type: "ext4", Source: "/dev/sdb1", Device: "8:17"}, Mount{Point: "/", Type: "overlay", Source: "overlay", Device: "0:52"}
	dead, busy, other := Device{Number: "8:17", InFlight: 3, Still: 2 * second}, Device{Number: "8:17", InFlight: 3}, Device{Number: "8:33", InFlight: 1, Still: 3 * second}
	for _, tt := range []struct {
		name     string
		p        Process
		as       Role
		pressing bool
		devices  []Device
		want     What
		sure     bool
	}{
		{"runs", is(Running, time.Hour), AsRuntime, true, nil, Works, false},
		{"sleeps", is(Sleeping, time.Hour), AsRuntime, true, nil, Works, false},
		{"has just been stopped: a shim", is(Stopped, 0), AsMonitor, false, nil, IsStopped, true},
		{"a workload under cpulimit", is(Stopped, 100*time.Millisecond), AsWorkload, false, nil, IsStopped, false},
		{"a workload stays stopped", is(Stopped, second), AsWorkload, false, nil, IsStopped, true},
		{"runc changes limits", is(Frozen, 20*time.Millisecond), AsWorkload, false, nil, IsFrozen, false},
		{"paused", is(Frozen, second), AsWorkload, false, nil, IsFrozen, true},
		{"under strace, or a debugger attaches", is(Traced, second), AsMonitor, false, nil, IsTraced, false},
		{"somebody sits at a debugger", is(Traced, 2*second), AsMonitor, false, nil, IsTraced, true},
		{"a traced runtime that answers nothing", is(Traced, second), AsRuntime, true, nil, IsTraced, true},
		{"a zombie", is(Zombie, second), AsMonitor, false, nil, IsDead, true},
		{"a zombie of this moment", is(Zombie, 0), AsMonitor, false, nil, IsDead, false},
		{"a file server answers nothing", in(second, "rpc_wait_bit_killable", "nfs4_do_setattr"), AsWorkload, false, nil, OnServer, true},
		{"a busy file server", in(300*time.Millisecond, "x").on(nfs), AsWorkload, false, nil, OnServer, false},
		{"a helper sleeps for a program that serves files", Process{State: Sleeping, For: time.Hour, Mount: Mount{Type: "fuse.s3fs"}}, AsHelper, false, nil, OnServer, false},
		{"no memory left", in(second, "mem_cgroup_handle_over_high"), AsRuntime, false, nil, OnMemory, true},
		{"a frozen file system", in(second, "percpu_rwsem_wait", "vfs_write").on(disk), AsWorkload, false, nil, OnFrozenFS, true},
		{"a frozen file system of a path", in(second, "percpu_rwsem_wait", "mnt_want_write"), AsRuntime, false, nil, OnFrozenFS, true},
		{"control groups have a percpu_rwsem too", in(second, "percpu_rwsem_wait", "cgroup_attach_lock").on(cgroups), AsRuntime, true, nil, OnDisk, false},
		{"and without a mount", in(second, "percpu_rwsem_wait", "cgroup_attach_lock"), AsRuntime, true, nil, OnDisk, false},
		{"a busy disk takes seconds for a sync", in(9*second, "jbd2_log_wait_commit").on(disk), AsWorkload, false, nil, OnDisk, false},
		{"a disk that never answers", in(10*second, "jbd2_log_wait_commit").on(disk), AsWorkload, false, nil, OnDisk, true},
		{"the device of a volume is dead", in(second, "io_schedule").on(disk), AsWorkload, false, []Device{other}, OnDisk, true},
		{"the device of another volume is dead", in(second, "io_schedule").on(own), AsWorkload, false, []Device{other}, OnDisk, false},
		{"a device that answers slowly", in(second, "io_schedule").on(disk), AsWorkload, false, []Device{{Number: "8:33", InFlight: 1, Still: second}}, OnDisk, false},
		{"a container's own files are on the runtime's disk", in(second, "io_schedule").on(overlay), AsWorkload, false, []Device{dead}, OnDisk, true},
		{"the disk below the runtime's is dead", in(second, "io_schedule").on(own), AsWorkload, false, []Device{{Number: "8:16", Name: "sdb", Still: 2 * second}}, OnDisk, true},
		{"the runtime on its own disk, all hangs", in(2*second, "folio_wait_bit_common").on(own), AsRuntime, true, nil, OnDisk, true},
		{"the runtime on its own disk, calls are answered", in(2*second, "folio_wait_bit_common").on(own), AsRuntime, false, nil, OnDisk, false},
		{"a shim on the runtime's disk, all hangs", in(2*second, "folio_wait_bit_common").on(own), AsMonitor, true, nil, OnDisk, false},
		{"the runtime by a path, its disk is dead", in(second, "walk_component"), AsRuntime, false, []Device{dead}, OnDisk, true},
		{"a shim by a path, its disk is dead", in(second, "sync_inodes_sb"), AsMonitor, false, []Device{dead}, OnDisk, true},
		{"a workload by a path may be anywhere", in(second, "walk_component"), AsWorkload, false, []Device{dead}, OnDisk, false},
		{"the runtime by a path, another disk is dead", in(2*second, "jbd2_log_wait_commit"), AsRuntime, true, []Device{busy, other}, OnDisk, false},
		{"the runtime in the journal of its disk's kind", in(2*second, "jbd2_log_wait_commit"), AsRuntime, true, []Device{busy}, OnDisk, true},
		{"the same, its disk has nothing to do", in(2*second, "jbd2_log_wait_commit"), AsRuntime, true, []Device{{Number: "8:33"}}, OnDisk, false},
		{"the runtime in another kind of file system", in(2*second, "xfs_log_force"), AsRuntime, true, nil, OnDisk, false},
		{"the runtime by a path, nothing else is known", in(5*second, "walk_component"), AsRuntime, true, nil, OnDisk, false},
	} {
		r := store(tt.devices...)
		if tt.as == AsRuntime {
			r.Processes.Daemons = []Process{tt.p}
		}
		around := LookAround(r, tt.pressing)
		d := around.Doing(&tt.p, tt.as)
		if d.What != tt.want || d.Sure != tt.sure || d.For != tt.p.For && d.What != Works {
			t.Errorf("%s: %+v, want %v, sure %v", tt.name, d, tt.want, tt.sure)
		}
		if d.Sure && d.SureAfter() > d.For || !d.Sure && d.SureAfter() > 0 && d.SureAfter() <= d.For {
			t.Errorf("%s: sure after %v, in fact %v", tt.name, d.SureAfter(), d.For)
		}
	}
}

// Each question is true for some of the things that a process may do.
func TestQuestionsOfDoing(t *testing.T) {
	for what := Works; what <= IsDead; what++ {
		held, inKernel := what >= IsStopped && what <= IsFrozen, what >= OnServer && what <= OnMemory
		d := Doing{What: what, For: second, Sure: true}
		if d.Held() != held || d.InKernel() != inKernel || d.DoesNothing() != (held || inKernel) || d.StandsNow() != (held || inKernel) {
			t.Errorf("%d: %v %v %v %v", what, d.Held(), d.InKernel(), d.DoesNothing(), d.StandsNow())
		}
		d.For, d.Sure = 100*time.Millisecond, false
		if d.DoesNothing() || d.StandsNow() != (what == IsStopped) {
			t.Errorf("%d for a moment: %v %v", what, d.DoesNothing(), d.StandsNow())
		}
	}
	for i, row := range lasting {
		if len(row.reason) < 20 {
			t.Errorf("row %d has no reason", i)
		}
	}
}

// A process that names no file counts as waiting for the runtime's disk if something shows that.
func TestStoreOf(t *testing.T) {
	young := in(5*second, "percpu_rwsem_wait", "mnt_want_write")
	young.Age = 6 * second
	onFile := in(3*second, "io_schedule").on(Mount{Type: "ext4", Device: "8:17"})
	for _, tt := range []struct {
		name   string
		p      Process
		as     Role
		others []Process
		sign   StoreSign
		on     bool
	}{
		{"its own journal", in(3*second, "jbd2_log_wait_commit"), AsRuntime, nil, KindOfIt, true},
		{"another one is in the journal", in(second, "walk_component"), AsRuntime, []Process{in(3*second, "jbd2_log_wait_commit")}, KindOfIt, true},
		{"another one, for a moment", in(second, "walk_component"), AsRuntime, []Process{in(second, "jbd2_log_wait_commit")}, NoSign, false},
		{"another one waits for a file there", in(second, "do_unlinkat"), AsMonitor, []Process{onFile}, FileThere, true},
		{"in no function of a file system", in(3*second, "msleep"), AsRuntime, []Process{onFile}, FileThere, false},
		{"for a server", in(3*second, "walk_component", "nfs_lookup"), AsRuntime, []Process{onFile}, NoSign, false},
		{"frozen", in(time.Minute, "percpu_rwsem_wait", "mnt_want_write"), AsRuntime, nil, NoSign, true},
		{"frozen since its start", young, AsRuntime, nil, SinceStart, true},
		{"a frozen helper may write elsewhere", young, AsHelper, nil, NoSign, false},
	} {
		r := store()
		r.Processes.Daemons, r.Processes.Shims = []Process{tt.p}, tt.others
		around := LookAround(r, true)
		if m, sign, on := around.StoreOf(&tt.p, tt.as); on != tt.on || sign != tt.sign || on && m.Device != "8:17" {
			t.Errorf("%s: %v, sign %d on %v", tt.name, on, sign, m)
		}
	}
}

// The number of a btrfs is its own, whatever disk it is on.
func TestStoreOnBtrfs(t *testing.T) {
	for name, want := range map[string]StoreSign{"nvme1n1": DeviceDead, "nvme0n1": NoSign} {
		r := &Report{Disk: Disk{Path: "/var/lib/containerd", Mount: Mount{Type: "btrfs", Device: "0:45", Source: "/dev/nvme1n1"}}}
		r.Devices = []Device{{Number: "259:1", Name: name, InFlight: 1, Still: 5 * second}}
		around := LookAround(r, true)
		p := in(second, "io_schedule").on(Mount{Type: "btrfs", Device: "0:45"})
		if d := around.Doing(&p, AsRuntime); around.StoreSign() != want || d.Sure != (want == DeviceDead) {
			t.Errorf("%s is dead: sign %d, %+v", name, around.StoreSign(), d)
		}
	}
}
