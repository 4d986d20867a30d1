//go:build linux

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// lookTime is what a look command has while the fault lasts.
const lookTime = 5 * time.Second

// What plegtop advises is typed, on a runtime that is sick in that way: each look returns while the
// fault lasts, the act ends the finding, and every other container keeps its process.
func TestAdviceIsTried(t *testing.T) {
	for _, tt := range []struct {
		name  string
		id    string              // of the finding
		fault func(node *private) // on the pod "sick"
	}{
		{"a stopped shim", "process-stuck", func(node *private) {
			_, id := node.startPod("sick", "sleep")
			node.freeze(parent(node.process(id)), "containerd-shim")
		}},
		{"a frozen group", "process-stuck", func(node *private) {
			_, id := node.startPod("sick", "sleep")
			node.freezeGroup(node.process(id))
		}},
		{"a runc that hangs", "list-hung|helper-stuck|inspect-hung", func(node *private) { node.updateUntilKilled("sick") }},
		{"a runtime that was killed", "runtime-down", func(node *private) {
			node.startPod("sick", "sleep")
			node.kill()
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			node := newestContainerd(t)
			others := map[string]string{}
			for _, name := range []string{"first", "second"} {
				_, id := node.startPod(name, "sleep")
				pid := node.process(id)
				others[name] = fmt.Sprint(pid, " ", statField(pid, 19)) // its number and start time
			}
			tt.fault(node)
			ids := strings.Split(tt.id, "|")
			is := func(f finding) bool { return slices.Contains(ids, f.ID) && f.Severity != "info" && f.Cause == "" }
			var v verdict
			eventually(t, tt.id+" is found", func() bool {
				v = check(t, node.socket)
				return slices.ContainsFunc(v.Findings, is)
			})
			f := v.Findings[slices.IndexFunc(v.Findings, is)]
			tools := node.initSystem()
			for _, s := range f.Next {
				if s.Kind == "look" {
					typed(t, tools, s.Command, lookTime)
				}
			}
			i := slices.IndexFunc(f.Next, func(s step) bool { return s.Kind == "act" && s.Command != "" })
			if i < 0 {
				t.Fatalf("no act with a command: %+v", f.Next)
			}
			t.Logf("%s: %s", f.Summary, f.Next[i].Command)
			typed(t, tools, f.Next[i].Command, patience)
			eventually(t, "the act ends "+f.ID, func() bool { return !slices.ContainsFunc(check(t, node.socket).Findings, is) })
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
// time. What it prints, and how it ends, is its own affair: not every program is on every machine.
func typed(t *testing.T, tools, command string, within time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within+time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Env = append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"))
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Errorf("%s does not return within %v", command, within)
	}
	t.Logf("%s: %v, %d bytes", command, err, len(out))
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
