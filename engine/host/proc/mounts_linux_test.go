package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/evidence"
)

const fixtureMounts = `21 1 253:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
98 21 8:17 / /var/lib/my\040data rw,relatime shared:7 - ext4 /dev/sdb1 rw
99 21 0:52 / /mnt/nas rw - nfs4 nas:/export rw,addr=10.0.0.7
`

// A process that waits in a system call for an open file waits for the mount of that file, whatever function of
// the kernel it sleeps in.
func TestLookTellsWhatIsWaitedFor(t *testing.T) {
	disk := evidence.Mount{Point: "/var/lib/my data", Type: "ext4", Source: "/dev/sdb1", Device: "8:17"}
	nas := evidence.Mount{Point: "/mnt/nas", Type: "nfs4", Source: "nas:/export", Device: "0:52"}
	for _, tt := range []struct {
		name, syscall string
		idle          time.Duration
		want          evidence.Mount
	}{
		{"a disk", fmt.Sprintf("%d 0x9 0xc000 0x1000 0x0 0x0 0x0 0x7ffd 0x40e8ce\n", unix.SYS_FDATASYNC), time.Minute, disk},
		{"a server", fmt.Sprintf("%d 0xa 0xc000 0x1000 0x0 0x0 0x0 0x7ffd 0x40e8ce\n", unix.SYS_READ), time.Minute, nas},
		{"for a moment", fmt.Sprintf("%d 0x9\n", unix.SYS_READ), waitLong - 1, evidence.Mount{}},
		{"no such file", fmt.Sprintf("%d 0xb\n", unix.SYS_READ), time.Minute, evidence.Mount{}},
		{"a path", fmt.Sprintf("%d 0x9\n", unix.SYS_CHDIR), time.Minute, evidence.Mount{}},
		{"a page", "-1 0x7ffd 0x40e8ce\n", time.Minute, evidence.Mount{}},
		{"running", "running\n", time.Minute, evidence.Mount{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			writeProcess(t, root, fakeProcess{PID: 300, Comm: "containerd", Threads: []fakeProcess{{PID: 301, State: evidence.Uninterrupted, Ran: 1000}}, Files: map[string]string{
				"syscall": tt.syscall, "mountinfo": fixtureMounts,
				"fdinfo/9": "pos:\t0\nflags:\t02\nmnt_id:\t98\nino:\t12\n", "fdinfo/10": "pos:\t0\nflags:\t02\nmnt_id:\t99\nino:\t12\n",
			}})
			w := newFixtureWalker(root)
			w.clock = func(int) time.Duration { return time.Second + tt.idle }
			found := w.lookAt(t.Context(), firstLook).Daemons
			if len(found) != 1 || found[0].Mount != tt.want || found[0].Thread != 301 {
				t.Errorf("found %+v, want thread 301 of it to wait for %+v", found, tt.want)
			}
		})
	}
}

// The mounts of a namespace are read once in a look, but a process with a root of its own has its own.
func TestLookReadsTheMountsOfANamespaceOnce(t *testing.T) {
	root := t.TempDir()
	for i, files := range []map[string]string{
		{"ns/mnt": "->mnt:[1]", "root": "->/", "mountinfo": fixtureMounts}, {"ns/mnt": "->mnt:[1]", "root": "->/"},
		{"ns/mnt": "->mnt:[1]", "root": "->/x"}, {"ns/mnt": "->mnt:[2]", "root": "->/"}, {"root": "->mnt:[1]/"}, {"ns/mnt": "->mnt:[1]/"},
	} {
		files["syscall"], files["fdinfo/9"] = fmt.Sprintf("%d 0x9\n", unix.SYS_FSYNC), "mnt_id:\t98\n"
		writeProcess(t, root, fakeProcess{PID: 300 + i, Comm: "containerd", State: evidence.Uninterrupted, Ran: 1000, Files: files})
	}
	w := newFixtureWalker(root)
	w.clock = func(int) time.Duration { return time.Minute }
	for i, p := range w.lookAt(t.Context(), firstLook).Daemons {
		if isKnown := p.Mount.Device != ""; isKnown != (i < 2) {
			t.Errorf("process %d waits for %+v", i, p.Mount)
		}
	}
}

// A thousand processes may wait for a dead server. One look finds out for only some of them what they wait for,
// and the result is remembered.
func TestLookFindsOutAFewAtATime(t *testing.T) {
	root := t.TempDir()
	for i := range waitsPerLook + 10 {
		writeProcess(t, root, fakeProcess{PID: 300 + i, Comm: "containerd", State: evidence.Uninterrupted, Ran: 1000})
		dir := filepath.Join(root, "proc", fmt.Sprint(300+i))
		writeFile(t, filepath.Join(dir, "syscall"), fmt.Sprintf("%d 0x9\n", unix.SYS_FSYNC))
		writeFile(t, filepath.Join(dir, "mountinfo"), fixtureMounts)
		writeFile(t, filepath.Join(dir, "fdinfo/9"), "mnt_id:\t98\n")
	}
	w := newFixtureWalker(root)
	w.clock = func(int) time.Duration { return time.Minute }
	for look, want := range []int{waitsPerLook, waitsPerLook + 10} {
		known := 0
		for _, p := range w.lookAt(t.Context(), firstLook.Add(time.Duration(look)*time.Second)).Daemons {
			if p.Mount.Device == "8:17" {
				known++
			}
		}
		if known != want {
			t.Errorf("look %d knows of %d, want %d", look, known, want)
		}
	}
}

// The path of the system call shows which server a process waits for. Only a deep look reads it from the memory
// of the process. If the path is not known, the candidates are reported.
func TestLookTellsWhichServerIsWaitedFor(t *testing.T) {
	const mounts = fixtureMounts + `100 21 0:60 / /mnt/a rw - fuse.sshfs host:/a rw
101 21 0:61 / /mnt/b rw - fuse.sshfs host:/b rw
102 21 0:61 / /mnt/c rw - fuse.sshfs host:/b rw
`
	a := evidence.Mount{Point: "/mnt/a", Type: "fuse.sshfs", Source: "host:/a", Device: "0:60"}
	b := evidence.Mount{Point: "/mnt/b", Type: "fuse.sshfs", Source: "host:/b", Device: "0:61"}
	nas := evidence.Mount{Point: "/mnt/nas", Type: "nfs4", Source: "nas:/export", Device: "0:52", Node: "/srv/nas"} // the only one, which is looked for on the node
	stat := func(folder string) string {
		return fmt.Sprintf("%d %s 0x40 0x7ffc 0x0 0x0 0x0 0x7ffd 0x40e8ce\n", statAt, folder)
	}
	statfs := fmt.Sprintf("%d 0x40 0x7ffc\n", unix.SYS_STATFS)
	both := []evidence.Mount{a, b}
	for _, tt := range []struct {
		name, syscall, path, wchan string
		quick                      bool
		want                       evidence.Mount
		among                      []evidence.Mount
	}{
		{"a path", statfs, "/mnt/b/x", "request_wait_answer", false, b, nil},
		{"the point itself", statfs, "/mnt/a", "request_wait_answer", false, a, nil},
		{"nothing hangs", statfs, "/mnt/b/x", "request_wait_answer", true, evidence.Mount{}, both},
		{"below its own folder", stat("0xffffff9c"), "x/y", "fuse_lookup", false, a, nil},
		{"below an open folder", stat("0x7"), "y", "fuse_lookup", false, b, nil},
		{"the path has a link in it", statfs, "/link/x", "fuse_lookup", false, evidence.Mount{}, both},
		{"the path is of another kind", statfs, "/mnt/nas/x", "fuse_lookup", false, evidence.Mount{}, both},
		{"of NFS there is one", fmt.Sprintf("%d 0x40\n", unix.SYS_CLOSE), "", "rpc_wait_bit_killable", false, evidence.Mount{}, []evidence.Mount{nas}},
		{"a page of a program", "-1 0x7ffd 0x40e8ce\n", "", "fuse_wait_on_page_writeback", false, b, nil},
		{"an open file of a mount that it sees no more", fmt.Sprintf("%d 0x9\n", unix.SYS_READ), "", "request_wait_answer", false, evidence.Mount{}, nil},
		{"a path that has no end", statfs, strings.Repeat("x", unix.PathMax+1), "fuse_lookup", false, evidence.Mount{}, both},
		{"another wait", statfs, "/mnt/b/x", "io_schedule", false, evidence.Mount{}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			writeProcess(t, root, fakeProcess{PID: 300, Comm: "containerd", State: evidence.Uninterrupted, Ran: 1000, Wchan: tt.wchan})
			dir := filepath.Join(root, "proc/300")
			writeFile(t, filepath.Join(dir, "syscall"), tt.syscall)
			writeFile(t, filepath.Join(dir, "mountinfo"), mounts)
			writeFile(t, filepath.Join(dir, "fdinfo/9"), "pos:\t0\nflags:\t02\nmnt_id:\t200\nino:\t12\n")
			writeFile(t, filepath.Join(root, "proc/1/mountinfo"), "50 21 0:52 / /srv/nas rw - nfs4 nas:/export rw\n")
			writeFile(t, filepath.Join(dir, "mem"), strings.Repeat("\xff", 0x40)+tt.path+"\x00")
			writeFile(t, filepath.Join(dir, "maps"), "55d0-55d1 r-xp 00000000 00:3d 12 /mnt/b/bin/x\n7f00-7f01 r-xp 00000000 fd:00 9 /lib/x\n")
			writeLink(t, root, "proc/300/cwd", "/mnt/a/home")
			writeLink(t, root, "proc/300/fd/7", "/mnt/b/d")
			w := newFixtureWalker(root)
			w.clock = func(int) time.Duration { return time.Second + time.Minute }
			w.Deep = !tt.quick
			found := w.lookAt(t.Context(), firstLook).Daemons
			if len(found) != 1 || found[0].Mount != tt.want || !slices.Equal(found[0].Among, tt.among) {
				t.Errorf("found %+v, want it to wait for %+v or among %+v", found, tt.want, tt.among)
			}
		})
	}
}

// A helper that sleeps until a file system in a program answers is not in D.
func TestLookTellsForWhichServerAHelperSleeps(t *testing.T) {
	root := t.TempDir()
	writeProcess(t, root, fakeShim(310, longID("1"), testSocket))
	writeProcess(t, root, fakeProcess{PID: 400, Parent: 310, Comm: "umount", Args: []string{"umount", "/mnt/a"}, Started: testUptime - time.Minute, Wchan: "request_wait_answer"})
	dir := filepath.Join(root, "proc/400")
	writeFile(t, filepath.Join(dir, "syscall"), fmt.Sprintf("%d 0x0\n", unix.SYS_UMOUNT2))
	writeFile(t, filepath.Join(dir, "mountinfo"), "100 21 0:60 / /mnt/a rw - fuse.sshfs host:/a rw\n")
	writeFile(t, filepath.Join(dir, "mem"), "/mnt/a\x00")
	w := newFixtureWalker(root)
	w.Deep = true
	if got := w.lookAt(t.Context(), firstLook).Helpers; len(got) != 1 || got[0].Mount.Point != "/mnt/a" {
		t.Errorf("found %+v", got)
	}
}

// The process that traces another one is reported with it.
func TestLookTellsWhoTraces(t *testing.T) {
	root := t.TempDir()
	writeProcess(t, root, fakeProcess{PID: 300, Comm: "containerd", Threads: []fakeProcess{{PID: 301, State: evidence.Traced}}})
	writeFile(t, filepath.Join(root, "proc/300/task/301/status"), "Name:\tcontainerd\nPPid:\t1\nTracerPid:\t77\n")
	writeProcess(t, root, fakeProcess{PID: 77, Comm: "gdb", Started: 2 * time.Hour})
	if got := newFixtureWalker(root).lookAt(t.Context(), firstLook).Daemons; len(got) != 1 || got[0].Tracer != (evidence.Tracer{PID: 77, Command: "gdb", Start: ticksAt(2 * time.Hour)}) {
		t.Errorf("found %+v", got)
	}
}

// If the runtime waits for a share, the share belongs to the pod in whose folder it is, or to the only pod that
// has it.
func TestLookTellsWhoseShareIsWaitedFor(t *testing.T) {
	const uid, other = "5f1a2b3c-1111-4222-8333-444455556666", "5f1a2b3c-1111-4222-8333-444455557777"
	const pods, aFolder = "/var/lib/kubelet/pods/", "a folder, which cannot be read as a file"
	const volume = pods + uid + "/volumes/kubernetes.io~csi/data/mount"
	line := func(point string) string {
		return "100 21 0:60 / " + point + " rw shared:9 - cifs //nas/media rw\n"
	}
	cgroup := func(uid, digit string) string {
		return "/kubepods.slice/kubepods-pod" + strings.ReplaceAll(uid, "-", "_") + ".slice/cri-containerd-" + longID(digit) + ".scope"
	}
	for _, tt := range []struct {
		name, node string
		inside     [2]string // what containers of both pods have mounted
		want       string
	}{
		{"its volume", line(volume), [2]string{}, uid},
		{"its part of a volume", line(pods + uid + "/volume-subpaths/data/app/0"), [2]string{}, uid},
		{"staged for it", line("/var/lib/kubelet/plugins/kubernetes.io/csi/smb/9f/globalmount") + line(volume), [2]string{}, uid},
		{"a path of the node", line("/mnt/media"), [2]string{line("/media"), fixtureMounts}, uid},
		{"a path of the node for two", line("/mnt/media"), [2]string{line("/media"), line("/media")}, ""},
		{"a path of the node for one, and another cannot be asked", line("/mnt/media"), [2]string{line("/media"), aFolder}, ""},
		{"a path of the node for nobody", line("/mnt/media"), [2]string{fixtureMounts, fixtureMounts}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			writeProcess(t, root, fakeProcess{PID: 1, Comm: "systemd"})
			writeProcess(t, root, fakeProcess{PID: 300, Comm: "containerd", Threads: []fakeProcess{{PID: 301, State: evidence.Uninterrupted, Ran: 1000, Wchan: "cifs_call_async"}}})
			writeProcess(t, root, fakeProcess{PID: 401, Comm: "app", Cgroup: cgroup(uid, "1")})
			writeProcess(t, root, fakeProcess{PID: 402, Comm: "app", Cgroup: cgroup(other, "2")})
			for dir, text := range map[string]string{"1": tt.node, "300/task/301": tt.node, "401": tt.inside[0], "402": tt.inside[1]} {
				path := filepath.Join(root, "proc", dir, "mountinfo")
				if text == aFolder {
					path, text = filepath.Join(path, "x"), "x"
				}
				if text != "" {
					writeFile(t, path, text)
				}
			}
			w := newFixtureWalker(root)
			w.clock = func(int) time.Duration { return time.Second + time.Minute }
			found := w.lookAt(t.Context(), firstLook).Daemons
			if len(found) != 1 || len(found[0].Among) != 1 || string(found[0].Among[0].Pod) != tt.want {
				t.Errorf("found %+v, want the pod %q", found, tt.want)
			}
		})
	}
}

// If no kubelet runs, the mounts of its containers show that there was one.
func TestKubeletRoot(t *testing.T) {
	const uid = "0b1c"
	tests := []struct {
		name   string
		mounts string // of the container
		daemon string
		want   string
	}{
		{"last words", "31 20 8:1 /var/lib/kubelet/pods/" + uid + "/containers/app/4f2a /dev/termination-log rw - ext4 /dev/sda1 rw\n", "sshd", "/var/lib/kubelet/pods"},
		{"hosts, on a disk of its own", "31 20 8:1 /pods/" + uid + "/etc-hosts /etc/hosts rw - ext4 /dev/sdb1 rw\n", "sshd", "/pods"},
		{"another client's", "31 20 8:1 /var/lib/docker/containers/1/hosts /etc/hosts rw - ext4 /dev/sda1 rw\n", "sshd", ""},
		{"a folder that is named so", "31 20 8:1 /home/x/pods/a/b /data rw - ext4 /dev/sda1 rw\n", "sshd", ""},
		{"a kubelet runs", "31 20 8:1 /var/lib/kubelet/pods/" + uid + "/etc-hosts /etc/hosts rw - ext4 /dev/sda1 rw\n", "kubelet", ""},
		{"within k3s", "31 20 8:1 /var/lib/kubelet/pods/" + uid + "/etc-hosts /etc/hosts rw - ext4 /dev/sda1 rw\n", "k3s-server", ""},
		{"no mounts", "", "sshd", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			writePod(t, root, 100, longID("1"), longID("2"))
			writeProcess(t, root, fakeProcess{PID: 60, Parent: 1, Comm: tt.daemon})
			if tt.mounts != "" {
				writeFile(t, filepath.Join(root, "proc/102/mountinfo"), tt.mounts)
			}
			found := newFixtureWalker(root).lookAt(t.Context(), firstLook)
			if got := found.KubeletRoots[longID("2")]; got != tt.want || len(found.KubeletRoots) > 1 {
				t.Errorf("roots = %q, want %q of the container", found.KubeletRoots, tt.want)
			}
		})
	}
}

// Processes within a container of the machine, such as the pods of a kind node, say nothing about the machine's
// own kubelet.
func TestKubeletRootWithinAContainer(t *testing.T) {
	root := t.TempDir()
	in := "/system.slice/docker-" + longID("8") + ".scope" + cgroupOf(longID("2"))
	writeProcess(t, root, fakeProcess{PID: 1, Comm: "systemd"})
	writeProcess(t, root, fakeProcess{PID: 102, Parent: 101, Comm: "app", Cgroup: in})
	writeFile(t, filepath.Join(root, "proc/102/mountinfo"), "31 20 8:1 /var/lib/kubelet/pods/0b1c/etc-hosts /etc/hosts rw - ext4 /dev/sda1 rw\n")
	found := newFixtureWalker(root).lookAt(t.Context(), firstLook)
	if len(found.Containers[longID("2")]) == 0 || found.KubeletRoots != nil {
		t.Errorf("roots = %q of containers %v", found.KubeletRoots, found.Containers)
	}
}

// The mounts of containers are read once in a look. If there are too many containers, none of them counts.
func TestPodsByTheirMounts(t *testing.T) {
	for containers, want := range map[int]int{podMountsRead: podMountsRead, podMountsRead + 1: 0} {
		root := t.TempDir()
		writeProcess(t, root, fakeProcess{PID: 1000, Comm: "app", Cgroup: "/kubepods/pod5f1a/" + longID("1"), Files: map[string]string{
			"mountinfo": "100 21 0:7 / /data rw - cifs //nas/media rw\n102 21 8:1 / / rw - ext4 /dev/sda1 rw\n",
		}})
		l, err := newFixtureWalker(root).Look(t.Context(), firstLook)
		if err != nil || len(l.seen) != 1 {
			t.Fatal(l, err)
		}
		for n := range containers - 1 { // with the same files
			other := *l.seen[0]
			other.member.ids = []string{longID(fmt.Sprint(100 + n))}
			l.seen = append(l.seen, &other)
		}
		for range 2 {
			if all := l.podsBy(); len(all["0:7"]) != want || len(all) > 1 {
				t.Errorf("%d containers: %v, want %d", containers, all, want)
			}
			_ = os.RemoveAll(filepath.Join(root, "proc/1000")) // would be read anew
		}
	}
}
