package diagnose

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
)

// Another container hangs every 20 s: the headline names none for longer than 3 s after it was answered.
func TestHeadlineFollowsWhatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		n := &node{Snapshot: *healthy(5).after(began.Sub(now)).Snapshot}
		r := &faulty{lists: *n, flipped: map[string]bool{}, changed: make(chan struct{})}
		e, err := engine.New(engine.Config{Runtime: r, Look: r.look})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = e.Run(ctx) })
		live := NewLive(e.Feed(), "unix://"+ourSocket)
		const each = 20 * time.Second
		var mu sync.Mutex
		var hung int
		var since time.Time
		named := make(map[int]bool)
		running.Go(func() {
			for u, err := live.Next(ctx); err == nil; u, err = live.Next(ctx) {
				mu.Lock()
				if last := (hung + 4) % 5; !since.IsZero() {
					for i := range 5 {
						if !strings.Contains(u.Headline.Text, fmt.Sprintf("pod-%05d", i)) {
							continue
						}
						named[i] = true
						if after := u.Snapshot.At.Sub(since); i == last && after > 3*time.Second {
							t.Errorf("%v after pod %d was answered: %+v", after, last, u.Headline)
						}
					}
				}
				mu.Unlock()
				time.Sleep(100 * time.Millisecond)
			}
		})
		time.Sleep(each)
		for i := range 8 {
			id := fmt.Sprintf("container-%d-0", i%5)
			mu.Lock()
			hung = i % 5
			if i > 0 {
				since = time.Now()
			}
			mu.Unlock()
			r.set(func() {
				touch(i%5, hangsAt(func(op call.Operation, asked string) bool { return op == call.ContainerStatus && asked == id }))(r)
			})
			time.Sleep(each)
		}
		cancel()
		running.Wait()
		if len(named) < 5 {
			t.Errorf("named %v", named)
		}
	})
}
