package proc

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/proctest"
)

const fixtureMounts = `21 1 253:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
98 21 8:17 / /var/lib/my\040data rw,relatime shared:7 - ext4 /dev/sdb1 rw
99 21 0:52 / /mnt/nas rw - nfs4 nas:/export rw,addr=10.0.0.7
`

// A process that waits in the middle of a system call for an open file waits for
// what that file is on, whatever function of the kernel it sleeps in.
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
			proctest.Write(t, root, proctest.Process{PID: 300, Comm: "containerd", Threads: []proctest.Process{{PID: 301, State: evidence.Uninterrupted, Ran: 1000}}})
			dir := filepath.Join(root, "proc/300")
			proctest.WriteFile(t, filepath.Join(dir, "task/301/syscall"), tt.syscall)
			proctest.WriteFile(t, filepath.Join(dir, "mountinfo"), fixtureMounts)
			proctest.WriteFile(t, filepath.Join(dir, "fdinfo/9"), "pos:\t0\nflags:\t02\nmnt_id:\t98\nino:\t12\n")
			proctest.WriteFile(t, filepath.Join(dir, "fdinfo/10"), "pos:\t0\nflags:\t02\nmnt_id:\t99\nino:\t12\n")
			w := newFixtureWalker(root)
			w.clock = func(int) time.Duration { return time.Second + tt.idle }
			found := w.lookAt(t.Context(), proctest.Look).Daemons
			if len(found) != 1 || found[0].Mount != tt.want || found[0].Thread != 301 {
				t.Errorf("found %+v, want thread 301 of it to wait for %+v", found, tt.want)
			}
		})
	}
}

// A dead server may have a thousand processes: in one look some are asked for, and
// what was found out is remembered.
func TestLookFindsOutAFewAtATime(t *testing.T) {
	root := t.TempDir()
	for i := range waitsPerLook + 10 {
		proctest.Write(t, root, proctest.Process{PID: 300 + i, Comm: "containerd", State: evidence.Uninterrupted, Ran: 1000})
		dir := filepath.Join(root, "proc", fmt.Sprint(300+i))
		proctest.WriteFile(t, filepath.Join(dir, "syscall"), fmt.Sprintf("%d 0x9\n", unix.SYS_FSYNC))
		proctest.WriteFile(t, filepath.Join(dir, "mountinfo"), fixtureMounts)
		proctest.WriteFile(t, filepath.Join(dir, "fdinfo/9"), "mnt_id:\t98\n")
	}
	w := newFixtureWalker(root)
	w.clock = func(int) time.Duration { return time.Minute }
	for look, want := range []int{waitsPerLook, waitsPerLook + 10} {
		known := 0
		for _, p := range w.lookAt(t.Context(), proctest.Look.Add(time.Duration(look)*time.Second)).Daemons {
			if p.Mount.Device == "8:17" {
				known++
			}
		}
		if known != want {
			t.Errorf("look %d knows of %d, want %d", look, known, want)
		}
	}
}
