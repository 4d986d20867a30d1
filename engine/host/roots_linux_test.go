package host

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

// For a container without a process, the look finds the processes that keep its root file system busy: their
// working folder, root or open file is there, or their mount namespace has a copy that no unmount takes away.
func TestLookTellsWhoHoldsARoot(t *testing.T) {
	id := longID("7")
	const node = "mnt:[1]"
	containerd := fixtureTasks + "/" + id
	line := func(number int, device, point, optional string) string {
		return strings.Join(strings.Fields(fmt.Sprintf("%d 21 %s / %s rw,relatime %s - overlay overlay rw", number, device, point, optional)), " ") + "\n"
	}
	for _, runtime := range []struct{ name, root string }{{"containerd", containerd + "/rootfs"}, {"crio", "/var/lib/containers/storage/overlay/9f/merged"}} {
		at := runtime.root
		for _, tt := range []struct {
			name, cwd, root, fd, space, mounts string
			want                               evidence.Hold
		}{
			{"its working folder", at, "/", "", node, "", evidence.ByFolder},
			{"below it", at + "/var/log", "/", "", "mnt:[2]", "", evidence.ByFolder},
			{"its root", "/", at, "", node, "", evidence.ByRoot},
			{"an open file", "/", "/", at + "/x.db", node, "", evidence.ByFile},
			{"a copy", "/", "/", "", "mnt:[2]", line(70, "0:90", at, ""), evidence.ByMounts},
			{"a copy elsewhere", "/", "/", "", "mnt:[2]", line(70, "0:90", "/host"+at, ""), evidence.ByMounts},
			{"its root by device", "/", "/", "", "mnt:[2]", line(70, "0:90", "/", "master:7"), evidence.ByMounts},
			{"a copy that follows", "/", "/", "", "mnt:[2]", line(70, "0:90", at, "master:7"), ""},
			{"the node's namespace", "/", "/", "", node, line(50, "0:90", at, "shared:7"), ""},
			{"another container", "/", "/", "", "mnt:[2]", line(70, "0:91", "/", ""), ""},
			{"a name that begins so", at + "2", "/", "", node, "", ""},
		} {
			t.Run(runtime.name+": "+tt.name, func(t *testing.T) {
				root := t.TempDir()
				link := func(pid int, name, to string) { writeLink(t, root, fmt.Sprintf("proc/%d/%s", pid, name), to) }
				writeProcess(t, root, fakeProcess{PID: 1, Comm: "systemd"})
				link(1, "ns/mnt", node)
				writeFile(t, filepath.Join(root, "proc/1/mountinfo"), line(50, "0:90", at, "shared:7"))
				shim := fakeShim(20, longID("1"), testSocket)
				if runtime.name == "crio" {
					bundle := "/run/containers/storage/overlay-containers/" + id + "/userdata"
					shim = fakeProcess{PID: 20, Parent: 1, Comm: "conmon", Args: []string{"/usr/bin/conmon", "-c", longID("1"), "-b", "/run/containers/storage/overlay-containers/" + longID("1") + "/userdata", "--exit-dir", "/var/run/crio/exits"}}
					writeFile(t, filepath.Join(root, bundle, "config.json"), `{"root": {"path": "`+at+`"}}`)
				}
				writeProcess(t, root, shim)
				link(20, "cwd", fixtureTasks+"/"+longID("1"))
				link(20, "ns/mnt", node)
				writeProcess(t, root, fakeProcess{PID: 30, Comm: "sleep", Cgroup: "/kubepods/pod5f1a/" + longID("3")})
				link(30, "cwd", tt.cwd)
				link(30, "root", tt.root)
				link(30, "ns/mnt", tt.space)
				if tt.fd != "" {
					link(30, "fd/3", tt.fd)
				}
				if tt.mounts != "" {
					writeFile(t, filepath.Join(root, "proc/30/mountinfo"), tt.mounts)
				}
				w := newWalker(root, "", time.Hour)
				if found := w.look(t.Context(), firstLook).Processes.Roots; found != nil {
					t.Errorf("without being asked: %+v", found)
				}
				for range 2 { // what was found out is remembered
					found := w.look(t.Context(), firstLook, id).Processes.Roots[id]
					if tt.want == "" && len(found) > 0 || tt.want != "" && (len(found) != 1 || found[0].PID != 30 || found[0].Command != "sleep" || found[0].By != tt.want || found[0].Container != longID("3")) {
						t.Errorf("found %+v, want it by %q", found, tt.want)
					}
				}
			})
		}
	}
}
