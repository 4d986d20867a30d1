package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// If a disk is dead, the runtime and everything that waits for the disk are one finding, and other processes in the
// kernel are its victims.
func TestDeadDisk(t *testing.T) {
	disk := evidence.Mount{Point: "/var/lib/containerd", Type: "ext4", Source: "/dev/sdb1", Device: "8:17"}
	wait := func(p *evidence.Process, d time.Duration, m evidence.Mount, stack ...string) {
		p.State, p.For, p.Mount, p.Stack = evidence.Uninterrupted, d, m, stack
	}
	n := checked(4)
	r := looked(n)
	r.Disk.Mount = disk
	r.Devices = []evidence.Device{{Number: "8:17", Name: "sdb1", InFlight: 3, Still: 65 * time.Second}}
	wait(&r.Processes.Daemons[0], 63*time.Second, disk, "folio_wait_bit", "ext4_sync_file")
	wait(shimOf(r, 1), 40*time.Second, evidence.Mount{}, "wb_wait_for_completion", "sync_inodes_sb")
	wait(&r.Processes.Containers["container-2-0"][0], 20*time.Second, evidence.Mount{Point: "/", Type: "overlay", Source: "overlay", Device: "0:52"}, "folio_wait_bit")
	wait(&r.Processes.Containers["container-3-0"][0], 20*time.Second, evidence.Mount{}, "rpc_wait_bit_killable")
	in := n.input()
	in.Evidence = r
	got := Diagnose(in)
	wantIDs(t, got, ProcessStuck, ProcessStuck)
	f := got[0]
	if want := "containerd (pid 1025), 1 shim, 1 process wait for /var/lib/containerd (ext4 on /dev/sdb1) for 1m5s"; f.Summary != want || f.Severity != Critical || f.Count != 3 {
		t.Errorf("summary %q of %d, want %q of 3", f.Summary, f.Count, want)
	}
	if want := "sdb1 has been given 3 requests and has not answered, nor any other for at least 1m5s"; f.Evidence[0] != want {
		t.Errorf("evidence %q, want %q first", f.Evidence, want)
	}
	for _, s := range f.Next {
		if s.acts() && s.Command != "" {
			t.Errorf("%q helps nobody who cannot be woken", s)
		}
	}
	if !strings.HasPrefix(got[1].Summary, "pid 1009 (app) of ns-0/pod-00003") {
		t.Errorf("the other is %q, want the one that waits for a server", got[1].Summary)
	}
	if steps := factsOf(in).thenRestart(Step{Kind: Look, Text: "check whether crictl hangs too", Command: "crictl info", asks: true}); strings.HasPrefix(steps[0].Command, "crictl") {
		t.Errorf("crictl, which hangs likewise, is offered: %v", steps)
	}
	if steps := factsOf(in).thenRestart(Step{Kind: Act, Text: "stacks", Command: "kill -USR1 5", Risk: "x", dumps: true}); steps[0].acts() || strings.Contains(steps[len(steps)-1].Command, "restart") {
		t.Errorf("%q are no steps for a runtime in D", steps)
	}
}

// For each kind of file system another step helps.
func TestWaysOutOfAWait(t *testing.T) {
	for _, tt := range []struct {
		name  string
		mount evidence.Mount
		stack []string
		says  string // of the summary
		step  string
	}{
		{"frozen", evidence.Mount{Point: "/data", Type: "ext4", Source: "/dev/sdb1", Device: "8:17", Node: "/srv/data"}, []string{"percpu_rwsem_wait", "vfs_write"}, "which is frozen", "fsfreeze --unfreeze /srv/data"},
		{"dead disk", evidence.Mount{Point: "/data", Type: "ext4", Source: "/dev/sdb1", Device: "8:17"}, []string{"folio_wait_bit"}, "(ext4 on /dev/sdb1) for", "/sys/dev/block/8:17/inflight"},
		{"fuse", evidence.Mount{Point: "/data", Type: "fuse.sshfs", Source: "nas:", Device: "0:52", Abort: "/sys/fs/fuse/connections/52/abort"}, []string{"folio_wait_bit"}, "(fuse.sshfs on nas:) for", "echo 1 > /sys/fs/fuse/connections/52/abort"},
		{"nfs", evidence.Mount{Point: "/data", Type: "nfs4", Source: "nas:/export", Device: "0:52", Node: "/srv/data"}, []string{"folio_wait_bit"}, "(nfs4 on nas:/export) for", "umount -f /srv/data"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := checked(3)
			r := looked(n)
			p := &r.Processes.Daemons[0]
			p.State, p.For, p.Mount, p.Stack = evidence.Uninterrupted, time.Minute, tt.mount, tt.stack
			in := n.input()
			in.Evidence = r
			got := Diagnose(in)
			wantIDs(t, got, ProcessStuck)
			var steps strings.Builder
			for _, s := range got[0].Next {
				steps.WriteString(s.String() + "\n")
			}
			if !strings.Contains(got[0].Summary, tt.says) || !strings.Contains(steps.String(), tt.step) {
				t.Errorf("%q with steps\n%swant %q and %q", got[0].Summary, &steps, tt.says, tt.step)
			}
		})
	}
}

// A process that waits for a program, and sees only one file system of that kind, waits for that one. If it sees
// several, no program is ended.
func TestTheOnlyMountOfAProgramIsEnded(t *testing.T) {
	a := evidence.Mount{Point: "/a", Type: "fuse.sshfs", Source: "nas:/a", Device: "0:52", Abort: "/sys/fs/fuse/connections/52/abort"}
	b := evidence.Mount{Point: "/b", Type: "fuse.sshfs", Source: "nas:/b", Device: "0:53", Abort: "/sys/fs/fuse/connections/53/abort"}
	for _, among := range [][]evidence.Mount{{a}, {a, b}} {
		n := checked(3)
		r := looked(n)
		p := &r.Processes.Containers["container-1-0"][0]
		p.State, p.For, p.Wchan, p.Among = evidence.Uninterrupted, time.Minute, "request_wait_answer", among
		in := n.input()
		in.Evidence = r
		f := findingOf(t, Diagnose(in), ProcessStuck)
		if ends := f.act().Command == "echo 1 > /sys/fs/fuse/connections/52/abort"; ends != (len(among) == 1) {
			t.Errorf("among %d: act %q", len(among), f.act())
		}
	}
}

// A frozen runtime is reported as frozen, and is thawed where it was frozen.
func TestFrozenRuntime(t *testing.T) {
	for file, want := range map[string]string{
		"/sys/fs/cgroup/freezer/x/freezer.state":              "echo THAWED > /sys/fs/cgroup/freezer/x/freezer.state  # thaws the group; RISK: somebody may have frozen it on purpose, as for a checkpoint",
		"/sys/fs/cgroup/system.slice/c.service/cgroup.freeze": "echo 0 > /sys/fs/cgroup/system.slice/c.service/cgroup.freeze  # thaws the group; RISK: somebody may have frozen it on purpose, as for a checkpoint",
	} {
		n := checked(3)
		r := looked(n)
		p := &r.Processes.Daemons[0]
		p.State, p.For, p.Freezer = evidence.Frozen, time.Second, file
		in := n.input()
		in.Evidence = r
		got := Diagnose(in)
		wantIDs(t, got, ProcessStuck)
		if steps := got[0].Next; !strings.Contains(got[0].Summary, "is frozen by its control group") || steps[len(steps)-1].String() != want {
			t.Errorf("%q with %q, want %q", got[0].Summary, steps, want)
		}
	}
}

// A process that waits alone for its file system is sorted among the others by how bad it is.
func TestWaitingAloneKeepsItsPlace(t *testing.T) {
	n := checked(3)
	r := looked(n)
	shim, other := shimOf(r, 1), &r.Processes.Containers["container-2-0"][0]
	shim.State, shim.For, shim.Mount = evidence.Uninterrupted, time.Minute, evidence.Mount{Point: "/data", Type: "nfs4", Source: "nas:/x", Device: "0:52"}
	other.State, other.For, other.Wchan = evidence.Uninterrupted, time.Hour, "io_schedule"
	in := n.input()
	in.Evidence = r
	got := Diagnose(in)
	wantIDs(t, got, ProcessStuck, ProcessStuck)
	if got[0].Severity != Critical || !strings.Contains(got[0].Summary, "the shim of") || got[1].Severity != Warning {
		t.Errorf("%+v", got)
	}
}

// The steps are for the disk that is named, also if the worst of the processes that wait is not known to wait for it,
// or is above it on an overlay.
func TestStepsAreForTheDiskThatIsNamed(t *testing.T) {
	disk := evidence.Mount{Point: "/data", Type: "ext4", Source: "/dev/sdb1", Device: "8:17"}
	overlay := evidence.Mount{Point: "/", Type: "overlay", Source: "overlay", Device: "0:52"}
	for name, mounts := range map[string][2]evidence.Mount{
		"not known": {{}, disk},
		"overlay":   {overlay, disk},
	} {
		t.Run(name, func(t *testing.T) {
			n := checked(3)
			r := looked(n)
			r.Disk.Mount = disk
			for i, p := range []*evidence.Process{&r.Processes.Daemons[0], &r.Processes.Containers["container-1-0"][0]} {
				p.State, p.For, p.Mount, p.Stack = evidence.Uninterrupted, time.Minute, mounts[i], []string{"folio_wait_bit"}
			}
			in := n.input()
			in.Evidence = r
			f := Diagnose(in)[0]
			if !strings.Contains(f.Summary, "1 process wait for ") || !strings.Contains(f.Summary, "(ext4 on /dev/sdb1)") {
				t.Errorf("summary %q", f.Summary)
			}
			if !slices.ContainsFunc(f.Next, func(s Step) bool { return strings.Contains(s.Command, "/sys/dev/block/8:17/inflight") }) {
				t.Errorf("steps %q, want those of the disk", f.Next)
			}
		})
	}
}

// A process of a container that ended and was not collected holds nobody up.
func TestZombieOfAContainerHoldsNobodyUp(t *testing.T) {
	n := checked(3)
	r := looked(n)
	r.Processes.Containers["container-1-0"][0].State = evidence.Zombie
	in := n.input()
	in.Evidence = r
	if factsOf(in).anyHeld() {
		t.Error("a graph is made for it at each update")
	}
}

// A helper sleeps until a file system in a program answers: the file system is at the end of its chain, and a step
// makes the wait fail. If the file system is not known, those that it may be are named.
func TestAHelperThatSleepsForAServer(t *testing.T) {
	n := checked(3)
	r := looked(n)
	a := evidence.Mount{Point: "/mnt/a", Type: "fuse.sshfs", Source: "host:/a", Device: "0:60"}
	b := evidence.Mount{Point: "/mnt/b", Type: "fuse.sshfs", Source: "host:/b", Device: "0:61"}
	umount := evidence.Process{
		PID: 9, Parent: shimOf(r, 1).PID, Command: "umount", Verb: "umount", State: evidence.Sleeping, Age: time.Minute, Own: true,
		Sandbox: "sandbox-1", Wchan: "request_wait_answer", Mount: a,
	}
	r.Processes.Helpers = []evidence.Process{umount}
	in := n.input()
	in.Evidence = r
	found := find(&helperStuck, factsOf(in))
	firstSays(t, found, "request_wait_answer, for /mnt/a (fuse.sshfs on host:/a)", "the programs that serve such file systems")
	if last := found[0].Chain[len(found[0].Chain)-1]; !strings.Contains(fmt.Sprint(last), "/mnt/a") {
		t.Errorf("the chain ends with %+v", last)
	}
	for want, among := range map[string][]evidence.Mount{
		"for a FUSE mount, one of: /mnt/a (fuse.sshfs on host:/a), /mnt/b (fuse.sshfs on host:/b)":                          {a, b},
		"for a FUSE mount, likely /mnt/b (fuse.sshfs on host:/b)":                                                           {b},
		"one of: /mnt/a (fuse.sshfs on host:/a), /mnt/b (fuse.sshfs on host:/b), /mnt/a (fuse.sshfs on host:/a) and 2 more": {a, b, a, b, a},
	} {
		umount.Mount, umount.Among = evidence.Mount{}, among
		r.Processes.Helpers = []evidence.Process{umount}
		found := find(&helperStuck, factsOf(in))
		firstSays(t, found, want)
		if strings.Contains(fmt.Sprint(found[0].Chain, found[0].Summary), "/mnt/") {
			t.Errorf("what is not known is in the chain: %+v", found[0].Chain)
		}
	}
}

// One thread of the runtime that waits for memory or a disk is no trouble of the node while all calls are answered, but
// it is as soon as any call hangs.
func TestOneThreadIsAWarning(t *testing.T) {
	for _, tt := range []struct {
		node  *node
		mount evidence.Mount
		want  Severity
	}{
		{checked(2), evidence.Mount{}, Warning},
		{checked(2), evidence.Mount{Point: "/data", Type: "ext4", Source: "/dev/sdb1", Device: "8:17"}, Warning},
		{healthy(3).hang(call.ListContainers, 20*time.Second).probesAnswered(), evidence.Mount{}, Critical},
		{healthy(3).hangOn(1, "app", 20*time.Second).probesAnswered(), evidence.Mount{}, Critical},
	} {
		in := tt.node.input()
		in.Evidence = looked(tt.node)
		p := &in.Evidence.Processes.Daemons[0]
		p.State, p.Thread, p.For, p.Wchan, p.Mount = evidence.Uninterrupted, p.PID+7, time.Minute, "congestion_wait", tt.mount
		found := find(&processStuck, factsOf(in))
		if len(found) != 1 || found[0].Severity != tt.want || strings.Contains(found[0].Summary, "a thread of") != (tt.want == Warning) {
			t.Errorf("%v: %+v, want %v", tt.mount, found, tt.want)
		}
	}
}

// A traced process continues once its tracer lets it: a signal to it does not help, and a restart does not either.
func TestATracerIsNamed(t *testing.T) {
	gdb := evidence.Tracer{PID: 77, Command: "gdb"}
	trace := func(p *evidence.Process) { p.State, p.For, p.Tracer = evidence.Traced, time.Minute, gdb }
	n := checked(3)
	r := looked(n)
	trace(shimOf(r, 1))
	in := n.input()
	in.Evidence = r
	found := find(&processStuck, factsOf(in))
	firstSays(t, found, "the shim of ns-1/pod-00001, pid 1007, is traced (t) by pid 77 (gdb) for 1m2s", "kill 77  # ends what traces it", "-p 77")
	n = checked(3).sweepHung(1, "app")
	in = n.input()
	in.Evidence = r
	for _, f := range Diagnose(in) {
		for _, s := range f.Next {
			if s.Risky() && s.Command != "kill 77" {
				t.Errorf("%s: %s", f.ID, s)
			}
		}
	}
	r = looked(n)
	trace(&r.Processes.Daemons[0])
	in = checked(3).input()
	in.Evidence = r
	firstSays(t, find(&processStuck, factsOf(in)), "is traced (t) by pid 77 (gdb)", "kill 77  # ends what traces it")
}

// A thread of the runtime that waits for the share of one pod is that pod's trouble, also if it only likely waits for
// it: all calls are answered.
func TestAShareNamesItsPod(t *testing.T) {
	const at = "/var/lib/kubelet/pods/uid-1/volumes/kubernetes.io~csi/data/mount"
	nfs := evidence.Mount{Point: at, Type: "nfs4", Source: "nas:/x", Device: "0:52", Node: at, Pod: "uid-1"}
	cifs := evidence.Mount{Point: "/mnt/media", Type: "cifs", Source: "//nas/media", Device: "0:53", Node: "/mnt/media", Pod: "uid-1"}
	other := evidence.Mount{Point: "/mnt/films", Type: "cifs", Source: "//nas/films", Device: "0:54", Pod: "uid-0"}
	for _, tt := range []struct {
		name  string
		mount evidence.Mount
		among []evidence.Mount
		want  string
		step  string
		pod   pleg.PodRef
	}{
		{"its system call is on it", nfs, nil, "a thread of containerd (pid 1013) waits for " + at + " (nfs4 on nas:/x) of ns-1/pod-00001 for 1m2s", "umount -f ", healthyPod(1).PodRef},
		{"the only one of its kind", evidence.Mount{}, []evidence.Mount{cifs}, "a thread of the runtime, pid 1013 (containerd), is in uninterruptible sleep (D) for 1m2s, for a CIFS mount, likely /mnt/media (cifs on //nas/media) of ns-1/pod-00001", "umount -f /mnt/media ", healthyPod(1).PodRef},
		{"one of two", evidence.Mount{}, []evidence.Mount{other, cifs}, "a thread of the runtime, pid 1013 (containerd), is in uninterruptible sleep (D) for 1m2s, for a CIFS mount, one of: /mnt/films (cifs on //nas/films) of ns-0/pod-00000, /mnt/media (cifs on //nas/media) of ns-1/pod-00001", "unmount only the mount that hangs", pleg.PodRef{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := checked(2)
			in := n.input()
			in.Evidence = looked(n)
			p := &in.Evidence.Processes.Daemons[0]
			p.State, p.For, p.Thread, p.Mount, p.Among, p.Stack = evidence.Uninterrupted, time.Minute, 7, tt.mount, tt.among, []string{"rpc_wait_bit_killable"}
			found := Diagnose(in)
			wantIDs(t, found, ProcessStuck)
			f := found[0]
			if f.Summary != tt.want || f.Severity != Warning || f.Subject.Pod != tt.pod {
				t.Errorf("%v %q about %+v, want %q", f.Severity, f.Summary, f.Subject, tt.want)
			}
			if steps := fmt.Sprint(f.Next); !strings.Contains(steps, tt.step) || tt.pod.Name != "" && !strings.Contains(steps, "ns-1/pod-00001 sees I/O errors") {
				t.Errorf("steps %s, want %q", steps, tt.step)
			}
		})
	}
}

// The program that serves a FUSE file system is named, with the step that ends it. If there are several, all are named,
// and none is killed.
func TestTheProgramOfAFUSEMountIsNamed(t *testing.T) {
	server := evidence.Holder{PID: 77, Command: "sshfs", Start: 4711, State: evidence.Sleeping, By: evidence.ByConnection}
	likely, stopped, other := server, server, server
	likely.By, stopped.State, other.PID, other.Command = evidence.ByName, evidence.Stopped, 78, "s3fs"
	const kills = `= 4711 ] && kill 77  # `
	for _, tt := range []struct {
		name    string
		servers []evidence.Holder
		says    string // of the evidence
		steps   []string
		never   string
	}{
		{"known", []evidence.Holder{server}, ", which pid 77 (sshfs) serves", []string{"ps -Lo pid,tid,state,wchan:32,etime,comm -p 77", "echo 1 > /a/abort", kills + "if that is not enough: ends the program that serves the file system, pid 77 (sshfs)", "ns-1/pod-00001 sees I/O errors"}, "/proc/[0-9]*/fd"},
		{"only likely", []evidence.Holder{likely}, ", which likely pid 77 (sshfs) serves", []string{kills}, "/proc/[0-9]*/fd"},
		{"stopped", []evidence.Holder{stopped}, "pid 77 (sshfs), which is stopped (T), serves", []string{"kill -CONT 77", kills}, "/proc/[0-9]*/fd"},
		{"several", []evidence.Holder{server, other}, ", which one of these serves: pid 77 (sshfs), pid 78 (s3fs)", []string{"end it: pid 77 (sshfs), pid 78 (s3fs)"}, "kill "},
		{"not known", nil, "", []string{"ls -l /proc/[0-9]*/fd", "echo 1 > /a/abort"}, "kill "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := checked(2)
			in := n.input()
			in.Evidence = looked(n)
			p := &in.Evidence.Processes.Containers["container-1-0"][0]
			p.State, p.For, p.Stack, p.Servers = evidence.Uninterrupted, time.Minute, []string{"request_wait_answer"}, tt.servers
			p.Mount = evidence.Mount{Point: "/data", Type: "fuse.sshfs", Source: "nas:", Device: "0:52", Abort: "/a/abort"}
			found := Diagnose(in)
			wantIDs(t, found, ProcessStuck)
			keepsTheRules(t, found[0])
			if said := strings.Join(found[0].Evidence, "; "); !strings.Contains(said, tt.says) {
				t.Errorf("evidence %q, want %q", said, tt.says)
			}
			steps := fmt.Sprint(found[0].Next)
			for _, want := range tt.steps {
				if !strings.Contains(steps, want) {
					t.Errorf("steps %s, want %q", steps, want)
				}
			}
			if strings.Contains(steps, tt.never) {
				t.Errorf("steps %s with %q", steps, tt.never)
			}
		})
	}
}
