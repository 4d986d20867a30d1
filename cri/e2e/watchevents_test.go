//go:build linux

package e2e

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/cri/sim"
	"github.com/plegtop/plegtop/engine/pleg"
)

const transitions = 50

// With the event stream each transition is seen long before a relist could, told once,
// and nothing but the stream was asked for besides. Without it nobody asks for it.
func TestEventsAreSeenAtOnce(t *testing.T) {
	node := newestContainerd(t)
	off := record(t, node.socket)
	w := watchJSON(t, off.socket)
	done := node.shuffle(rand.New(rand.NewPCG(2, 1)), transitions)
	w.catchesUp(node)
	without := lags(linesOf(w.said(""), done))
	checkReadOnly(t, off.requests())
	w.interrupt()
	node.clear()

	on := record(t, node.socket)
	w = watchJSON(t, on.socket, "--events=cri")
	w.connected(1)
	told := w.tellsOnce(node, node.shuffle(rand.New(rand.NewPCG(2, 2)), transitions))
	t.Logf("it took %v to end", w.interrupt())
	w.holdsSchema()
	checkReadOnly(t, on.requests(), criv1.RuntimeService_GetContainerEvents_FullMethodName)
	if ever, open, most := on.streams(); ever != 1 || open != 0 || most != 1 {
		t.Errorf("%d streams, %d open, %d at a time; want one, that is closed", ever, open, most)
	}

	first := 0
	for _, l := range told {
		if l.SeenBy == "cri" {
			first++
		}
	}
	with := lags(told)
	t.Logf("without: %s", spread(without))
	t.Logf("with: %s; the stream was first in %d of %d", spread(with), first, len(told))
	for _, l := range w.said("drift") {
		t.Log(l.text)
	}
	before, _ := quantiles(without)
	if p50, _ := quantiles(with); first < len(told)*9/10 || p50 > before/5 {
		t.Errorf("the stream was first in %d of %d, median lag %v", first, len(told), p50)
	}
}

// The kubelet's evented mode, on a runtime and a stream that break: nothing is told twice,
// nothing is lost, and there are never two streams.
func TestEventsOfBrokenStreams(t *testing.T) {
	for name, args := range map[string][]string{
		"generic": {"--events=cri"}, "evented": {"--mode", "evented", "--kubelet-version", "1.37"},
		"evented and observing": {"--mode", "evented", "--kubelet-version", "1.37", "--events=cri"},
	} {
		t.Run(name, func(t *testing.T) {
			node := newestContainerd(t)
			between := record(t, node.socket)
			w := watchJSON(t, between.socket, args...)
			w.connected(1)
			random := rand.New(rand.NewPCG(3, 1))
			done := node.shuffle(random, transitions)
			w.tellsOnce(node, done)

			between.cut()
			done = append(done, node.shuffle(random, 10)...)
			w.tellsOnce(node, done)
			w.connected(2)

			_, id := node.startPod("survivor", "stubborn")
			w.tells(deed{id, pleg.SignalStarted})
			process := node.process(id)
			before := len(w.said("source"))
			node.kill()
			node.signal(process, "workload", syscall.SIGKILL)
			state := "fell-back" // as a kubelet does, whose five attempts are over at once
			if name == "generic" {
				state = "lost"
			}
			w.wait("the stream is "+state, func([]watchLine) bool {
				return slices.ContainsFunc(w.said("source")[before:], func(l watchLine) bool { return l.State == state })
			})
			eventually(t, "the workload has ended", func() bool { return !alive(process) })
			node.restart()
			done = append(done, deed{id, pleg.SignalStarted}, deed{id, pleg.SignalStopped})
			w.tellsOnce(node, done)
			if name != "evented" {
				w.connected(3)
				w.tellsOnce(node, append(done, node.shuffle(random, 10)...))
			}
			w.interrupt()
			w.holdsSchema()
			if _, _, most := between.streams(); most != 1 {
				t.Errorf("%d streams at a time", most)
			}
			for _, l := range append(w.said("source"), w.said("drift")...) {
				t.Log(l.text)
			}
		})
	}
}

// A reader of the output that stands still for a while makes nobody wait: not the
// runtime, and not whoever ends the program.
func TestReaderThatStandsStill(t *testing.T) {
	if !enabled {
		t.Skip("set PLEGTOP_E2E=1: it takes a while, and a processor")
	}
	for name, most := range map[string]time.Duration{"tour": 200 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			server, err := sim.Start(t.Context(), sim.Config{Scenario: name, Seed: 1, Dir: os.TempDir()})
			must(t, err)
			defer server.Close()
			between := record(t, filepath.FromSlash(server.Endpoint()[len("unix://"):]))
			w := startWatch(t, between.socket, "--events=cri")
			<-time.After(7 * time.Second)
			go w.follow()
			w.connected(1)
			memory := peak(t, w.cmd.Process.Pid)
			t.Logf("it took %v to end", w.interrupt())
			t.Logf("longest Send %v, %d MB", between.longestSend(), memory>>20)
			if between.longestSend() > most || memory > 150<<20 {
				t.Errorf("the runtime was blocked for %v, want %v at most, and 150 MB", between.longestSend(), most)
			}
			for _, l := range append(w.said("source"), w.said("drift")...) {
				t.Log(l.text)
			}
		})
	}
}
