//go:build linux

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/cri"
	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A witness is plegtop's engine at work, with everything that it has reported.
type witness struct {
	*engine.Engine
	t *testing.T

	mu     sync.Mutex
	events []engine.Event   // guarded by mu
	newest *engine.Snapshot // guarded by mu; nil until the first one
	told   int              // events that expect has compared
}

// watch runs an engine against the runtime at socket until the test ends. It
// returns once the first relist has succeeded.
func watch(t *testing.T, socket string) *witness {
	t.Helper()
	return watchAs(t, socket, engine.Config{Period: engine.MinPeriod})
}

// watchAs is watch with settings of its own, but for the runtime.
func watchAs(t *testing.T, socket string, config engine.Config) *witness {
	t.Helper()
	client, err := cri.Dial("unix://" + socket)
	if err != nil {
		t.Fatal(err)
	}
	config.Runtime = client
	e, err := engine.New(config)
	if err != nil {
		t.Fatal(err)
	}
	w := &witness{Engine: e, t: t}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := e.Run(ctx); err != nil {
			t.Error("engine: ", err)
		}
	})
	running.Go(func() { w.follow(ctx, e.Feed()) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
		client.Close()
	})
	w.wait("the first relist has succeeded", func(s *engine.Snapshot) bool { return !s.Health.ListedAt.IsZero() })
	return w
}

func (w *witness) follow(ctx context.Context, feed *engine.Feed) {
	for {
		update, err := feed.Next(ctx)
		if err != nil {
			if !errors.Is(err, context.Canceled) && !errors.Is(err, engine.ErrStopped) {
				w.t.Error("follow the engine: ", err)
			}
			return
		}
		if update.Lost > 0 {
			w.t.Errorf("%d events were lost", update.Lost)
		}
		w.mu.Lock()
		w.events = append(w.events, update.Events...)
		w.newest = update.Snapshot
		w.mu.Unlock()
	}
}

func (w *witness) seen() (*engine.Snapshot, []engine.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.newest, w.events
}

// wait waits for a snapshot for which ok holds, and returns it.
func (w *witness) wait(what string, ok func(*engine.Snapshot) bool) *engine.Snapshot {
	w.t.Helper()
	for end := time.Now().Add(patience); ; {
		if s, _ := w.seen(); s != nil && ok(s) {
			return s
		}
		if time.Now().After(end) {
			_, events := w.seen()
			w.t.Fatalf("waited %v until %s; events so far:\n%s", patience, what, strings.Join(lines(events), "\n"))
		}
		<-time.After(10 * time.Millisecond)
	}
}

// expect waits for the next events and compares them with want, one line each,
// as [line] writes them.
func (w *witness) expect(want ...string) {
	w.t.Helper()
	w.wait(fmt.Sprintf("there were %d events more: %q", len(want), want), func(*engine.Snapshot) bool {
		_, events := w.seen()
		return len(events) >= w.told+len(want)
	})
	_, events := w.seen()
	got := lines(events[w.told : w.told+len(want)])
	w.told += len(want)
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Fatalf("events differ from what was done (-want +got):\n%s", diff)
	}
}

// expectNothing waits for whole relists that begin after now, and fails if they
// or what came before brought events that no expect has named.
func (w *witness) expectNothing() {
	w.t.Helper()
	now, _ := w.seen()
	w.wait("three more relists have succeeded", func(s *engine.Snapshot) bool {
		return s.Relists.Count-s.Relists.Failed >= now.Relists.Count-now.Relists.Failed+3
	})
	if _, events := w.seen(); len(events) > w.told {
		w.t.Fatalf("events for which nothing was done:\n%s", strings.Join(lines(events[w.told:]), "\n"))
	}
}

// expectNoMore takes the events so far as they are and expects no further ones.
func (w *witness) expectNoMore() {
	w.t.Helper()
	_, events := w.seen()
	w.told = len(events)
	w.expectNothing()
}

// pod returns what the newest snapshot holds of p.
func (w *witness) pod(p *Pod) *engine.Pod {
	w.t.Helper()
	s, _ := w.seen()
	for _, candidate := range s.Pods {
		if candidate.UID == pleg.UID(p.UID) {
			return candidate
		}
	}
	w.t.Fatalf("pod %s is not in the snapshot", p.Name)
	return nil
}

func lines(events []engine.Event) []string {
	out := make([]string, len(events))
	for i, e := range events {
		out[i] = line(e)
	}
	return out
}

// line writes what a test can foretell of an event, such as
// "ContainerDied web/main running>exited exit 3".
func line(e engine.Event) string {
	text := fmt.Sprintf("%v %s/%s %v>%v", e.Kind, e.Pod.Name, subject(e), e.From, e.To)
	if e.Exited {
		text += fmt.Sprintf(" exit %d", e.ExitCode)
	}
	if e.Delivery != pleg.Delivered {
		text += " " + e.Delivery.String()
	}
	return text
}

func subject(e engine.Event) string {
	switch {
	case e.Sandbox:
		return "sandbox"
	case e.Container == "": // an event of the pod itself
		return "pod"
	}
	return e.Container
}
