//go:build linux

package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// runtime returns the runtime's process, after a look at what it is.
func (n *realNode) runtime() int {
	text, err := os.ReadFile(filepath.Join(runtimeDir, "pid"))
	must(n.t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	must(n.t, err)
	n.isA(pid, "containerd")
	return pid
}

func (n *realNode) isA(pid int, command string) {
	comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil || strings.TrimSpace(string(comm)) != command {
		n.t.Fatalf("process %d is %q, not %s: %v", pid, comm, command, err)
	}
}

// stop stops the runtime, and has it go on.
func (n *realNode) stop() func() {
	pid := n.runtime()
	must(n.t, syscall.Kill(pid, syscall.SIGSTOP))
	return func() { must(n.t, syscall.Kill(pid, syscall.SIGCONT)) }
}

// kill kills the runtime, and starts it again.
func (n *realNode) kill() func() {
	must(n.t, syscall.Kill(n.runtime(), syscall.SIGKILL))
	return func() {
		log, err := os.OpenFile(filepath.Join(runtimeDir, "log"), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
		must(n.t, err)
		defer log.Close()
		bin := filepath.Join(runtimeDir, "bin")
		c := exec.Command(filepath.Join(bin, "containerd"), "-c", filepath.Join(runtimeDir, "config.toml"))
		c.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		c.Stdout, c.Stderr, c.SysProcAttr = log, log, &syscall.SysProcAttr{Setsid: true}
		must(n.t, c.Start())
		must(n.t, os.WriteFile(filepath.Join(runtimeDir, "pid"), fmt.Appendln(nil, c.Process.Pid), 0o644))
		must(n.t, c.Process.Release())
	}
}

// rig gives the proxy its rules, and takes them away.
func (n *realNode) rig(rules ...string) func() {
	control := filepath.Join(kubeletDir, "ctl")
	must(n.t, os.WriteFile(control, []byte(strings.Join(rules, "\n")), 0o644))
	return func() { must(n.t, os.WriteFile(control, nil, 0o644)) }
}

// takeNetwork takes the configuration of the network away, and puts it back.
func (n *realNode) takeNetwork() func() {
	at := filepath.Join(runtimeDir, "cni", "10-rig.conflist")
	must(n.t, os.Rename(at, at+".away"))
	return func() { must(n.t, os.Rename(at+".away", at)) }
}

// hangContainers lets the status of the first container of each pod hang, and ends the
// second one, so that the pod is inspected.
func (n *realNode) hangContainers(pods ...string) func() {
	list, err := n.rt.ListContainers(n.t.Context(), &criv1.ListContainersRequest{
		Filter: &criv1.ContainerFilter{State: &criv1.ContainerStateValue{State: criv1.ContainerState_CONTAINER_RUNNING}},
	})
	must(n.t, err)
	var rules []string
	var ends []int
	for _, c := range list.Containers {
		switch pod := c.Labels["io.kubernetes.pod.name"]; {
		case !slices.Contains(pods, strings.TrimSuffix(pod, "-klnode")):
		case c.Metadata.Name == "c1":
			rules = append(rules, "hang ContainerStatus "+c.Id)
		default:
			ends = append(ends, n.workloadOf(c.Id))
		}
	}
	if len(rules) != len(pods) || len(ends) != len(pods) {
		n.t.Fatalf("%v: %d containers c1 and %d others run, want one each", pods, len(rules), len(ends))
	}
	end := n.rig(rules...)
	for _, pid := range ends {
		must(n.t, syscall.Kill(pid, syscall.SIGKILL))
	}
	return end
}

// workloadOf finds the process of a container by its cgroup.
func (n *realNode) workloadOf(id string) int {
	files, err := filepath.Glob("/proc/[0-9]*/cgroup")
	must(n.t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ESRCH) {
			n.t.Fatal(err)
		}
		if strings.Contains(string(text), id) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			must(n.t, err)
			n.isA(pid, "wl")
			return pid
		}
	}
	n.t.Fatal("no process in the cgroup of container ", id)
	return 0
}
