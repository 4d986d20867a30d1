package host

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/reads"
)

// picture returns a node that is a picture made of files, and its root.
func picture(t *testing.T, files map[string]string) (*Node, string) {
	t.Helper()
	root := tree(t, files)
	n, err := New(Config{Root: root, Offline: true})
	if err != nil {
		t.Fatal(err)
	}
	return n, root
}

func TestLookAtPicture(t *testing.T) {
	n, root := picture(t, map[string]string{
		"proc/pressure/cpu": someLine, "proc/pressure/io": someLine + fullLine, "proc/pressure/memory": someLine + fullLine,
		"var/lib/containerd/x": "",
	})
	writeProcess(t, root, fakeProcess{PID: 77, Parent: 1, Comm: "containerd"})
	r := n.Look(t.Context(), false)
	if r.Took <= 0 || r.At.IsZero() {
		t.Errorf("it took %v and ended at %v", r.Took, r.At)
	}
	if r.Pressure.Missing != "" || r.Pressure.IO.Full10 != 0.5 {
		t.Errorf("pressure = %+v, want the files'", r.Pressure)
	}
	if diff := cmp.Diff(evidence.Kubelet{}, r.Kubelet); diff != "" {
		t.Errorf("a picture has no kubelet: %s", diff)
	}
	if len(r.Processes.Daemons) != 1 || r.Processes.Missing != "" {
		t.Errorf("processes = %+v, want the picture's containerd", r.Processes)
	}
	if diff := cmp.Diff([]evidence.Usage{{Name: "containerd", PID: 77, CPU: -1, Threads: 1}}, r.Usage); diff != "" {
		t.Errorf("usage: %s", diff)
	}
	if r.Disk.Missing == "" || r.Disk.Total != 0 {
		t.Errorf("disk = %+v is this machine's, not the picture's", r.Disk)
	}
	if version, ok := n.KubeletVersion(t.Context()); ok || version != "" {
		t.Errorf("kubelet version = %q, %v, want none", version, ok)
	}
}

// The disk of a picture is the one that its mounts show. Its runtime counts as the process that listens at the
// socket, even though another process really listens there.
func TestDiskAndSocketOfAPicture(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cri.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	root := tree(t, map[string]string{
		"proc/77/comm": "containerd\n", "proc/1/mountinfo": "22 1 253:1 / / rw - ext4 /dev/vda1 rw\n95 22 253:17 / /var/lib/containerd rw - ext4 /dev/vdb1 rw\n",
	})
	writeProcess(t, root, fakeProcess{PID: 77, Parent: 1, Comm: "containerd"})
	writeProcess(t, root, fakeProcess{PID: os.Getpid(), Parent: 1, Comm: "etcd"})
	n, err := New(Config{Root: root, Endpoint: "unix://" + path, Offline: true})
	if err != nil {
		t.Fatal(err)
	}
	r := n.Look(t.Context(), false)
	want := evidence.Disk{Path: "/var/lib/containerd", Mount: evidence.Mount{Node: "/var/lib/containerd", Type: "ext4", Source: "/dev/vdb1", Device: "253:17"}}
	if diff := cmp.Diff(want, r.Disk); diff != "" {
		t.Errorf("disk (-want +got):\n%s", diff)
	}
	if r.Socket.Kind != "socket" || r.Socket.Holder.PID != 77 || r.Socket.Unlinked.PID != 0 {
		t.Errorf("socket %+v, want it to be held by 77", r.Socket)
	}
}

// If parts of a node are missing, that is no error, and the other parts are read.
func TestLookAtEmptyFolder(t *testing.T) {
	n, _ := picture(t, nil)
	r := n.Look(t.Context(), false)
	if r.Processes.Missing == "" || r.Pressure.Missing == "" {
		t.Errorf("report = %+v, want reasons", r)
	}
}

// A waiter that gives up does not end the read of a part. The context of the read ends in time for the look.
func TestPartHasItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var took time.Duration
		slow := part{
			name: "slow",
			read: func(ctx context.Context, _ *Look) (fill, error) {
				began := time.Now()
				<-ctx.Done()
				took = time.Since(began)
				return func(r *evidence.Report) { r.Disk.Path = "/slow" }, nil
			},
			missing: func(r *evidence.Report, err error) { r.Disk.Missing = err.Error() },
		}
		n := &Node{parts: []part{slow}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if r := n.Look(ctx, false); r.Disk.Missing != reads.ErrBrokenOff.Error() || r.Took != time.Second {
			t.Errorf("first look = %+v, want it broken off after 1s", r)
		}
		if r := n.Look(t.Context(), false); r.Disk.Path != "/slow" || took != limit || r.Took != time.Second {
			t.Errorf("second look = %+v, want what the first began, after %v: %v", r, limit, took)
		}
	})
}

// A part that hangs in the kernel takes nothing from the others.
func TestLookPastADiskThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, _ := picture(t, map[string]string{"proc/pressure/cpu": someLine, "proc/pressure/io": "", "proc/pressure/memory": ""})
		release := make(chan bool)
		reads.Start(&n.reads, "disk", func() (fill, error) { <-release; return func(*evidence.Report) {}, nil })
		for _, want := range []struct {
			took time.Duration
			why  string
		}{{limit + grace, "no answer for 2s"}, {0, "no answer for 7s"}} {
			r := n.Look(t.Context(), false)
			if r.Took != want.took || r.Disk.Missing != want.why || r.Pressure.CPU.Some10 != 1.5 {
				t.Errorf("report = %+v, want after %v that the disk gives %s", r, want.took, want.why)
			}
			time.Sleep(5 * time.Second)
		}
		release <- true
	})
}

func TestLookEndsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, _ := picture(t, nil)
		release := make(chan bool)
		reads.Start(&n.reads, "disk", func() (fill, error) { <-release; return func(*evidence.Report) {}, nil })
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		r := n.Look(ctx, false)
		if r.Took != time.Second || r.Disk.Missing != "the look was broken off" {
			t.Errorf("the look took %v, its disk is %+v; want it broken off after 1s", r.Took, r.Disk)
		}
		release <- true
	})
}

func TestLookAtTheWholeNode(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "kubelet_a 1\n") })
	n, err := New(Config{RuntimeRoot: t.TempDir(), Kubelet: Kubelet{Healthz: server.URL, Metrics: server.URL}})
	if err != nil {
		t.Fatal(err)
	}
	n.Look(t.Context(), false)
	r := n.Look(t.Context(), false)
	if !r.Kubelet.Ping.OK || !r.Kubelet.Metrics.OK || r.Disk.Total == 0 || r.Clock.Watched <= 0 {
		t.Errorf("report = %+v, want all parts", r)
	}
	own := r.Usage[len(r.Usage)-1]
	if own.Name != "plegtop" || own.CPU < 0 || own.Memory < 1<<20 || own.Threads < 1 {
		t.Errorf("own usage = %+v", own)
	}
}
