//go:build linux

package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	manyPods      = 16
	containersPer = 2
	objects       = manyPods * (containersPer + 1) // sandboxes included
)

// Pods that come, end and go together: whatever a relist catches of each, its
// events are one unbroken chain from absent to absent, each step once.
func TestManyPodsAtOnce(t *testing.T) {
	node := containerd(t)
	w := watch(t, node.socket)
	pods, ids := node.makeMany()
	w.waitForKind(pleg.Started, objects)
	node.inParallel(len(ids), func(i int) error { return node.Stop(t.Context(), ids[i], 30*time.Second) })
	w.waitForKind(pleg.Died, len(ids))
	node.inParallel(len(pods), func(i int) error {
		if err := node.StopPod(t.Context(), pods[i]); err != nil {
			return err
		}
		return node.RemovePod(t.Context(), pods[i])
	})
	w.waitForKind(pleg.Removed, objects)
	w.expectNoMore()
	w.checkChains()
}

// makeMany makes all pods and their containers, a few at a time.
func (p *private) makeMany() ([]*Pod, []string) {
	p.t.Helper()
	pods := make([]*Pod, manyPods)
	ids := make([]string, manyPods*containersPer)
	p.inParallel(manyPods, func(i int) (err error) {
		if pods[i], err = p.RunPod(p.t.Context(), fmt.Sprintf("many-%02d", i), true); err != nil {
			return err
		}
		for j := range containersPer {
			c := Container{Name: fmt.Sprintf("c%d", j), Args: []string{"sleep"}}
			if ids[i*containersPer+j], err = p.Run(p.t.Context(), pods[i], c); err != nil {
				return err
			}
		}
		return nil
	})
	return pods, ids
}

func (p *private) inParallel(n int, do func(i int) error) {
	p.t.Helper()
	var g errgroup.Group
	g.SetLimit(4)
	for i := range n {
		g.Go(func() error { return do(i) })
	}
	must(p.t, g.Wait())
}

func (w *witness) waitForKind(k pleg.Kind, n int) {
	w.t.Helper()
	w.wait(fmt.Sprintf("there are %d events %v", n, k), func(*engine.Snapshot) bool {
		_, events := w.seen()
		return len(delivered(events, k)) >= n
	})
}

func delivered(events []engine.Event, k pleg.Kind) (of []engine.Event) {
	for _, e := range events {
		if e.Kind == k && e.Delivery == pleg.Delivered {
			of = append(of, e)
		}
	}
	return of
}

// checkChains holds the events of each object against the only life it had.
func (w *witness) checkChains() {
	w.t.Helper()
	_, events := w.seen()
	lives := map[string][]engine.Event{}
	for i, e := range events {
		if e.Seq != uint64(i)+1 {
			w.t.Fatalf("event %d has number %d", i+1, e.Seq)
		}
		lives[e.ID] = append(lives[e.ID], e)
	}
	if len(lives) != objects {
		w.t.Errorf("events of %d sandboxes and containers, want %d", len(lives), objects)
	}
	for _, life := range lives {
		if problem := broken(life); problem != "" {
			w.t.Errorf("%s:\n%v", problem, lines(life))
		}
	}
}

func broken(life []engine.Event) string {
	var kinds []pleg.Kind
	at := pleg.Absent
	for _, e := range life {
		if e.Delivery == pleg.Delivered {
			kinds = append(kinds, e.Kind)
		}
		if e.From != at {
			return fmt.Sprintf("%v starts from %v, not from %v", e.Kind, e.From, at)
		}
		at = e.To
	}
	if at != pleg.Absent {
		return fmt.Sprintf("ends as %v", at)
	}
	if !slices.Equal(kinds, []pleg.Kind{pleg.Started, pleg.Died, pleg.Removed}) {
		return fmt.Sprintf("delivered %v, want started, died, removed", kinds)
	}
	return ""
}
