package host

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/proc"
	"github.com/plegtop/plegtop/engine/host/reads"
)

// Only mounts of FUSE below the kubelet's and the runtime's folders are asked. A mount that hangs is asked only
// once, and does not keep the others from being reported. The time to read the mount table is extra.
func TestUnserved(t *testing.T) {
	const pods, hanging, late = "/var/lib/kubelet/pods/u/volumes/kubernetes.io~csi/", "hangs", unservedTime + fileTimeout
	root := t.TempDir()
	lines := ""
	for i, m := range []string{
		"ext4 /", "fuse.s3fs " + pods + hanging, "fuse.s3fs " + pods + "dead/mount", "fuse " + pods + "well", "nfs4 " + pods + "dead-nfs",
		"fuse.sshfs /home/dead", "fuse.fuse-overlayfs /run/containerd/dead/rootfs", "fuse /run/containerd-dead", "fuse /var/lib/docker/dead",
	} {
		kind, at, _ := strings.Cut(m, " ")
		lines += fmt.Sprintf("%d 1 0:%d / %s rw - %s x rw\n", 30+i, 30+i, at, kind)
	}
	writeFile(t, filepath.Join(root, "proc/1/mountinfo"), lines)
	for socket, want := range map[string]string{
		testSocket:              "[" + pods + "dead/mount /run/containerd/dead/rootfs]",
		"/run/cri-dockerd.sock": "[" + pods + "dead/mount /var/lib/docker/dead]", // it has no state folder
	} {
		synctest.Test(t, func(t *testing.T) {
			var asked atomic.Int32
			release := make(chan error)
			l := &Look{Node: &Node{Config: Config{Root: root, Endpoint: "unix://" + socket}}}
			l.table = mountTable{reads.Start(&l.reads, "mounts", func() ([]*proc.Mount, error) { time.Sleep(late); return proc.Mounts(root) })}
			u := unservedWatch{statfs: func(path string) error {
				switch {
				case strings.HasSuffix(path, hanging):
					asked.Add(1)
					return <-release
				case strings.Contains(path, "dead"):
					return unix.ENOTCONN
				}
				return nil
			}}
			for _, long := range []time.Duration{late + unservedTime, 0} {
				began := time.Now()
				r := evidence.Report{Deep: new(evidence.Deep)}
				put, _ := u.read(t.Context(), l)
				put(&r)
				if got := fmt.Sprint(r.Deep.Unserved); got != want {
					t.Errorf("found %s, want %s", got, want)
				}
				if took := time.Since(began); took != long {
					t.Errorf("it took %v, want %v", took, long)
				}
			}
			if n := asked.Load(); n != 1 {
				t.Errorf("what hangs was asked %d times", n)
			}
			release <- unix.ENOTCONN
			synctest.Wait()
		})
	}
}
