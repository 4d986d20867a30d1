//go:build linux

package e2e

import (
	"syscall"
	"testing"
	"time"
)

// must fails the test at once: what follows builds on what was done.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (p *private) runPod(name string, hostNetwork bool) *Pod {
	p.t.Helper()
	pod, err := p.RunPod(p.t.Context(), name, hostNetwork)
	must(p.t, err)
	return pod
}

func (p *private) create(pod *Pod, c Container) string {
	p.t.Helper()
	id, err := p.Create(p.t.Context(), pod, c)
	must(p.t, err)
	return id
}

// running makes a pod with one running container named main and lets the
// witness see each step.
func (p *private) running(w *witness, name string, args ...string) (*Pod, string) {
	p.t.Helper()
	pod := p.runPod(name, true)
	w.expect("ContainerStarted " + name + "/sandbox absent>running")
	return pod, p.run(w, pod, Container{Name: "main", Args: args})
}

// run creates and starts a container and lets the witness see both.
func (p *private) run(w *witness, pod *Pod, c Container) string {
	p.t.Helper()
	id := p.create(pod, c)
	w.expect("ContainerChanged " + pod.Name + "/" + c.Name + " absent>created filtered")
	must(p.t, p.Start(p.t.Context(), id))
	w.expect("ContainerStarted " + pod.Name + "/" + c.Name + " created>running")
	return id
}

// The whole life of a pod, with a container that ends well, fails, is started
// again, and goes.
func TestLifeOfAPod(t *testing.T) {
	node := containerd(t)
	w := watch(t, node.socket)
	pod := node.runPod("web", true)
	w.expect("ContainerStarted web/sandbox absent>running")
	side := node.run(w, pod, Container{Name: "side", Args: []string{"sleep"}})

	for attempt, end := range []struct{ args, line string }{
		{"0", "ContainerDied web/job running>exited exit 0"},
		{"3", "ContainerDied web/job running>exited exit 3"},
	} {
		job := node.run(w, pod, Container{Name: "job", Attempt: uint32(attempt), Args: []string{"exit", end.args, "4"}})
		w.expect(end.line)
		must(t, node.Remove(t.Context(), job))
		w.expect("ContainerRemoved web/job exited>absent")
	}
	must(t, node.Stop(t.Context(), side, 30*time.Second))
	w.expect("ContainerDied web/side running>exited exit 143")
	must(t, node.StopPod(t.Context(), pod))
	w.expect("ContainerDied web/sandbox running>exited")
	must(t, node.RemovePod(t.Context(), pod))
	w.expect("ContainerRemoved web/side exited>absent", "ContainerRemoved web/sandbox exited>absent")
	w.expectNothing()
}

// A container that has come and gone between two relists has died all the same.
func TestEndedBeforeItWasSeen(t *testing.T) {
	node := containerd(t)
	w := watch(t, node.socket)
	pod := node.runPod("quick", true)
	w.expect("ContainerStarted quick/sandbox absent>running")
	w.Pause()
	w.wait("the engine stands still", stoodStill)
	id := node.create(pod, Container{Name: "main", Args: []string{"exit", "3"}})
	must(t, node.Start(t.Context(), id))
	node.waitForExit(id)
	w.Resume()
	w.expect("ContainerDied quick/main absent>exited exit 3")
	w.expectNothing()
}

// A pod that is stopped and removed between two relists was never seen stopped.
// It has ended and gone all the same, each container and sandbox in turn.
func TestRunningPodVanishes(t *testing.T) {
	node := containerd(t)
	w := watch(t, node.socket)
	pod, _ := node.running(w, "gone", "sleep")
	w.Pause()
	w.wait("the engine stands still", stoodStill)
	must(t, node.StopPod(t.Context(), pod))
	must(t, node.RemovePod(t.Context(), pod))
	w.Resume()
	w.expect(
		"ContainerDied gone/main running>exited", "ContainerRemoved gone/main exited>absent",
		"ContainerDied gone/sandbox running>exited", "ContainerRemoved gone/sandbox exited>absent",
	)
	w.expectNothing()
}

func TestSIGKILL(t *testing.T) {
	node := containerd(t)
	w := watch(t, node.socket)
	_, id := node.running(w, "victim", "stubborn")
	node.signal(node.process(id), "workload", syscall.SIGKILL)
	w.expect("ContainerDied victim/main running>exited exit 137")
	w.expectNothing()
}

// A container that ignores SIGTERM is killed when its grace time is over.
func TestStubbornContainer(t *testing.T) {
	node := containerd(t)
	w := watch(t, node.socket)
	_, id := node.running(w, "stubborn", "stubborn")
	must(t, node.Stop(t.Context(), id, time.Second))
	w.expect("ContainerDied stubborn/main running>exited exit 137")
	w.expectNothing()
}

func TestOutOfMemory(t *testing.T) {
	node := containerd(t)
	w := watch(t, node.socket)
	pod := node.runPod("hungry", true)
	w.expect("ContainerStarted hungry/sandbox absent>running")
	w.Pause() // it may end within a few milliseconds
	w.wait("the engine stands still", stoodStill)
	id := node.create(pod, Container{Name: "main", Args: []string{"hog"}, Memory: 32 << 20})
	must(t, node.Start(t.Context(), id))
	node.waitForExit(id)
	w.Resume()
	w.expect("ContainerDied hungry/main absent>exited exit 137")
	if _, events := w.seen(); events[len(events)-1].Reason != "OOMKilled" {
		t.Errorf("reason = %q, want OOMKilled", events[len(events)-1].Reason)
	}
	w.expectNothing()
}

// A pod on a network of its own has an address; the inspection finds it.
func TestPodHasItsAddress(t *testing.T) {
	node := containerd(t)
	w := watch(t, node.socket)
	pod := node.runPod("net", false)
	w.expect("ContainerStarted net/sandbox absent>running")
	if seen := w.pod(pod); seen.Status == nil || len(seen.Status.IPs) != 1 {
		t.Errorf("pod status = %+v, want one address", seen.Status)
	}
}
