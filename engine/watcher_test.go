package engine_test

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A watcher reads all that plegtop publishes. What the kubelet is said to post must come when it was foretold.
type watcher struct {
	t    testing.TB
	over sync.WaitGroup

	mu       sync.Mutex
	snapshot *engine.Snapshot
	events   []engine.Event // not shown yet
	history  []change       // not shown yet
	foretold kubelet.Posting
	acted    time.Time // when a command was last obeyed

	network   []engine.Event // not shown yet
	slowest   time.Duration  // from when an event was seen until it was read, at most
	counted   uint64         // the snapshot up to which they were counted
	countedAt time.Time
}

// A change is something that began to be so.
type change struct {
	at   time.Time // zero where no rule gives it
	text string
}

func (w *watcher) begin(t testing.TB, e *engine.Engine) {
	w.t, w.snapshot = t, nil
	feed := e.Feed()
	w.over.Go(func() {
		for {
			u, err := feed.Next(context.Background())
			if err != nil {
				return
			}
			w.take(u)
		}
	})
}

func (w *watcher) take(u engine.Update) {
	w.mu.Lock()
	defer w.mu.Unlock()
	was, now := w.snapshot, u.Snapshot
	w.snapshot = now
	for _, e := range u.Events {
		if w.slowest = max(w.slowest, time.Since(e.SeenAt)); e.Delivery == pleg.Derived {
			w.network = append(w.network, e)
		} else {
			w.events = append(w.events, e)
		}
	}
	if was == nil {
		return
	}
	note := func(what string) {
		text, at, _ := describe(now, what)
		if !strings.HasSuffix(what, "healthy") && what != "loop-stopped" { // no rule gives the moment
			at = time.Time{}
		}
		w.history = append(w.history, change{at, text})
	}
	if loop := !now.Node.LoopStopped.IsZero(); loop != !was.Node.LoopStopped.IsZero() {
		note(map[bool]string{true: "loop-stopped", false: "loop-works"}[loop])
	}
	if now.Health.Healthy != was.Health.Healthy {
		note(map[bool]string{true: "healthy", false: "unhealthy"}[now.Health.Healthy])
	}
	if ready := now.Node.Ready; ready != was.Node.Ready {
		note(map[bool]string{true: "ready", false: "not-ready"}[ready])
		if p := w.foretold; p.Ready == ready && !p.From.IsZero() && (now.Node.Since.Before(p.From) || now.Node.Since.After(p.To)) {
			w.t.Errorf("Ready=%v was posted at %v, foretold between %v and %v", ready, now.Node.Since, p.From, p.To)
		}
	}
	if w.foretold = now.Node.Next; time.Since(w.acted) < time.Second { // what goes on has changed, and may not be known yet
		w.foretold = kubelet.Posting{}
	}
}

// forget drops what was foretold: a command has changed what goes on.
func (w *watcher) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.acted, w.foretold = time.Now(), kubelet.Posting{}
}

// state returns whether something is so now, since when, and in words.
func (w *watcher) state(what string) (text string, since time.Time, so bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return describe(w.snapshot, what)
}

func describe(s *engine.Snapshot, what string) (text string, since time.Time, so bool) {
	n, h := s.Node, s.Health
	switch what {
	case "not-ready":
		return "NotReady: " + ages.ReplaceAllString(n.Message, someAge), n.Since, !n.Ready
	case "ready":
		return "Ready", n.Since, n.Ready
	case "loop-stopped":
		return "the sync loop skips everything", n.LoopStopped, !n.LoopStopped.IsZero()
	case "loop-works":
		return "the sync loop works", s.At, n.LoopStopped.IsZero() && n.LoopHeld.IsZero()
	case "unhealthy":
		return "PLEG is not healthy", h.Since, !h.Healthy
	case "healthy":
		return "PLEG is healthy", h.Since, h.Healthy
	}
	panic("there is no " + what)
}

// ages finds the age of the list in a text of the kubelet. A condition has that of its posting, which is at no certain moment.
var ages = regexp.MustCompile(`active \S+ ago`)

const someAge = "active N ago"
