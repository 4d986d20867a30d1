package proc

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

// The kernel shows which program serves a FUSE mount. If it does not, the arguments of the programs decide that
// have the device open, then their names. If these do not decide either, it is one of these programs.
func TestLookTellsWhoServesAMount(t *testing.T) {
	type program struct {
		comm, args, fdinfo string
	}
	none := program{}
	for _, tt := range []struct {
		name     string
		mount    string // type and source
		programs [3]program
		want     []int
		by       evidence.Hold
	}{
		{"by the kernel", "fuse.sshfs host:/a", [3]program{{"sshfs", "", "61"}, {"anything", "", "60"}, none}, []int{501}, evidence.ByConnection},
		{"by the kernel: it is gone", "fuse.sshfs host:/a", [3]program{{"sshfs", "/mnt/a", "61"}, none, none}, nil, ""},
		{"by arguments", "fuse.sshfs host:/a", [3]program{{"sshfs", "/mnt/b", ""}, {"sshfs", "/mnt/a/", ""}, {"s3fs", "/mnt/c", ""}}, []int{501}, evidence.ByArguments},
		{"by the type", "fuse.s3fs bucket", [3]program{{"sshfs", "", ""}, {"s3fs", "", ""}, none}, []int{501}, evidence.ByName},
		{"by the source", "fuse JuiceFS:vol", [3]program{{"juicefs", "", ""}, {"s3fs", "", ""}, none}, []int{500}, evidence.ByName},
		{"one of those with the name", "fuse.sshfs host:/a", [3]program{{"sshfs", "", ""}, {"s3fs", "", ""}, {"sshfs", "", ""}}, []int{500, 502}, evidence.ByName},
		{"any", "fuse bucket", [3]program{{"mount-s3", "", ""}, none, none}, []int{500}, evidence.ByDevice},
		{"nobody", "fuse bucket", [3]program{}, nil, ""},
		{"not in a program", "virtiofs share", [3]program{{"mount-s3", "", ""}, none, none}, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			writeProcess(t, root, fakeProcess{PID: 300, Comm: "containerd", State: evidence.Uninterrupted, Ran: 1000, Wchan: "fuse_lookup"})
			writeFile(t, filepath.Join(root, "proc/300/mountinfo"), "100 21 0:60 / /mnt/a rw - "+tt.mount+" rw\n")
			for i, p := range tt.programs {
				if p.comm == "" {
					continue
				}
				pid := 500 + i
				writeProcess(t, root, fakeProcess{PID: pid, Comm: p.comm, Args: []string{p.comm, p.args}})
				dir := filepath.Join(root, "proc", fmt.Sprint(pid))
				writeFile(t, filepath.Join(dir, "comm"), p.comm+"\n")
				writeLink(t, dir, "fd/0", "/dev/null")
				writeLink(t, dir, "fd/5", fuseDevice)
				info := "pos:\t0\nflags:\t0100002\nmnt_id:\t26\n"
				if p.fdinfo != "" {
					info += "fuse_connection:\t" + p.fdinfo + "\n"
				}
				writeFile(t, filepath.Join(dir, "fdinfo/5"), info)
			}
			w := newFixtureWalker(root)
			w.clock = func(int) time.Duration { return time.Second + time.Minute }
			for range 2 { // what was found out is remembered
				found := w.lookAt(t.Context(), firstLook).Daemons
				var got []int
				for _, h := range found[0].Servers {
					got = append(got, h.PID)
					if h.By != tt.by || h.State != evidence.Sleeping || h.Start == 0 {
						t.Errorf("%+v, want it by %q", h, tt.by)
					}
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("%v, want %v", got, tt.want)
				}
			}
		})
	}
}

// Mounts are read as far as there is time. Which process has something open is known without them.
func TestHoldersOfManyNamespaces(t *testing.T) {
	const at = "/run/c/rootfs"
	root := t.TempDir()
	files := func(space, folder string) map[string]string {
		return map[string]string{"ns/mnt": "->" + space, "cwd": "->" + folder, "root": "->/", "mountinfo": "70 21 0:90 / " + at + " rw - overlay overlay rw\n"}
	}
	writeProcess(t, root, fakeProcess{PID: 1, Comm: "systemd", Files: map[string]string{"ns/mnt": "->mnt:[1]"}})
	writeProcess(t, root, fakeProcess{PID: 30, Comm: "sleep", Files: files("mnt:[2]", "/")})
	writeProcess(t, root, fakeProcess{PID: 31, Comm: "sh", Files: files("mnt:[3]", at)})
	for _, search := range []time.Duration{time.Hour, -1} {
		w := newFixtureWalker(root)
		w.search = time.Hour
		l, err := w.Look(t.Context(), firstLook)
		if err != nil {
			t.Fatal(err)
		}
		l.everybody() // is remembered
		w.search = search
		got := map[int]evidence.Hold{}
		for _, h := range l.HoldersOf(map[string]string{"c": at})["c"] {
			got[h.PID] = h.By
		}
		want := map[int]evidence.Hold{31: evidence.ByFolder}
		if search > 0 {
			want[30] = evidence.ByMounts
		}
		if !maps.Equal(got, want) {
			t.Errorf("in %v: %v, want %v", search, got, want)
		}
	}
}

// Another process may have got the pid of a holder that has ended.
func TestStillHold(t *testing.T) {
	root := t.TempDir()
	writeProcess(t, root, fakeProcess{PID: 30, Comm: "sleep", Started: 2 * time.Hour})
	l, err := newFixtureWalker(root).Look(t.Context(), firstLook)
	if err != nil {
		t.Fatal(err)
	}
	same := evidence.Holder{PID: 30, Start: ticksAt(2 * time.Hour), State: evidence.Sleeping}
	ended, other := evidence.Holder{PID: 31, Start: same.Start}, evidence.Holder{PID: 30, Start: ticksAt(time.Hour)}
	if got := l.StillHold([]evidence.Holder{ended, other, same}); !slices.Equal(got, []evidence.Holder{same}) {
		t.Errorf("%+v, want only %+v", got, same)
	}
}
