package engine

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A quickRuntime answers from memory after a while that a real one takes.
type quickRuntime struct {
	delay      time.Duration
	sandboxes  []pleg.ListedSandbox
	containers []pleg.ListedContainer
}

func newQuick(pods, containers int, delay time.Duration) *quickRuntime {
	r := &quickRuntime{delay: delay}
	for i := range pods {
		pod := ref(fmt.Sprint("p", i))
		r.sandboxes = append(r.sandboxes, pleg.ListedSandbox{Pod: pod, Sandbox: pleg.Sandbox{ID: fmt.Sprint("s", i), State: pleg.Running}})
		for j := range containers {
			c := pleg.Container{ID: fmt.Sprintf("c%d.%d", i, j), Name: "app", State: pleg.Running}
			r.containers = append(r.containers, pleg.ListedContainer{Pod: pod, Container: c})
		}
	}
	return r
}

func (r *quickRuntime) wait() { time.Sleep(r.delay) }

func (r *quickRuntime) Version(context.Context) (v pleg.Version, err error) {
	r.wait()
	return v, nil
}

func (r *quickRuntime) Status(context.Context) (_ []pleg.Condition, err error) {
	r.wait()
	return []pleg.Condition{{Type: "RuntimeReady", Status: true}, {Type: "NetworkReady", Status: true}}, nil
}

func (r *quickRuntime) ListPodSandbox(context.Context, pleg.UID) (_ []pleg.ListedSandbox, err error) {
	r.wait()
	return r.sandboxes, nil
}

func (r *quickRuntime) ListContainers(context.Context, pleg.UID) (_ []pleg.ListedContainer, err error) {
	r.wait()
	return r.containers, nil
}

func (r *quickRuntime) PodSandboxStatus(_ context.Context, id string) (_ pleg.SandboxStatus, err error) {
	r.wait()
	return pleg.SandboxStatus{ID: id, State: pleg.Running}, nil
}

func (r *quickRuntime) ContainerStatus(_ context.Context, id string) (_ pleg.ContainerStatus, err error) {
	r.wait()
	return pleg.ContainerStatus{ID: id, State: pleg.Running}, nil
}

func (r *quickRuntime) Raw(context.Context, call.Operation, string) ([]byte, error) { return nil, nil }

// bare makes the calls of an examination and nothing else.
func (r *quickRuntime) bare(ctx context.Context, width int) {
	var tasks sync.WaitGroup
	tasks.Go(func() { _, _ = r.Version(ctx) })
	tasks.Go(func() { _, _ = r.Status(ctx) })
	sandboxes, _ := r.ListPodSandbox(ctx, "")
	containers, _ := r.ListContainers(ctx, "")
	tasks.Wait()
	queue := make(chan func())
	for range width {
		tasks.Go(func() {
			for ask := range queue {
				ask()
			}
		})
	}
	for _, s := range sandboxes {
		queue <- func() { _, _ = r.PodSandboxStatus(ctx, s.ID) }
	}
	for _, c := range containers {
		queue <- func() { _, _ = r.ContainerStatus(ctx, c.ID) }
	}
	close(queue)
	tasks.Wait()
}

// BenchmarkExamine says what an examination of 110 pods of two containers each
// takes beyond its calls, made in the same order and as many at once.
func BenchmarkExamine(b *testing.B) {
	for _, delay := range []time.Duration{0, time.Millisecond} {
		r := newQuick(110, 2, delay)
		b.Run(fmt.Sprintf("bare calls of %v", delay), func(b *testing.B) {
			for b.Loop() {
				r.bare(b.Context(), sweepWidth)
			}
		})
		b.Run(fmt.Sprintf("Examine, calls of %v", delay), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s, err := Examine(b.Context(), Config{Runtime: r}, Examination{})
				if err != nil || s.Sweep.Done != 330 {
					b.Fatal(err, s)
				}
			}
		})
	}
}
