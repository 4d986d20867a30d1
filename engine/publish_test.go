package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// stepper steps a machine against a runtime that answers everything at once.
type stepper struct {
	*shell
	now        time.Time
	sandboxes  []pleg.ListedSandbox
	containers []pleg.ListedContainer
	tape       Tape // is told of the steps; nil for none
}

// node returns a machine that has settled n pods of three containers each.
func node(t testing.TB, n int) *stepper { return nodeWith(t, n, Config{}) }

func nodeWith(t testing.TB, n int, c Config) *stepper {
	t.Helper()
	c.Runtime = &fakeRuntime{}
	e, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	s := &stepper{shell: e.shell, now: e.shell.machine.now}
	for i := range n {
		pod := ref(fmt.Sprintf("pod-%04d", i))
		id := fmt.Sprintf("%064d", i)
		s.sandboxes = append(s.sandboxes, pleg.ListedSandbox{Pod: pod, Sandbox: pleg.Sandbox{ID: id, State: pleg.Running}})
		for c := range 3 {
			s.containers = append(s.containers, pleg.ListedContainer{Pod: pod, Container: pleg.Container{
				ID: fmt.Sprintf("%s%d", id[1:], c), Name: fmt.Sprint("c", c), State: pleg.Running, Image: "registry.example/app:1",
			}})
		}
	}
	s.relist()
	return s
}

// relist steps the machine through one relist.
func (s *stepper) relist() {
	s.now = s.machine.relists.nextAt
	w := s.take(Tick{})
	for len(w.Make) > 0 {
		c := w.Make[0]
		w.Make = w.Make[1:]
		more := s.take(Returned{ID: c.ID, At: s.now, Answer: s.answer(c)})
		w.Make = append(w.Make, more.Make...)
	}
}

func (s *stepper) take(in Input) Work {
	if s.tape != nil {
		s.tape.Step(s.now, in)
	}
	return s.machine.step(s.now, in)
}

func (s *stepper) answer(c Call) Answer {
	switch c.Op {
	case call.Version:
		return Answer{Version: &pleg.Version{RuntimeName: "fake"}}
	case call.Status:
		return Answer{Conditions: []pleg.Condition{{Type: "RuntimeReady", Status: true}, {Type: "NetworkReady", Status: true}}}
	case call.ListPodSandbox:
		return Answer{Sandboxes: s.sandboxes}
	case call.ListContainers:
		return Answer{Containers: s.containers}
	case call.PodSandboxStatus:
		return Answer{Sandbox: &pleg.SandboxStatus{ID: c.Flight.ID, State: pleg.Running}}
	}
	return Answer{Container: &pleg.ContainerStatus{ID: c.Flight.ID, State: pleg.Running}}
}

func BenchmarkPublish(b *testing.B) {
	b.Run("1000x3/none", func(b *testing.B) {
		s := node(b, 1000)
		s.snapshot(s.now)
		b.ReportAllocs()
		for b.Loop() {
			s.snapshot(s.now)
		}
	})
	b.Run("1000x3/one", func(b *testing.B) {
		s := node(b, 1000)
		uid := ref("pod-0500").UID
		b.ReportAllocs()
		for b.Loop() {
			s.machine.pods.edit(uid).Inspected++
			s.snapshot(s.now)
		}
	})
	b.Run("1000x3/newcomer", func(b *testing.B) {
		s := node(b, 1000)
		uid := ref("pod-0500").UID
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			s.machine.pods.edit(uid).Name = []string{"first", "z-last"}[i%2]
			s.snapshot(s.now)
		}
	})
}
