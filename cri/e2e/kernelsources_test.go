//go:build linux

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/host"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A hearer hears what the kernel says of containers, with the time of each.
type hearer struct {
	mu    sync.Mutex
	heard map[pleg.Upstream]time.Time // guarded by mu
	twice []pleg.Upstream             // guarded by mu
}

// listenTo begins to hear what a source says, until the test ends.
func listenTo(t *testing.T, run func(context.Context, func(pleg.Upstream)) error) *hearer {
	l := &hearer{heard: map[pleg.Upstream]time.Time{}}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := run(ctx, l.deliver); ctx.Err() == nil {
			t.Error("the source has ended: ", err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	return l
}

func (l *hearer) deliver(u pleg.Upstream) {
	now := time.Now()
	u.Ran = 0 // differs from one to the next
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, again := l.heard[u]; again {
		l.twice = append(l.twice, u)
	}
	l.heard[u] = now
}

// at returns when something was heard; zero if it was not.
func (l *hearer) at(signal pleg.Signal, id string) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.heard[pleg.Upstream{Signal: signal, ID: id}]
}

// await returns when something was heard, after the time since.
func (l *hearer) await(t *testing.T, signal pleg.Signal, id string, since time.Time) time.Duration {
	t.Helper()
	eventually(t, signal.String()+" is heard of "+id, func() bool { return !l.at(signal, id).IsZero() })
	return l.at(signal, id).Sub(since)
}

// deathOf returns the moment of a process's end, as this process itself sees it: a busy
// machine takes its time also to end a process.
func deathOf(t *testing.T, pid int) <-chan time.Time {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	must(t, err)
	died := make(chan time.Time, 1)
	go func() {
		defer unix.Close(fd)
		for n := 0; n == 0; {
			n, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
			n = max(n, 0) // it was interrupted
		}
		died <- time.Now()
	}()
	return died
}

// The kernel tells starts and ends as they happen, and ends also while every call to the
// runtime hangs, by the control groups. It tells each once, and of all containers.
func TestKernelTellsWhatTheRuntimeDoesNot(t *testing.T) {
	node := containerd(t)
	_, old := node.startPod("old", "stubborn")
	n, err := host.New(host.Config{Endpoint: "unix://" + node.socket})
	must(t, err)
	groups := listenTo(t, n.Cgroups)
	var pod *Pod
	wait := 200 * time.Millisecond
	eventually(t, "a start is heard", func() bool { // what is there when it begins is not told
		pod, wait = node.runPod("kernel", true), 2*wait
		heard := func() bool { return !groups.at(pleg.SignalStarted, pod.Sandbox).IsZero() }
		for late := time.Now().Add(wait); !heard() && time.Now().Before(late); {
			<-time.After(10 * time.Millisecond)
		}
		return heard()
	})
	var took []time.Duration
	for round := range 20 {
		began := time.Now()
		id, err := node.Run(t.Context(), pod, Container{Name: "main", Attempt: uint32(round), Args: []string{"stubborn"}})
		must(t, err)
		if after := groups.await(t, pleg.SignalStarted, id, began); after > time.Since(began) {
			t.Errorf("round %d: the start is told %v after it was asked for", round, after)
		}
		process := node.process(id)
		eventually(t, "the workload runs", func() bool { return named(process, "workload") })
		if round%2 == 1 {
			node.freeze(node.pid(), "containerd") // every call hangs
		}
		if !groups.at(pleg.SignalStopped, id).IsZero() {
			t.Errorf("round %d: an end is told of what lives", round)
		}
		died := deathOf(t, process)
		node.signal(process, "workload", syscall.SIGKILL)
		killed := <-died
		took = append(took, groups.await(t, pleg.SignalStopped, id, killed))
		if round%2 == 1 {
			node.signal(node.pid(), "containerd", syscall.SIGCONT)
		}
	}
	began := time.Now()
	node.signal(node.process(old), "workload", syscall.SIGKILL) // was there before
	groups.await(t, pleg.SignalStopped, old, began)
	must(t, node.StopPod(t.Context(), pod))
	groups.await(t, pleg.SignalStopped, pod.Sandbox, began)
	slices.Sort(took) // nobody judges it: a busy machine is no fault
	t.Logf("a death is told after %v (median of %d), at most %v", took[len(took)/2], len(took), took[len(took)-1])
	if len(groups.twice) > 0 {
		t.Errorf("told twice: %v", groups.twice)
	}
}

// Through watch: each transition is seen by the kernel and by the relist and told once, and a
// death while every call hangs is told as what the kubelet cannot see. Nobody watches anything
// unasked.
func TestWatchHearsTheKernel(t *testing.T) {
	node := containerd(t)
	_, id := node.startPod("patient", "stubborn")
	w := watchJSON(t, node.socket)
	w.catchesUp(node)
	if n := watchers(t, w.cmd.Process.Pid); n != 0 {
		t.Errorf("without --events it has %d watchers open", n)
	}
	w.interrupt()

	w = watchJSON(t, node.socket, "--events=cgroup")
	w.connected(1)
	if n := watchers(t, w.cmd.Process.Pid); n != 1 {
		t.Errorf("it has %d watchers open, want 1", n)
	}
	told := w.tellsOnce(node, node.shuffle(rand.New(rand.NewPCG(5, 1)), 20))
	by := map[string]int{}
	for _, l := range told {
		by[l.SeenBy]++
	}
	t.Logf("first seen by: %v", by)

	process := node.process(id)
	node.freeze(node.pid(), "containerd")
	killed := time.Now()
	node.signal(process, "workload", syscall.SIGKILL)
	unseen := func(all []watchLine) []watchLine {
		return slices.DeleteFunc(linesOf(all, []deed{{id, pleg.SignalStopped}}), func(l watchLine) bool { return l.Delivery != "unseen" })
	}
	w.wait("the death is told as unseen", func(all []watchLine) bool { return len(unseen(all)) > 0 })
	l := unseen(w.said(""))[0]
	t.Logf("%s saw it after %v: %s", l.SeenBy, l.Time.Sub(killed), l.text)
	if l.SeenBy != "cgroup" || l.Time.Sub(killed) > time.Second {
		t.Errorf("seen by %s after %v", l.SeenBy, l.Time.Sub(killed))
	}
	node.signal(node.pid(), "containerd", syscall.SIGCONT)
	w.wait("the relist tells it", func(all []watchLine) bool { return len(linesOf(all, []deed{{id, pleg.SignalStopped}})) > 1 })
	w.interrupt()
	w.holdsSchema()
	for _, l := range append(w.said("source"), w.said("drift")...) {
		t.Log(l.text)
	}
}

// watchers returns how many inotify watchers a process has open.
func watchers(t *testing.T, pid int) (n int) {
	t.Helper()
	all, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	must(t, err)
	for _, path := range all {
		if target, _ := os.Readlink(path); target == "anon_inode:inotify" {
			n++
		}
	}
	return n
}
