//go:build linux

package e2e

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// A hang is a program of the runtime's that does not come to its end, as the
// script hang makes it.
type hang struct {
	program, verb string // as runc and update; a network plugin's verb is ADD or DEL
	pod           string
	id            string // of the container, or of the sandbox; empty of one that is only being made
	pid           int    // the script's
}

// hangs has a program stand still at its verb, for that container if one is named, until the
// test ends, and has it called by do, which comes back when the program goes on.
func (p *private) hangs(h hang, do func(context.Context) error) hang {
	p.t.Helper()
	hold := filepath.Join(p.folder, "hang", "holds", h.program+"-"+h.verb)
	must(p.t, os.WriteFile(hold, []byte(h.id+"\n"), 0o644))
	returned := make(chan error, 1)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.t.Context()), 2*patience)
	go func() { returned <- do(ctx) }()
	p.t.Cleanup(func() {
		defer cancel()
		must(p.t, os.Remove(hold))
		if err := <-returned; err != nil {
			p.t.Errorf("%s %s once it goes on: %v", h.program, h.verb, err)
		}
	})
	eventually(p.t, h.program+" "+h.verb+" hangs", func() bool {
		h.pid = p.hanging(h)
		return h.pid > 0
	})
	return h
}

// hanging returns the process that hangs; 0 if there is none yet.
func (p *private) hanging(h hang) int {
	script := []byte("\x00" + filepath.Join(p.folder, "hang", h.program) + "\x00")
	for _, pid := range processes(p.t) {
		args, _ := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
		env, _ := os.ReadFile(filepath.Join("/proc", pid, "environ"))
		if !bytes.Contains(args, script) || !bytes.Contains(append(args, env...), []byte(h.id)) {
			continue
		}
		if h.verb == "" || bytes.Contains(args, []byte("\x00"+h.verb+"\x00")) || bytes.Contains(env, []byte("CNI_COMMAND="+h.verb+"\x00")) {
			return number(pid)
		}
	}
	return 0
}

// processes returns the ids of all.
func processes(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*")
	must(t, err)
	for i, f := range files {
		files[i] = filepath.Base(f)
	}
	return files
}

// update hangs as the kubelet changes the limits of a container: containerd holds the container's
// status meanwhile.
func (p *private) update(pod string) hang {
	_, id := p.startPod(pod, "sleep")
	return p.hangs(hang{program: "runc", verb: "update", pod: pod, id: id}, func(ctx context.Context) error {
		_, err := p.rt.UpdateContainerResources(ctx, &criv1.UpdateContainerResourcesRequest{
			ContainerId: id, Linux: &criv1.LinuxContainerResources{CpuShares: 512},
		})
		return err
	})
}

// stopHangs hangs as the kubelet stops a container, at one of the steps of that. A program that has
// just begun may not hear that it is to end: it gets a second.
func (p *private) stopHangs(program, verb, pod string) hang {
	_, id := p.startPod(pod, "sleep")
	return p.hangs(hang{program: program, verb: verb, pod: pod, id: id}, func(ctx context.Context) error { return p.Stop(ctx, id, time.Second) })
}

// startHangs hangs as the kubelet starts a container.
func (p *private) startHangs(verb, pod string) hang {
	made := p.runPod(pod, true)
	id := p.create(made, Container{Name: "main", Args: []string{"sleep"}})
	return p.hangs(hang{program: "runc", verb: verb, pod: pod, id: id}, func(ctx context.Context) error { return p.Start(ctx, id) })
}

// networkHangs hangs as the kubelet makes a pod with a network of its own, or takes it away.
func (p *private) networkHangs(verb, pod string) hang {
	if verb == "ADD" {
		return p.hangs(hang{program: "ptp", verb: verb, pod: pod}, func(ctx context.Context) error {
			_, err := p.RunPod(ctx, pod, false)
			return err
		})
	}
	made := p.runPod(pod, false)
	h := hang{program: "ptp", verb: verb, pod: pod, id: made.Sandbox}
	return p.hangs(h, func(ctx context.Context) error { return p.StopPod(ctx, made) })
}

// helper is what plegtop calls the program and what it does.
func (h hang) helper() string {
	switch {
	case h.program == "runc":
		return "runc " + h.verb
	case h.verb == "":
		return h.program
	}
	return "CNI " + h.verb
}

func number(text string) (n int) {
	for _, r := range strings.TrimSpace(text) {
		n = n*10 + int(r-'0')
	}
	return n
}
