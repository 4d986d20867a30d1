package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// Only an answer that could not have come before says that a runtime is back.
func TestWhatAnswersSayThatARuntimeIsBack(t *testing.T) {
	now := time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)
	began := now.Add(-4 * time.Second)
	flight := func(op call.Operation, pod string) call.Flight {
		f := call.Flight{Op: op, Since: began}
		if pod != "" {
			f.Pod, f.ID = ref(pod), pod
		}
		return f
	}
	away := &answers.Failure{Err: call.ErrUnavailable, First: began, InRow: 4}
	broken := &answers.Failure{Err: call.ErrOther, First: began, InRow: 4}
	list, status := flight(call.ListPodSandbox, ""), flight(call.Status, "")
	a, b := flight(call.ContainerStatus, "a"), flight(call.PodSandboxStatus, "b")
	for i, tt := range []struct {
		list, status *answers.Failure
		out, ranOut  []call.Flight
		heard        map[call.Operation]time.Duration // ago
		op           call.Operation
		took         time.Duration
		back         bool
	}{
		{list: away, op: call.Status, back: true},
		{list: away, op: call.Version},
		{list: away, heard: map[call.Operation]time.Duration{call.Status: time.Second}, op: call.ContainerStatus},
		{list: broken, op: call.Status},
		{list: broken, status: broken, op: call.Status, back: true},
		{out: []call.Flight{list, status}, op: call.ListContainers, back: true},
		{out: []call.Flight{list, status}, op: call.Version},
		{out: []call.Flight{list, a, b}, op: call.Status},
		{out: []call.Flight{list, a, b}, op: call.Status, took: 4 * time.Second, back: true},
		{out: []call.Flight{list, a}, op: call.Status},
		{ranOut: []call.Flight{a, b}, op: call.ContainerStatus, back: true},
		{ranOut: []call.Flight{a, b}, op: call.ListContainers},
		{ranOut: []call.Flight{a, b}, heard: map[call.Operation]time.Duration{call.PodSandboxStatus: 3 * time.Second}, op: call.ContainerStatus},
		{ranOut: []call.Flight{a, a}, op: call.ContainerStatus},
		{out: []call.Flight{a}, op: call.ContainerStatus},
		{op: call.ListContainers, took: 2 * time.Second, back: true},
		{op: call.ListContainers},
		{heard: map[call.Operation]time.Duration{call.Status: time.Second}, op: call.ListContainers, took: 2 * time.Second},
		{heard: map[call.Operation]time.Duration{call.PodSandboxStatus: time.Second}, op: call.ContainerStatus, took: 2 * time.Second},
	} {
		m := &machine{now: now, calls: calls{sums: answers.NewSums(began)}, known: answers.Table{Failure: tt.list, StatusErr: tt.status}}
		for _, f := range tt.out {
			m.calls.out = append(m.calls.out, &pending{callSpec: callSpec{Flight: f}})
		}
		m.memory.ranOut = tt.ranOut
		for op, ago := range tt.heard {
			m.memory.heard[op] = now.Add(-ago)
		}
		f := flight(tt.op, "")
		if tt.op.AboutObject() {
			f = flight(tt.op, "c")
		}
		f.Since = now.Add(-tt.took)
		m.memory.hears(m, &answer{callSpec: callSpec{Flight: f}, at: now, took: tt.took})
		if got := m.memory.Read().Back; got.At.Equal(now) != tt.back || tt.back && tt.list != nil && got.InRow[0] != tt.list.InRow {
			t.Errorf("case %d, %v after %v: came back %+v, want %v", i, tt.op, tt.took, got, tt.back)
		}
	}
}

// stopped has a runtime answer nothing until it is closed.
func (r *fakeRuntime) stopped() chan struct{} {
	stop := make(chan struct{})
	for _, op := range call.Operations() {
		r.script(op.String(), behaviour{stops: stop})
	}
	return stop
}

// A runtime that was stopped is back with the first answer after that, and not a second
// time with those that come after it.
func TestComebackIsRemembered(t *testing.T) {
	bubble(t, Config{}, crowd(20), func(b *bench) {
		b.after(7 * time.Second)
		stop := b.fake.stopped()
		b.after(15 * time.Second)
		b.fake.behave()
		back := time.Now()
		close(stop)
		for range 5 {
			if s := b.after(4 * time.Second); !s.Memory.Back.At.Equal(back) {
				t.Errorf("came back at %v, want %v", s.Memory.Back.At, back)
			}
		}
		b.fake.script("Status", behaviour{err: fmt.Errorf("connect: %w", call.ErrUnavailable)})
		b.fake.script("ListPodSandbox", behaviour{err: fmt.Errorf("connect: %w", call.ErrUnavailable)})
		b.after(10 * time.Second)
		b.fake.behave()
		if s := b.after(2 * time.Second); s.At.Sub(s.Memory.Back.At) > 2*time.Second || s.Memory.Back.InRow[0] < 9 {
			t.Errorf("came back %+v", s.Memory.Back)
		}
	})
}

// One container that hangs while others are answered is no silence; that it hung is known
// for some time.
func TestHangOfOneObjectIsRemembered(t *testing.T) {
	bubble(t, Config{}, crowd(20), func(b *bench) {
		b.after(7 * time.Second)
		stop := make(chan struct{})
		b.fake.script("ContainerStatus p3/app", behaviour{stops: stop})
		b.fake.exit("p3/app", 1, "Error")
		b.after(40 * time.Second)
		b.fake.behave()
		back := time.Now()
		close(stop)
		s := b.after(10 * time.Second)
		if !s.Memory.Back.At.IsZero() || len(s.Memory.Hung) != 1 || s.Memory.Hung["p3/app"].Before(back) {
			t.Errorf("came back %+v, hung %v", s.Memory.Back, s.Memory.Hung)
		}
	})
}
