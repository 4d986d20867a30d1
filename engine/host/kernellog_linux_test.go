package host

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/reads"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// logged returns what is kept of records that the kernel wrote one second apart, from second 1 on.
func logged(texts ...string) *kernelLines {
	k := new(kernelLines)
	for i, text := range texts {
		k.take(fmt.Appendf(nil, "4,%d,%d,-;%s\n", i, (i+1)*1_000_000, text))
	}
	return k
}

// The lines come from kernels from 4.18 to 6.18.
func TestKernelLineOfEachKind(t *testing.T) {
	type line = evidence.KernelLine
	for _, tt := range []struct {
		text string
		want line // without the text and the count
	}{
		{"INFO: task runc:[2:INIT]:4711 blocked for more than 122 seconds.", line{Kind: "hung task", About: knowledge.AboutTask, PID: 4711, Command: "runc:[2:INIT]"}},
		{"INFO: task kworker/u8:1:52 blocked in I/O wait for more than 120 seconds.", line{Kind: "hung task", About: knowledge.AboutTask, PID: 52, Command: "kworker/u8:1"}},
		{"INFO: task containerd:812 is blocked on a mutex likely owned by task runc:9.", line{Kind: "hung task", About: knowledge.AboutTask, PID: 812, Command: "containerd", Owner: 9}},
		{"blk_update_request: I/O error, dev sdb, sector 2048 op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 0", line{Kind: "I/O error", About: knowledge.AboutDisk, Failed: "write", Device: "sdb"}},
		{"I/O error, dev nvme0n1, sector 99 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2", line{Kind: "I/O error", About: knowledge.AboutDisk, Failed: "read", Device: "nvme0n1"}},
		{"critical medium error, dev sda, sector 7 op 0x0:(READ)", line{Kind: "I/O error", About: knowledge.AboutDisk, Failed: "read", Device: "sda"}},
		{"Buffer I/O error on dev dm-3, logical block 0, async page read", line{Kind: "I/O error", About: knowledge.AboutDisk, Failed: "read", Device: "dm-3"}},
		{"Buffer I/O error on device loop1, logical block 3", line{Kind: "I/O error", About: knowledge.AboutDisk, Device: "loop1"}},
		{"EXT4-fs error (device sdb1): ext4_find_entry:1683: inode #2: comm ls: reading directory lblock 0", line{Kind: "I/O error", About: knowledge.AboutDisk, Device: "sdb1"}},
		{"EXT4-fs (sdb1): I/O error while writing superblock", line{Kind: "I/O error", About: knowledge.AboutDisk, Failed: "write", Device: "sdb1"}},
		{"Aborting journal on device dm-0-8.", line{Kind: "I/O error", About: knowledge.AboutDisk, Failed: "write", Device: "dm-0"}},
		{"Aborting journal on device sdb1-8.", line{Kind: "I/O error", About: knowledge.AboutDisk, Failed: "write", Device: "sdb1"}},
		{"XFS (dm-1): metadata I/O error in \"xfs_buf_ioend+0x1\" at daddr 0x2 len 8 error 5", line{Kind: "I/O error", About: knowledge.AboutDisk, Failed: "read", Device: "dm-1"}},
		{"BTRFS error (device sdc: state EA): bdev /dev/sdc errs: wr 1, rd 0", line{Kind: "I/O error", About: knowledge.AboutDisk, Device: "sdc", Failed: "write"}},
		{"Buffer I/O error on dev dm-3, logical block 77, lost async page write", line{Kind: "I/O error", About: knowledge.AboutDisk, Failed: "write", Device: "dm-3"}},
		{"EXT4-fs warning (device sdb1): ext4_end_bio:343: I/O error 10 writing to inode 12 starting block 99)", line{Kind: "I/O error", About: knowledge.AboutDisk, Failed: "write", Device: "sdb1"}},
		{"JBD2: Detected IO errors while flushing file data on dm-0-8", line{Kind: "I/O error", About: knowledge.AboutDisk, Failed: "write", Device: "dm-0"}},
		{"JBD2: Error -5 detected when updating journal superblock for sdb1-8.", line{Kind: "I/O error", About: knowledge.AboutDisk, Failed: "write", Device: "sdb1"}},
		{"JBD2: I/O error when updating journal superblock for loop0-8.", line{Kind: "I/O error", About: knowledge.AboutDisk, Failed: "write", Device: "loop0"}},
		{"XFS (dm-1): log I/O error -5", line{Kind: "I/O error", About: knowledge.AboutDisk, Failed: "write", Device: "dm-1"}},
		{"dm-1: writeback error on inode 133, offset 0, sector 12345", line{Kind: "I/O error", About: knowledge.AboutDisk, Failed: "write", Device: "dm-1"}},
		{"critical target error, dev sdb, sector 8 op 0x3:(DISCARD) flags 0x800 phys_seg 1 prio class 2", line{Kind: "I/O error", About: knowledge.AboutDisk, Device: "sdb"}},
		{"nvme nvme1: I/O tag 12 (100c) opcode 0x1 (Write) QID 2 timeout, aborting req_op:WRITE(1) size:4096", line{Kind: "device timeout", About: knowledge.AboutDisk, Device: "nvme1"}},
		{"EXT4-fs (sdb1): Remounting filesystem read-only", line{Kind: "file system read-only", About: knowledge.AboutDisk, Device: "sdb1"}},
		{"XFS (dm-1): Filesystem has been shut down due to log error (0x2).", line{Kind: "file system read-only", About: knowledge.AboutDisk, Device: "dm-1"}},
		{"XFS (sda2): I/O Error Detected. Shutting down filesystem", line{Kind: "file system read-only", About: knowledge.AboutDisk, Device: "sda2"}},
		{"BTRFS info (device sdc): forced readonly", line{Kind: "file system read-only", About: knowledge.AboutDisk, Device: "sdc"}},
		{"unregister_netdevice: waiting for veth12ab to become free. Usage count = 2", line{Kind: "network device in use", About: knowledge.AboutNetwork, Device: "veth12ab"}},
		{"Out of memory: Killed process 812 (containerd) total-vm:1kB, anon-rss:2kB", line{Kind: "oom kill", About: knowledge.AboutKill, PID: 812, Command: "containerd"}},
		{"Memory cgroup out of memory: Killed process 9 ((sd-pam)) total-vm:1kB", line{Kind: "oom kill", About: knowledge.AboutKill, PID: 9, Command: "(sd-pam)"}},
		{"Killed process 10 (java), UID 0, total-vm:1kB", line{Kind: "oom kill", About: knowledge.AboutKill, PID: 10, Command: "java"}},
		{"nfs: server 10.0.0.9 not responding, still trying", line{Kind: "file server silent", About: knowledge.AboutServer, Device: "10.0.0.9"}},
		{"lockd: server nas.example not responding, timed out", line{Kind: "file server silent", About: knowledge.AboutServer, Device: "nas.example"}},
		{`CIFS: VFS: \x5c\x5cnas has not responded in 180 seconds. Reconnecting...`, line{Kind: "file server silent", About: knowledge.AboutServer, Device: "nas"}},
		{"CIFS VFS: Server nas has not responded in 120 seconds. Reconnecting...", line{Kind: "file server silent", About: knowledge.AboutServer, Device: "nas"}},
		{"audit: type=1400 something else", line{}},
		{"BTRFS warning (device sda1): lost page write due to IO error on /dev/sdb1 (-5)", line{}}, // a mirror may have it
		{"", line{}},
	} {
		got := logged(tt.text).fresh(time.Second)
		var want []line
		if tt.want.Kind != "" {
			tt.want.Text, tt.want.Count = strings.ReplaceAll(tt.text, `\x5c`, `\`), 1
			want = []line{tt.want}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.text, diff)
		}
	}
}

func TestKernelLinesOfLate(t *testing.T) {
	const silent, back = "nfs: server nas not responding, still trying", "nfs: server nas OK"
	io := func(dev string) string { return "I/O error, dev " + dev + ", sector 1" }
	const lost, wellMounted = "Buffer I/O error on dev sda, logical block 1, lost async page write", "EXT4-fs (sda): mounted filesystem with ordered data mode. Opts: (null)"
	for _, tt := range []struct {
		name string
		log  *kernelLines
		now  time.Duration
		want string // kind, device, count, age of each
	}{
		{"the same again", logged(io("sda"), io("sda"), io("sdb"), io("sda")), 5 * time.Second, "I/O error sda 3 1s, I/O error sdb 1 2s"},
		{"two paths of one device", logged("device-mapper: multipath: 253:3: Failing path 8:16.", "device-mapper: multipath: 253:3: Failing path 8:32."), 5 * time.Second, "path failed 253:3 1 3s, path failed 253:3 1 4s"},
		{"taken back", logged(silent, silent, back), 5 * time.Second, ""},
		{"and silent again", logged(silent, back, silent), 5 * time.Second, "file server silent nas 1 2s"},
		{"of two kinds", logged(lost, io("sda"), io("sda")), 5 * time.Second, "I/O error sda 2 2s, I/O error sda 1 4s"},
		{"a file system made again", logged(io("sdb"), lost, io("sda"), "EXT4-fs (sda): Remounting filesystem read-only", wellMounted), 5 * time.Second, "I/O error sdb 1 4s"},
		{"another one made again", logged(lost, "XFS (sdb): Mounting V5 Filesystem"), 5 * time.Second, "I/O error sda 1 4s"},
		{"mounted again for writing", logged(lost, "EXT4-fs (sda): re-mounted 1-2 r/w. Quota mode: none."), 5 * time.Second, "I/O error sda 1 4s"},
		{"and fails again", logged(lost, wellMounted, lost), 5 * time.Second, "I/O error sda 1 2s"},
		{"half an hour", logged(silent), kernelFresh + time.Second, "file server silent nas 1 30m0s"},
		{"long ago", logged(silent), kernelFresh + 2*time.Second, ""},
		{"no clock", logged(silent, io("sda")), 0, "I/O error sda 1 0s, file server silent nas 1 1s"},
		{"many", logged(io("a"), io("b"), io("c"), io("d"), io("e"), io("f"), silent), 7 * time.Second, "file server silent nas 1 0s, I/O error f 1 1s, I/O error e 1 2s, I/O error d 1 3s, I/O error c 1 4s, I/O error b 1 5s"},
	} {
		var got []string
		for _, l := range tt.log.fresh(tt.now) {
			got = append(got, fmt.Sprint(l.Kind, " ", l.Device, " ", l.Count, " ", l.Age))
		}
		if got := strings.Join(got, ", "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// Trouble that began again after a long time is not the old one that goes on.
func TestKernelLineIsCountedAnewAfterAPause(t *testing.T) {
	k := new(kernelLines)
	for _, second := range []int{1, 2, 10_000} {
		k.take(fmt.Appendf(nil, "3,7,%d,-;I/O error, dev sda, sector 1\n", second*1_000_000))
	}
	if got := k.fresh(10_001 * time.Second); len(got) != 1 || got[0].Count != 1 || got[0].Age != time.Second {
		t.Errorf("lines %+v, want one, counted once", got)
	}
}

// The kernel names the control group of the process that it kills in a separate line before that.
func TestWhereAProcessWasKilled(t *testing.T) {
	got := logged(
		"oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/a,task_memcg=/a/containerd.service,task=containerd,pid=812,uid=0",
		"Memory cgroup out of memory: Killed process 812 (containerd) total-vm:1kB", "Memory cgroup out of memory: Killed process 813 (containerd) total-vm:1kB",
	).fresh(3 * time.Second)
	if len(got) != 2 || got[1].Group != "/a/containerd.service" || got[0].Group != "" {
		t.Errorf("lines %+v", got)
	}
}

// Only records of the kernel itself count: any program with root's rights may write others there.
func TestKernelRecordThatIsNone(t *testing.T) {
	const text = "I/O error, dev sda, sector 1"
	for _, line := range []string{
		"12,1,1000000,-;" + text, // of a program
		" SUBSYSTEM=block;" + text, " 3,1,1000000,-;" + text, "3,1,x,-;" + text, "3,1,18446744073709551615,-;" + text, "3,1;" + text, "-3,1,1,-;" + text, text, ";", "",
	} {
		k := new(kernelLines)
		if k.take([]byte(line)); len(k.kept) > 0 {
			t.Errorf("%q counts", line)
		}
	}
}

// An endlessReader has records for ever.
type endlessReader struct{ n int }

func (e *endlessReader) Read(into []byte) (int, error) {
	e.n++
	return copy(into, fmt.Sprintf("3,%d,%d,-;I/O error, dev d%d, sector 1\n", e.n, e.n, min(e.n, 2*mostRemembered))), nil
}

func TestKernelLogIsBounded(t *testing.T) {
	k := new(kernelLines)
	size, partial, err := k.read(t.Context(), bufio.NewReaderSize(new(endlessReader), mostRecord))
	if err != nil || partial == "" || size > logBytes+mostRecord {
		t.Errorf("read %d bytes, partial %q: %v", size, partial, err)
	}
	if len(k.kept) != mostRemembered || len(k.fresh(0)) != mostLines {
		t.Errorf("kept %d lines", len(k.kept))
	}
	k = new(kernelLines)
	long := "3,1,1,-;I/O error, dev sda, " + strings.Repeat("x", 3*mostRecord) + "\n3,2,2,-;I/O error, dev sdb, sector 1\n"
	if _, _, err := k.read(t.Context(), bufio.NewReaderSize(strings.NewReader(long), mostRecord)); err != nil {
		t.Error(err)
	}
	if !slices.ContainsFunc(k.kept, func(l keptLine) bool { return l.Device == "sdb" }) {
		t.Error("what comes after a line that is too long is not found")
	}
	broken := io.MultiReader(strings.NewReader("3,3,3,-;I/O error, dev sdc, sector 1\n"), errReader{})
	if _, _, err := k.read(t.Context(), bufio.NewReader(broken)); !errors.Is(err, reads.ErrBrokenOff) {
		t.Errorf("error %v", err)
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, reads.ErrBrokenOff }

func FuzzKernelLog(f *testing.F) {
	f.Add("3,1,1000000,-;INFO: task a:1 blocked for more than 2 seconds\n SUBSYSTEM=x\n6,2,2000000,c;nfs: server \\x5c OK\n")
	f.Add("3,1,1,-;EXT4-fs error (device \\xff\\x0a): \\x\n")
	f.Fuzz(func(t *testing.T, text string) {
		k := new(kernelLines)
		size, partial, err := k.read(t.Context(), bufio.NewReaderSize(strings.NewReader(text), 64))
		if err != nil || partial != "" || size != int64(len(text)) {
			t.Errorf("read %d of %d bytes, %q: %v", size, len(text), partial, err)
		}
		for _, l := range k.fresh(0) {
			if l.Age < 0 || l.Age > kernelFresh || l.Count < 1 || l.PID < 0 || len(l.Text) > mostText {
				t.Errorf("line %+v", l)
			}
		}
	})
}

// If a group is killed as a whole, the kernel names the control group only for the first process.
func TestGroupOfAKilledProcessIsItsOwn(t *testing.T) {
	var k kernelLines
	for _, text := range []string{
		"oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/a,task_memcg=/a/b,task=sh,pid=7,uid=0",
		"Memory cgroup out of memory: Killed process 7 (sh) total-vm:1kB, anon-rss:1kB",
		"Memory cgroup out of memory: Killed process 8 (containerd) total-vm:1kB, anon-rss:1kB",
	} {
		k.take([]byte("6,1,1000000,-;" + text + "\n"))
	}
	groups := map[int]string{}
	for _, l := range k.fresh(2 * time.Second) {
		groups[l.PID] = l.Group
	}
	if groups[7] != "/a/b" || groups[8] != "" || len(groups) != 2 {
		t.Errorf("control groups %v", groups)
	}
}
