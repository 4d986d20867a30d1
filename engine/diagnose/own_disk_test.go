package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/evidence"
)

// storeMount is the disk of the runtime's data.
var storeMount = evidence.Mount{Point: "/var/lib/containerd", Type: "ext4", Source: "/dev/sdb1", Device: "8:17"}

// onStore makes a process wait for the runtime's disk.
func onStore(p *evidence.Process, lasted time.Duration, wchan string) {
	p.State, p.For, p.Mount, p.Wchan = evidence.Uninterrupted, lasted, storeMount, wchan
}

// storeHangs is a node whose list hangs in check, as does the status of three containers,
// with a thread of the runtime in the kernel.
func storeHangs(lasted time.Duration, wchan string) sick {
	s := listHangs().and(func(s sick) { s.sweepHung(0, "app").sweepHung(1, "app").sweepHung(2, "sidecar") })
	s.r.Disk.Mount = storeMount
	onStore(&s.r.Processes.Daemons[0], lasted, wchan)
	return s
}

// Whatever waits for the runtime's own disk is an effect of the disk, from the first seconds on.
func TestTheRuntimesOwnDiskComesFirst(t *testing.T) {
	disk := "critical process-stuck\n"
	effects := "critical inspect-hung ContainerStatus ns-0/pod-00000/app < process-stuck\n" +
		"critical inspect-hung ContainerStatus ns-1/pod-00001/app < process-stuck\ncritical inspect-hung ContainerStatus ns-2/pod-00002/sidecar < process-stuck\n" +
		"critical list-hung ListContainers < process-stuck\n"
	blamed := strings.ReplaceAll(effects[:strings.Index(effects, "critical list")], " < process-stuck", "")
	const unhealthy = "critical pleg-unhealthy < process-stuck\n"
	for _, tt := range []struct {
		name string
		s    sick
		want string
	}{
		{"after 2 s", storeHangs(2*time.Second, "folio_wait_bit_common"), disk + effects + unhealthy},
		{"not for a moment", storeHangs(1500*time.Millisecond, "folio_wait_bit_common"), blamed + "critical list-hung ListContainers < inspect-hung\ncritical pleg-unhealthy < inspect-hung\n"},
		{"frozen", storeHangs(600*time.Millisecond, "percpu_rwsem_wait"), disk + effects + unhealthy},
		{"frozen, by another function", storeHangs(600*time.Millisecond, "xfs_wait_freeze_done"), disk + effects + unhealthy},
		{"another disk", storeHangs(3*time.Second, "folio_wait_bit_common").and(func(s sick) {
			s.r.Processes.Daemons[0].Mount = evidence.Mount{Point: "/backup", Type: "ext4", Source: "/dev/sdc1", Device: "8:33"}
		}), blamed + "critical list-hung ListContainers < inspect-hung\ncritical pleg-unhealthy < inspect-hung\n"},
		{"with pods on it", storeHangs(12*time.Second, "folio_wait_bit_common").and(func(s sick) {
			for _, id := range []string{"container-0-1", "container-1-0", "container-2-0"} {
				onStore(&s.r.Processes.Containers[id][0], 12*time.Second, "folio_wait_bit_common")
				s.r.Processes.Containers[id][0].Mount = evidence.Mount{Point: "/", Type: "overlay", Source: "overlay", Device: "0:52"}
			}
		}), disk + effects + unhealthy},
		{"with the first process of a container on it", storeHangs(3*time.Second, "folio_wait_bit_common").helper("create", "container-1-1", func(p *evidence.Process) {
			p.Command, p.Age = "runc:[2:INIT]", 30*time.Second
			onStore(p, 3*time.Second, "folio_wait_bit_common")
		}), disk + effects + unhealthy + "warning helper-stuck ns-1/pod-00001/sidecar < process-stuck\n"},
		{"with a shim that unmounts on it, and a helper, of which no file is known", storeHangs(12*time.Second, "folio_wait_bit_common").helper("create", "container-1-0", func(p *evidence.Process) {
			onStore(p, 12*time.Second, "wb_wait_for_completion")
			p.Mount, p.Age = evidence.Mount{}, 30*time.Second
		}).and(func(s sick) {
			onStore(shimOf(s.r, 0), 12*time.Second, "wb_wait_for_completion")
			shimOf(s.r, 0).Mount = evidence.Mount{}
		}), disk + effects + unhealthy},
		{"a disk that could not be asked", storeHangs(3*time.Second, "folio_wait_bit_common").and(func(s sick) {
			s.r.Disk = evidence.Disk{Path: "/var/lib/containerd", Missing: "no answer"}
		}), disk + effects + unhealthy},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, h := tt.s.diagnose()
			t.Log(h.Word, h.Text)
			if diff := cmp.Diff(tt.want, gist(found)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if strings.HasPrefix(tt.want, disk) && strings.Contains(h.Text, " more") {
				t.Errorf("headline %q counts more than one culprit", h.Text)
			}
			if strings.Count(h.Text, "D in ") > 1 {
				t.Errorf("headline %q says twice where the process stands", h.Text)
			}
			if says := strings.Contains(h.Text, "/var/lib/containerd"); says != strings.HasPrefix(tt.want, disk) {
				t.Errorf("headline %q", h.Text)
			}
		})
	}
}

// A runtime that cannot start because its disk is frozen listens nowhere. The disk is the cause of that.
func TestAFrozenDiskKeepsTheSocketShut(t *testing.T) {
	n := healthy(3).dead(12)
	r := looked(n)
	r.Disk.Mount = storeMount
	r.Socket = evidence.Socket{}
	p := &r.Processes.Daemons[0]
	p.Age = 12 * time.Second
	onStore(p, 11*time.Second, "percpu_rwsem_wait")
	in := n.input()
	in.Evidence = r
	v := factsOf(in)
	found := v.diagnose()
	if got, want := gist(found), "critical process-stuck\ncritical runtime-down < process-stuck\n"; got != want {
		t.Errorf("findings\n%swant\n%s", got, want)
	}
	h := v.headline(found)
	if h.Word != RuntimeIsDown || !strings.Contains(h.Text, "/var/lib/containerd") {
		t.Errorf("headline %s: %s", h.Word, h.Text)
	}
	t.Log(h.Text)
	for _, f := range found {
		t.Log(f.Summary, f.Next)
	}
}

// An object whose own shim does nothing keeps its own fault, also beside a failing disk.
func TestAnotherHolderBesideTheDisk(t *testing.T) {
	found, _ := storeHangs(3*time.Second, "folio_wait_bit_common").and(func(s sick) { shimOf(s.r, 1).State = evidence.Stopped }).diagnose()
	roots := 0
	for _, f := range found {
		if f.Cause == "" {
			roots++
		}
		if f.Subject.Pod.Name == "pod-00001" && f.ID == InspectHung && f.CauseOf.Pod.Name != "pod-00001" {
			t.Errorf("%s has the cause %q", f.Summary, f.CauseKey)
		}
	}
	if roots != 2 {
		t.Errorf("%d culprits, want two:\n%s", roots, gist(found))
	}
}

// A runtime whose process is held is the cause at once.
func TestATracedRuntimeIsTheReason(t *testing.T) {
	s := listHangs()
	p := &s.r.Processes.Daemons[0]
	p.State, p.For = evidence.Traced, time.Second
	found, _ := s.diagnose()
	if want := "critical process-stuck\ncritical list-hung ListContainers < process-stuck\ncritical pleg-unhealthy < process-stuck\n"; gist(found) != want {
		t.Errorf("findings\n%swant\n%s", gist(found), want)
	}
	n := healthy(3)
	r := looked(n)
	r.Processes.Daemons[0].State, r.Processes.Daemons[0].For = evidence.Traced, time.Second
	in := n.input()
	in.Evidence = r
	wantIDs(t, Diagnose(in))
}

// A lock of the kernel's control groups is not a frozen file system.
func TestALockOfControlGroupsIsNotFrozen(t *testing.T) {
	n := healthy(3)
	r := looked(n)
	p := shimOf(r, 1)
	onStore(p, time.Second, "percpu_rwsem_wait")
	p.Mount = evidence.Mount{Point: "/sys/fs/cgroup", Type: "cgroup2", Source: "cgroup2", Device: "0:27"}
	in := n.input()
	in.Evidence = r
	wantIDs(t, Diagnose(in))
}

// A thread of the runtime that waits to write to a path is held by a frozen file system, and not by a slow disk. That
// is known at once, and so is what the thread holds up.
func TestAFrozenFileSystemThatAPathNames(t *testing.T) {
	frozen := []string{"percpu_rwsem_wait", "__percpu_down_read", "mnt_want_write", "do_renameat2"}
	for _, tt := range []struct {
		name  string
		stack []string
		hangs bool
		want  string
	}{
		{"where all is answered", frozen, false, "critical process-stuck\n"},
		{"and a call hangs", frozen, true, "critical process-stuck\ncritical inspect-hung ContainerStatus ns-0/pod-00000/app < process-stuck\n"},
		{"with conmons", append(frozen, "conmon"), false, "critical process-stuck\n"},
		{"a lock of control groups", []string{"percpu_rwsem_wait", "cgroup_attach_lock", "vfs_write"}, false, ""},
		{"a slow disk", []string{"folio_wait_bit_common", "ext4_sync_file", "mnt_want_write"}, false, ""},
	} {
		n := checked(3)
		r := looked(n)
		onCRIO(n, r)
		if slices.Contains(tt.stack, "conmon") {
			for i := range 2 {
				p := &r.Processes.Shims[i]
				p.State, p.For, p.Wchan, p.Stack = evidence.Uninterrupted, time.Second, frozen[0], frozen
			}
		}
		if tt.hangs {
			n.sweepHung(0, "app")
		}
		r.Disk.Path, r.Disk.Mount = "/var/lib/containers/storage", evidence.Mount{Type: "ext4", Source: "/dev/sdb1", Device: "8:17", Node: "/var/lib/containers/storage"}
		p := &r.Processes.Daemons[0]
		p.Command, p.State, p.For, p.Wchan, p.Stack = "crio", evidence.Uninterrupted, time.Second, tt.stack[0], tt.stack
		in := n.input()
		in.Evidence, in.Endpoint = r, "unix:///var/run/crio/crio.sock"
		found := Diagnose(in)
		if got := gist(found); got != tt.want {
			t.Errorf("%s: findings\n%swant\n%s", tt.name, got, tt.want)
		}
		if len(found) == 0 {
			continue
		}
		says := fmt.Sprint(found[0].Summary, found[0].Next)
		for _, want := range []string{" to write to a file system that is frozen, likely /var/lib/containers/storage (ext4 on /dev/sdb1), for 3s", "fsfreeze --unfreeze /var/lib/containers/storage"} {
			if !strings.Contains(says, want) {
				t.Errorf("%s: %q lacks %q", tt.name, says, want)
			}
		}
	}
}
