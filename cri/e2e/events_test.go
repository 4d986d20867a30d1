//go:build linux

package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/cri"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A told is one event of the runtime's stream, with when it came.
type told struct {
	pleg.Upstream
	at time.Time
}

// A reader follows the runtime's event stream as plegtop does.
type reader struct {
	t    *testing.T
	end  context.CancelFunc
	over chan error // why it ended

	mu   sync.Mutex
	told []told // guarded by mu
}

func listen(t *testing.T, socket string) *reader {
	t.Helper()
	client, err := cri.Dial("unix://" + socket)
	must(t, err)
	t.Cleanup(func() { client.Close() })
	l := &reader{t: t, over: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	l.end = cancel
	t.Cleanup(cancel)
	t.Cleanup(func() {
		for _, u := range l.seen() {
			if t.Failed() {
				t.Logf("%v: %v of %q, %d skipped", u.at.Format(time.StampMilli), u.Signal, u.ID, u.Skipped)
			}
		}
	})
	go func() { l.over <- client.Events(ctx, l.take) }()
	return l
}

func (l *reader) take(u pleg.Upstream) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = append(l.told, told{u, now})
}

func (l *reader) seen() []told {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.told)
}

// of waits until so much was told of an id, and returns what.
func (l *reader) of(id string, want ...pleg.Signal) []told {
	l.t.Helper()
	var of []told
	var got []pleg.Signal
	eventually(l.t, fmt.Sprintf("%d events of %s came", len(want), id), func() bool {
		of, got = nil, nil
		for _, u := range l.seen() {
			if u.ID == id {
				of, got = append(of, u), append(got, u.Signal)
			}
		}
		return len(of) >= len(want)
	})
	if diff := cmp.Diff(want, got); diff != "" {
		l.t.Errorf("events of %s (-want +got):\n%s", id, diff)
	}
	return of
}

// catchUp returns when the stream tells of what happens now. containerd sends first what it
// has kept of the last 5 minutes, and of thousands of containers that is more than plegtop
// reads at once.
func (l *reader) catchUp(node *private) {
	l.t.Helper()
	ran := map[string]bool{}
	eventually(l.t, "the stream tells of what happens now", func() bool {
		ran[node.runPod(fmt.Sprintf("now-%d", len(ran)), true).Sandbox] = true
		return slices.ContainsFunc(l.seen(), func(u told) bool { return ran[u.ID] })
	})
}

// The stream tells each step of a pod's life once, with the status that it led to.
func TestEventStreamOfAPod(t *testing.T) {
	node := newestContainerd(t)
	between := record(t, node.socket)
	l := listen(t, between.socket)
	eventually(t, "the stream is open", func() bool { _, open, _ := between.streams(); return open == 1 })
	l.catchUp(node)

	pod, id := node.startPod("told", "exit", "3", "1")
	node.waitForExit(id)
	must(t, node.StopPod(t.Context(), pod))
	must(t, node.Remove(t.Context(), id))
	must(t, node.RemovePod(t.Context(), pod))

	whole := []pleg.Signal{pleg.SignalCreated, pleg.SignalStarted, pleg.SignalStopped, pleg.SignalDeleted}
	l.of(pod.Sandbox, whole...)
	events := l.of(id, whole...)
	for i, u := range events[:3] {
		if u.Status == nil || len(u.Status.Containers) != 1 || len(u.Status.Sandboxes) != 1 || string(u.Pod.UID) != pod.UID {
			t.Fatalf("%v: status %+v of pod %v", u.Signal, u.Status, u.Pod)
		}
		want := []pleg.State{pleg.Created, pleg.Running, pleg.Exited}[i]
		if c := u.Status.Containers[0]; c.ID != id || c.State != want {
			t.Errorf("%v: container %+v, want it %v", u.Signal, c, want)
		}
	}
	if c := events[2].Status.Containers[0]; c.ExitCode != 3 {
		t.Errorf("exit code %d, want 3", c.ExitCode)
	}

	l.end()
	if err := <-l.over; !errors.Is(err, context.Canceled) {
		t.Errorf("the stream ended with %v", err)
	}
	eventually(t, "the runtime's side is over", func() bool { _, open, _ := between.streams(); return open == 0 })
}

// When the runtime dies its stream ends at once, and when it is back there is a new one.
func TestEventStreamEndsWithContainerd(t *testing.T) {
	node := newestContainerd(t)
	l := listen(t, node.socket)
	_, id := node.startPod("survivor", "stubborn")
	l.of(id, pleg.SignalCreated, pleg.SignalStarted)
	began := time.Now()
	node.kill()
	select {
	case err := <-l.over:
		if t.Logf("the stream ended after %v", time.Since(began)); !errors.Is(err, call.ErrUnavailable) {
			t.Errorf("the stream ended with %v", err)
		}
	case <-time.After(patience):
		t.Fatalf("the stream is open %v after its runtime has ended", patience)
	}
	node.restart()
	l = listen(t, node.socket)
	node.signal(node.process(id), "workload", syscall.SIGKILL)
	l.of(id, pleg.SignalStopped)
}

// How late events are: by the runtime's own clock, after what they tell of. This is what
// plegtop can do at best.
func TestEventStreamIsQuick(t *testing.T) {
	node := newestContainerd(t)
	l := listen(t, node.socket)
	done := node.shuffle(rand.New(rand.NewPCG(1, 1)), 50)
	var sent, happened []time.Duration
	for _, d := range done {
		eventually(t, fmt.Sprintf("%v of %s was told", d.signal, d.id), func() bool {
			return slices.ContainsFunc(l.seen(), func(u told) bool { return u.ID == d.id && u.Signal == d.signal })
		})
	}
	for _, u := range l.seen() {
		if !slices.ContainsFunc(done, func(d deed) bool { return d.id == u.ID && d.signal == u.Signal }) {
			continue
		}
		sent = append(sent, u.at.Sub(u.At))
		if at := u.happened(); !at.IsZero() {
			happened = append(happened, u.at.Sub(at))
		}
	}
	if len(sent) != len(done) {
		t.Errorf("%d events of %d transitions", len(sent), len(done))
	}
	t.Logf("after the runtime made the event: %s", spread(sent))
	t.Logf("after it happened, by the container's status: %s", spread(happened))
	if p50, _ := quantiles(sent); p50 > 20*time.Millisecond {
		t.Errorf("half of the events came later than %v", p50)
	}
}

// happened returns when it happened by the status in the event, zero if that does not say.
func (u told) happened() time.Time {
	if u.Status != nil {
		for _, c := range u.Status.Containers {
			switch {
			case c.ID == u.ID && u.Signal == pleg.SignalStarted:
				return c.StartedAt
			case c.ID == u.ID && u.Signal == pleg.SignalStopped:
				return c.FinishedAt
			}
		}
	}
	return time.Time{}
}

// A deed is a transition that a test has brought about.
type deed struct {
	id     string
	signal pleg.Signal
}

// shuffle brings about n transitions of containers, in random order and at random moments.
func (p *private) shuffle(random *rand.Rand, n int) (done []deed) {
	p.t.Helper()
	pods := []*Pod{p.runPod("shuffled-0", true), p.runPod("shuffled-1", true), p.runPod("shuffled-2", true)}
	var running, dead []string
	for attempt := uint32(0); len(done) < n; attempt++ {
		<-time.After(time.Duration(20+random.IntN(400)) * time.Millisecond)
		var next deed
		switch at := random.IntN(3); {
		case at == 0 && len(dead) > 0:
			next = deed{pick(random, &dead), pleg.SignalDeleted}
			must(p.t, p.Remove(p.t.Context(), next.id))
		case at == 1 && len(running) > 0:
			next = deed{pick(random, &running), pleg.SignalStopped}
			p.signal(p.process(next.id), "workload", syscall.SIGKILL)
			p.waitForExit(next.id)
			dead = append(dead, next.id)
		default:
			id, err := p.Run(p.t.Context(), pods[random.IntN(len(pods))], Container{Name: "main", Attempt: attempt, Args: []string{"stubborn"}})
			must(p.t, err)
			next = deed{id, pleg.SignalStarted}
			running = append(running, id)
		}
		done = append(done, next)
	}
	return done
}

// pick takes one of all.
func pick(random *rand.Rand, all *[]string) string {
	i := random.IntN(len(*all))
	one := (*all)[i]
	*all = slices.Delete(*all, i, i+1)
	return one
}

// quantiles returns what half and 99 of 100 are below.
func quantiles(all []time.Duration) (p50, p99 time.Duration) {
	if len(all) == 0 {
		return 0, 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2], sorted[min(len(sorted)-1, len(sorted)*99/100)]
}

func spread(all []time.Duration) string {
	p50, p99 := quantiles(all)
	return fmt.Sprintf("%d, median %v, p99 %v", len(all), p50.Round(time.Microsecond), p99.Round(time.Microsecond))
}
