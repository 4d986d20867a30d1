package diagnose

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
)

func fillDisk(r *evidence.Report) { r.Disk.Free, r.Disk.Left = 0, 0 }

// A runtime that starts on a full disk forgets its containers: no step restarts it before there is room, whether it
// runs or not.
func TestRoomComesBeforeARestart(t *testing.T) {
	down := func(n *node, r *evidence.Report) {
		n.fail(call.ListPodSandbox, call.ErrUnavailable, notThere, 20).fail(call.Status, call.ErrUnavailable, notThere, 4)
		r.Processes.Daemons = nil
	}
	readOnly := func(r *evidence.Report) { r.Disk.ReadOnly = "it is mounted read-only" }
	for _, tt := range []struct {
		name   string
		change func(*node, *evidence.Report)
		disk   func(*evidence.Report)
		id     ID
		before string
	}{
		{"down", down, fillDisk, RuntimeDown, "there is room on its disk"},
		{"down, without inodes", down, func(r *evidence.Report) { r.Disk.InodesUnused = 0 }, RuntimeDown, "there is room on its disk"},
		{"down, read-only", down, readOnly, RuntimeDown, "its disk takes writes again"},
		{"its socket lost", func(n *node, r *evidence.Report) {
			n.fail(call.ListPodSandbox, call.ErrUnavailable, notThere, 20).fail(call.Status, call.ErrUnavailable, notThere, 4)
			r.Socket = evidence.Socket{Unlinked: evidence.Process{PID: 5, Command: "containerd"}}
		}, fillDisk, RuntimeDown, "there is room on its disk"},
		{"has forgotten containers", func(n *node, r *evidence.Report) {
			restarted(r, 10*time.Second)
			forget(n, r, 1)
		}, fillDisk, OrphanShims, "there is room on its disk"},
		{"disk full", func(*node, *evidence.Report) {}, fillDisk, DiskFull, "there is room on its disk"},
		{"disk read-only", func(*node, *evidence.Report) {}, readOnly, StoreFailing, "its disk takes writes again"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := healthy(3)
			in := n.input()
			in.Evidence, in.Endpoint = looked(n), "unix://"+ourSocket
			tt.change(n, in.Evidence)
			tt.disk(in.Evidence)
			f := findingOf(t, Diagnose(in), tt.id)
			if said := fmt.Sprint(f.Evidence); tt.id != OrphanShims && !strings.Contains(said, "do not restart the runtime before "+tt.before+": it forgets its containers") {
				t.Errorf("says %s", said)
			}
			restarts := 0
			for _, s := range f.Next {
				if s.Command == "systemctl restart containerd" || s.Command == "systemctl start containerd" {
					restarts++
					if !s.Risky() || !strings.Contains(s.When, tt.before) || !strings.Contains(s.Risk, "it forgets its containers") {
						t.Errorf("%s", s)
					}
				}
			}
			if act := f.act(); strings.Contains(act.Command, "systemctl") || tt.id == RuntimeDown && (restarts == 0 || act.asks) {
				t.Errorf("act %q of %q", act, f.Next)
			}
		})
	}
}

// findingOf returns the finding of an id.
func findingOf(t *testing.T, all []Finding, id ID) Finding {
	t.Helper()
	for _, f := range all {
		if f.ID == id {
			return f
		}
	}
	t.Fatalf("no %s in %s", id, gist(all))
	return Finding{}
}

// Before a prune is advised, a step shows what it would free: the images without a container in any state, by their ids
// or, in an older CRI-O, by their digests. If it frees nothing, the step says so.
func TestAPruneShowsWhatItFrees(t *testing.T) {
	if _, err := exec.LookPath("timeout"); err != nil {
		t.Skip("the commands are for a node")
	}
	n := healthy(3)
	in := n.input()
	in.Evidence, in.Endpoint = looked(n), "unix://"+ourSocket
	fillDisk(in.Evidence)
	steps := findingOf(t, Diagnose(in), DiskFull).Next
	place := func(has string) int {
		return slices.IndexFunc(steps, func(s Step) bool { return strings.Contains(s.Command+s.Text, has) })
	}
	shows, prunes, otherwise := place("images --digests"), place("rmi --prune"), place("a prune frees nothing")
	if shows < 0 || prunes < shows || otherwise < prunes || !strings.Contains(steps[prunes].When, "that check shows images") || place("stats -a") < 0 {
		t.Fatalf("steps %q", steps)
	}
	id := func(digit string) string { return strings.Repeat(digit, 64) }
	const head = "IMAGE TAG DIGEST IMAGE ID SIZE\n"
	line := func(name, digest, image string) string {
		return fmt.Sprintf("docker.io/library/%s latest sha256:%s sha256:%s 50MB\n", name, id(digest), id(image))
	}
	for _, tt := range []struct{ name, images, containers, want string }{
		{"by id", head + line("nginx", "a", "1") + line("old", "b", "2") + line("pause", "c", "3"),
			`{"containers": [{` + "\n" + `"id": "` + id("2") + `",` + "\n" + `"image": {` + "\n" + `"image": "sha256:` + id("1") + `"` + "\n" + `},` + "\n" + `"imageRef": "sha256:` + id("1") + `"}]}`,
			head + line("old", "b", "2")},
		{"by digest", head + line("nginx", "a", "1") + line("old", "b", "2"), "{\n" + `"imageRef": "docker.io/library/nginx@sha256:` + id("a") + `"` + "\n}", head + line("old", "b", "2")},
		{"nothing", head + line("nginx", "a", "1"), "{\n" + `"imageRef": "sha256:` + id("1") + `"` + "\n}", head},
		{"no container", head + line("old", "b", "2"), `{"containers": []}`, head + line("old", "b", "2")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			script := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in *images*) printf %%s '%s';; *) printf %%s '%s';; esac\n", tt.images, tt.containers)
			if err := os.WriteFile(filepath.Join(dir, "crictl"), []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			sh := exec.Command("sh", "-c", steps[shows].Command)
			sh.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
			if out, err := sh.CombinedOutput(); err != nil || string(out) != tt.want {
				t.Errorf("%v:\n%swant\n%s", err, out, tt.want)
			}
		})
	}
}
