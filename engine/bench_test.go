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

// A quick runtime answers from memory, after the time that a real one takes.
type quick struct {
	delay      time.Duration
	sandboxes  []*pleg.ListedSandbox
	containers []*pleg.ListedContainer
}

func newQuick(pods, containers int, delay time.Duration) *quick {
	r := &quick{delay: delay}
	for i := range pods {
		ref := pleg.PodRef{UID: pleg.UID(fmt.Sprint("uid-", i)), Namespace: "ns", Name: fmt.Sprintf("pod-%04d", i)}
		id := fmt.Sprintf("%064d", i)
		r.sandboxes = append(r.sandboxes, &pleg.ListedSandbox{Pod: ref, Sandbox: pleg.Sandbox{ID: id, State: pleg.Running}})
		for j := range containers {
			r.containers = append(r.containers, &pleg.ListedContainer{Pod: ref, Container: pleg.Container{
				ID: fmt.Sprintf("%s%d", id[1:], j), Name: fmt.Sprint("c", j), State: pleg.Running, Image: "registry.example/app:1", SandboxID: id,
			}})
		}
	}
	return r
}

func (r *quick) wait() {
	if r.delay > 0 {
		time.Sleep(r.delay)
	}
}

func (r *quick) Version(context.Context) (pleg.Version, error) {
	r.wait()
	return pleg.Version{RuntimeName: "quick"}, nil
}

func (r *quick) Status(context.Context) ([]pleg.Condition, error) {
	r.wait()
	return []pleg.Condition{{Type: "RuntimeReady", Status: true}, {Type: "NetworkReady", Status: true}}, nil
}

func (r *quick) ListPodSandbox(context.Context, pleg.UID) ([]*pleg.ListedSandbox, error) {
	r.wait()
	return r.sandboxes, nil
}

func (r *quick) ListContainers(context.Context, pleg.UID) ([]*pleg.ListedContainer, error) {
	r.wait()
	return r.containers, nil
}

func (r *quick) PodSandboxStatus(_ context.Context, id string) (pleg.SandboxStatus, error) {
	r.wait()
	return pleg.SandboxStatus{ID: id, State: pleg.Running, IPs: []string{"10.0.0.1"}}, nil
}

func (r *quick) ContainerStatus(_ context.Context, id string) (pleg.ContainerStatus, error) {
	r.wait()
	return pleg.ContainerStatus{ID: id, State: pleg.Running}, nil
}

func (r *quick) Raw(context.Context, call.Operation, string) ([]byte, error) { return nil, nil }

// bare makes the calls of an examination and nothing else.
func (r *quick) bare(ctx context.Context) {
	var tasks sync.WaitGroup
	tasks.Go(func() { _, _ = r.Version(ctx) })
	tasks.Go(func() { _, _ = r.Status(ctx) })
	_, _ = r.ListPodSandbox(ctx, "")
	_, _ = r.ListContainers(ctx, "")
	tasks.Wait()
	queue := make(chan func())
	for range probeWidth {
		tasks.Go(func() {
			for ask := range queue {
				ask()
			}
		})
	}
	for _, s := range r.sandboxes {
		queue <- func() { _, _ = r.PodSandboxStatus(ctx, s.ID) }
	}
	for _, c := range r.containers {
		queue <- func() { _, _ = r.ContainerStatus(ctx, c.ID) }
	}
	close(queue)
	tasks.Wait()
}

// BenchmarkExamine measures an examination of 110 pods of two containers each. It compares it with the bare
// calls, made in the same order and as many at once.
func BenchmarkExamine(b *testing.B) {
	for _, delay := range []time.Duration{0, time.Millisecond} {
		r := newQuick(110, 2, delay)
		b.Run(fmt.Sprintf("bare calls of %v", delay), func(b *testing.B) {
			for b.Loop() {
				r.bare(b.Context())
			}
		})
		b.Run(fmt.Sprintf("Examine, calls of %v", delay), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if s, err := Examine(b.Context(), Config{Runtime: r}, Examination{}); err != nil || s.Sweep.Done != 330 {
					b.Fatal(err, s)
				}
			}
		})
	}
}

// A stepper applies the observations of relists to a model, whose calls take no time.
type stepper struct {
	*Model
	*quick
	b    testing.TB
	at   time.Time
	id   uint64
	tape Tape // takes the observations down; nil for none
}

// newStepper returns a model that has settled n pods of three containers each.
func newStepper(b testing.TB, n int, tape Tape) *stepper {
	s := &stepper{quick: newQuick(n, 3, 0), b: b, at: time.Now(), tape: tape}
	m, err := NewModel(Config{}.withDefaults().start(s.at, Examination{}, false))
	if err != nil {
		b.Fatal(err)
	}
	s.Model = m
	if tape != nil {
		tape.Begin(m)
	}
	s.relist()
	if shown := s.Snapshot(s.at); len(shown.Pods) != n || shown.Pods[n/2].Status == nil {
		b.Fatalf("%d pods are shown, want %d", len(shown.Pods), n)
	}
	return s
}

func (s *stepper) apply(o Observation) {
	if s.tape != nil {
		s.tape.Observe(s.at, o)
	}
	s.Apply(s.at, o)
}

func (s *stepper) call(f call.Flight) uint64 {
	s.id++
	s.apply(CallBegan{ID: s.id, Flight: f, Timeout: time.Minute})
	answer, err := put(context.Background(), s.quick, f)
	if err != nil {
		s.b.Fatal(err)
	}
	s.apply(CallEnded{ID: s.id, Answer: answer})
	return s.id
}

// relist makes the relist that is due, asks for Status and Version when the kubelet does, and ticks.
func (s *stepper) relist() {
	s.at = latest(s.at, s.relists.NextAt)
	for _, op := range []call.Operation{call.Status, call.Version} {
		if due := s.statusDue(op); !due.IsZero() && !s.at.Before(due) {
			s.call(call.Flight{By: call.ByStatusLoop, Op: op})
		}
	}
	s.apply(Marked{RelistBegan{}})
	sandboxes := s.call(call.Flight{Op: call.ListPodSandbox})
	containers := s.call(call.Flight{Op: call.ListContainers})
	s.apply(Marked{Listed{sandboxes, containers}})
	for next, more := s.nextInspection(); more; next, more = s.nextInspection() {
		var calls []uint64
		for _, f := range callsFor(next.Pod) {
			calls = append(calls, s.call(f))
		}
		s.apply(Marked{Inspected{Pod: next.Pod.UID, Calls: calls}})
	}
	s.apply(Marked{RelistEnded{}})
	s.apply(Ticked{})
}

// flip makes the first containers of n pods end, or run.
func (s *stepper) flip(n int) {
	for i := range n {
		c := *s.containers[3*i]
		c.State = map[pleg.State]pleg.State{pleg.Running: pleg.Exited, pleg.Exited: pleg.Running}[c.State]
		s.containers[3*i] = &c
	}
}

// NewRelists returns a function that makes a relist in which a container of so many pods has ended or begun,
// and returns the snapshot.
func NewRelists(b testing.TB, pods, changed int, tape Tape) func() *Snapshot {
	s := newStepper(b, pods, tape)
	return func() *Snapshot {
		s.flip(changed)
		s.relist()
		return s.Snapshot(s.at)
	}
}

// BenchmarkPublish measures a snapshot if nothing has changed, if one pod has changed, and if one pod came.
func BenchmarkPublish(b *testing.B) {
	for name, change := range map[string]func(*Pod, int){
		"none":     nil,
		"one":      func(p *Pod, _ int) { p.Inspected++ },
		"newcomer": func(p *Pod, i int) { p.Name = []string{"first", "z-last"}[i%2] },
	} {
		b.Run("1000x3/"+name, func(b *testing.B) {
			s := newStepper(b, 1000, nil)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if change != nil {
					p := *s.pods.ByUID["uid-500"]
					change(&p, i)
					s.pods.put(&p)
				}
				s.Snapshot(s.at)
			}
		})
	}
}
