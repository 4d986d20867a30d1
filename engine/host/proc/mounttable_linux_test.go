package proc

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/evidence"
)

// A row that we do not understand, or a long one, does not hide the other rows.
func TestReadMounts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mountinfo")
	writeFile(t, path, "20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"+
		"21 20 0:40 / /data rw - 9p share rw,trans=virtio,a - b\n"+
		"22 20 0:41\n"+
		"23 20 0:42 /sub\\040dir /no/options ro master:1 - tmpfs tmp\\043\n"+
		"24 20 0:43 / /no/source rw - tmpfs  rw\n"+
		"25 20 0:44 / /over rw - overlay overlay rw,lowerdir="+strings.Repeat("/layer:", 10<<10)+",upperdir=/up\\054per,workdir=/w\n"+
		"26 20 0:45 / /last rw unbindable - xfs /dev/sdb1 rw")
	got, err := readMounts(path)
	want := []*Mount{
		{Mount: evidence.Mount{Point: "/", Type: "ext4", Source: "/dev/sda1", Device: "8:1"}, ID: "20", Root: "/", Linked: true},
		{Mount: evidence.Mount{Point: "/data", Type: "9p", Source: "share", Device: "0:40"}, ID: "21", Root: "/"},
		{Mount: evidence.Mount{Point: "/no/options", Type: "tmpfs", Source: "tmp#", Device: "0:42"}, ID: "23", Root: "/sub dir", Linked: true},
		{Mount: evidence.Mount{Point: "/no/source", Type: "tmpfs", Device: "0:43"}, ID: "24", Root: "/"},
		{Mount: evidence.Mount{Point: "/over", Type: "overlay", Source: "overlay", Device: "0:44"}, ID: "25", Root: "/", Upper: "/up,per"},
		{Mount: evidence.Mount{Point: "/last", Type: "xfs", Source: "/dev/sdb1", Device: "0:45"}, ID: "26", Root: "/"},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

// A node may have more than 1 MiB of mounts. The one that a process waits for may be the last.
func TestLookReadsAllMounts(t *testing.T) {
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, "%d 21 0:%d / /run/%d rw - overlay overlay rw,lowerdir=%s\n", 1000+i, 1000+i, i, strings.Repeat("/layer:", 200))
	}
	root := t.TempDir()
	writeProcess(t, root, fakeProcess{PID: 1, Comm: "systemd", Files: map[string]string{"mountinfo": many.String() + "99 21 0:52 / /srv/nas\\011\\040\\043 rw - nfs4 nas:/export rw\n"}})
	writeProcess(t, root, fakeProcess{PID: 300, Comm: "containerd", Threads: []fakeProcess{{PID: 301, State: evidence.Uninterrupted, Ran: 1000}}, Files: map[string]string{
		"syscall": fmt.Sprintf("%d 0xa\n", unix.SYS_READ), "mountinfo": many.String() + fixtureMounts, "fdinfo/10": "mnt_id:\t99\n",
	}})
	w := newFixtureWalker(root)
	w.clock = func(int) time.Duration { return time.Minute }
	want := evidence.Mount{Point: "/mnt/nas", Type: "nfs4", Source: "nas:/export", Device: "0:52", Node: "/srv/nas\t #"}
	if found := w.lookAt(t.Context(), firstLook).Daemons; len(found) != 1 || found[0].Mount != want {
		t.Errorf("found %+v, want it to wait for %+v", found, want)
	}
}
