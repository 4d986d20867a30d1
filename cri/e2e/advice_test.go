//go:build linux

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// lookTime is what a look command has while the fault lasts.
const lookTime = 5 * time.Second

// What plegtop advises is typed, on a runtime that is sick in that way: each look returns while the
// fault lasts, the act ends the finding, and every other container keeps its process.
func TestAdviceIsTried(t *testing.T) {
	for _, tt := range []struct {
		name   string
		id     string              // of the finding
		says   string              // a pattern of what it names; empty for nothing in particular
		shows  string              // a pattern of what one look prints
		before func(node *private) // what is done before there are pods; nil for nothing
		fault  func(node *private) // on the pod "sick"
	}{
		{"a stopped shim", "process-stuck", "", " T ", nil, func(node *private) {
			_, id := node.startPod("sick", "sleep")
			node.freeze(parent(node.process(id)), "containerd-shim")
		}},
		{"a frozen group", "process-stuck", "", `\d+:\S*:/plegtop-e2e/`, nil, func(node *private) {
			_, id := node.startPod("sick", "sleep")
			node.freezeGroup(node.process(id))
		}},
		{"a runc that hangs", "list-hung|helper-stuck|inspect-hung", "", " runc\n", nil, func(node *private) { node.updateUntilKilled("sick") }},
		{"a runtime that was killed", "runtime-down", "", "", nil, func(node *private) {
			node.startPod("sick", "sleep")
			node.kill()
		}},
		{"a full disk", "disk-full", "tmpfs", `SIZE\n\S+/unused\s[^\n]*\n$`, (*private).smallStore, (*private).fillStore},
		{"a FUSE mount that hangs", "process-stuck", `/volume \(fuse\.e2e on server:/export\)`, " D request_wait_answer ", (*private).fusectl, (*private).readsVolume},
		{"a FUSE mount that hangs, without fusectl", "process-stuck", `/volume \(fuse\.e2e on server:/export\)`, " D request_wait_answer ", (*private).noFusectl, (*private).readsVolume},
	} {
		t.Run(tt.name, func(t *testing.T) {
			node := newestContainerd(t)
			if tt.before != nil {
				tt.before(node)
			}
			others := map[string]string{}
			for _, name := range []string{"first", "second"} {
				_, id := node.startPod(name, "sleep")
				pid := node.process(id)
				others[name] = fmt.Sprint(pid, " ", statField(pid, 19)) // its number and start time
			}
			tt.fault(node)
			ids := strings.Split(tt.id, "|")
			is := func(f finding) bool {
				ofMachine := f.ID == "disk-full" && !strings.Contains(f.Summary, "the runtime's data") // no other folder is on a disk of our own
				return slices.Contains(ids, f.ID) && f.Severity != "info" && f.Cause == "" && !ofMachine
			}
			var v verdict
			eventually(t, tt.id+" is found", func() bool {
				v = checkAll(t, node.socket)
				return slices.ContainsFunc(v.Findings, is)
			})
			f := v.Findings[slices.IndexFunc(v.Findings, is)]
			f.says(t, tt.says)
			tools := node.initSystem()
			var printed []string
			for _, s := range f.Next {
				if s.Kind == "look" {
					printed = append(printed, typed(t, tools, s.Command, lookTime))
				}
			}
			if !slices.ContainsFunc(printed, regexp.MustCompile(tt.shows).MatchString) {
				t.Errorf("no look shows %s: %q", tt.shows, printed)
			}
			i := slices.IndexFunc(f.Next, func(s step) bool { return s.Kind == "act" && s.Command != "" })
			if i < 0 {
				t.Fatalf("no act with a command: %+v", f.Next)
			}
			t.Logf("%s: %s", f.Summary, f.Next[i].Command)
			typed(t, tools, f.Next[i].Command, patience)
			eventually(t, "the act ends "+f.ID, func() bool { return !slices.ContainsFunc(checkAll(t, node.socket).Findings, is) })
			for name, was := range others {
				var pid int
				_, _ = fmt.Sscan(was, &pid)
				if now := fmt.Sprint(pid, " ", statField(pid, 19)); now != was {
					t.Errorf("the container of %s is %q, was %q", name, now, was)
				}
			}
		})
	}
}

// typed runs a command as a person would type it, and fails the test where it does not return in
// time. How it ends is its own affair: not every program is on every machine. It returns what is printed.
func typed(t *testing.T, tools, command string, within time.Duration) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within+time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Env = append(os.Environ(), "PATH="+tools+":"+filepath.Join(base, "bin")+":"+os.Getenv("PATH"))
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Errorf("%s does not return within %v", command, within)
	}
	t.Logf("%s: %v, %d bytes", command, err, len(out))
	return string(out)
}

// initSystem returns a folder with the commands of an init system whose one service is this
// containerd.
func (p *private) initSystem() string {
	here, err := os.Getwd()
	must(p.t, err)
	dir := p.t.TempDir()
	script := "#!/bin/sh\ncase \"$1\" in start|restart|try-restart) exec bash " + filepath.Join(here, "up") + " >/dev/null 2>&1;; esac\n"
	must(p.t, os.WriteFile(filepath.Join(dir, "systemctl"), []byte(script), 0o755))
	return dir
}

// freezeGroup freezes the control group of a process until the test ends.
func (p *private) freezeGroup(pid int) {
	lines, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	must(p.t, err)
	for line := range strings.Lines(string(lines)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		for _, f := range []struct{ file, freeze, thaw string }{
			{filepath.Join("/sys/fs/cgroup", fields[2], "cgroup.freeze"), "1", "0"},
			{filepath.Join("/sys/fs/cgroup/unified", fields[2], "cgroup.freeze"), "1", "0"},
			{filepath.Join("/sys/fs/cgroup/freezer", fields[2], "freezer.state"), "FROZEN", "THAWED"},
		} {
			if len(fields) == 3 && os.WriteFile(f.file, []byte(f.freeze), 0) == nil {
				p.t.Cleanup(func() { _ = os.WriteFile(f.file, []byte(f.thaw), 0) }) // it may be gone by then
				return
			}
		}
	}
	p.t.Skip("this machine has no control group that can be frozen")
}

// updateUntilKilled has a runc update hang until somebody ends it: the call then fails, as it may.
func (p *private) updateUntilKilled(pod string) {
	_, id := p.startPod(pod, "sleep")
	hold, done := filepath.Join(p.folder, "hang", "holds", "runc-update"), make(chan struct{})
	must(p.t, os.WriteFile(hold, []byte(id+"\n"), 0o644))
	ctx, cancel := context.WithCancel(context.WithoutCancel(p.t.Context()))
	go func() {
		defer close(done)
		_, _ = p.rt.UpdateContainerResources(ctx, &criv1.UpdateContainerResourcesRequest{ContainerId: id, Linux: &criv1.LinuxContainerResources{CpuShares: 512}})
	}()
	p.t.Cleanup(func() {
		must(p.t, os.Remove(hold))
		cancel()
		<-done
	})
	eventually(p.t, "runc update hangs", func() bool { return p.hanging(hang{program: "runc", verb: "update", id: id}) > 0 })
}

// smallStore has the data of containerd on a disk of their own until the test ends.
func (p *private) smallStore() {
	root := filepath.Join(p.folder, "root")
	must(p.t, up("down"))
	must(p.t, unix.Mount("small", root, "tmpfs", 0, "size=128m"))
	p.t.Cleanup(func() {
		must(p.t, up("down"))
		must(p.t, unix.Unmount(root, unix.MNT_DETACH))
		p.restart()
	})
	p.restart()
}

// fillStore fills that disk: an image that nothing uses takes the most of it, a file the rest.
func (p *private) fillStore() {
	var image bytes.Buffer
	must(p.t, WriteImage(&image, make([]byte, 32<<20), "docker.io/plegtop/unused:1"))
	ctr := exec.Command(filepath.Join(p.folder, "bin", "ctr"), "--address", p.socket, "--namespace", "k8s.io", "images", "import", "-")
	ctr.Stdin = &image
	if out, err := ctr.CombinedOutput(); err != nil {
		p.t.Fatalf("import an image that nothing uses: %v: %s", err, out)
	}
	rest, err := os.Create(filepath.Join(p.folder, "root", "rest"))
	must(p.t, err)
	defer rest.Close()
	p.t.Cleanup(func() { must(p.t, os.Remove(rest.Name())) })
	if _, err := rest.Write(make([]byte, 128<<20)); !errors.Is(err, unix.ENOSPC) {
		p.t.Fatal("fill the small disk: ", err)
	}
}
