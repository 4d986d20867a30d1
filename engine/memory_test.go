package engine

import (
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// Only an answer that could not have come before shows that a runtime is back.
func TestWhichAnswersSayThatARuntimeIsBack(t *testing.T) {
	now := time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)
	began := now.Add(-4 * time.Second)
	flight := func(op call.Operation, pod string) call.Flight {
		return call.Flight{Op: op, Since: began, ID: pod, Pod: pleg.PodRef{UID: pleg.UID(pod), Name: pod}}
	}
	away := &answers.Failure{Err: call.ErrUnavailable, First: began, InRow: 4}
	broken := &answers.Failure{Err: call.ErrOther, First: began, InRow: 4}
	list, status := flight(call.ListPodSandbox, ""), flight(call.Status, "")
	a, b := flight(call.ContainerStatus, "a"), flight(call.PodSandboxStatus, "b")
	type ago = map[call.Operation]time.Duration
	for i, tt := range []struct {
		list, status *answers.Failure
		out, ranOut  []call.Flight
		heard        ago
		op           call.Operation
		took         time.Duration
		back         bool
	}{
		{list: away, op: call.Status, back: true},
		{list: away, op: call.Version},
		{list: away, heard: ago{call.Status: time.Second}, op: call.ContainerStatus},
		{list: broken, op: call.Status},
		{list: broken, status: broken, op: call.Status, back: true},
		{out: []call.Flight{list, status}, op: call.ListContainers, back: true},
		{out: []call.Flight{list, status}, op: call.Version},
		{out: []call.Flight{list, a, b}, op: call.Status},
		{out: []call.Flight{list, a, b}, op: call.Status, took: 4 * time.Second, back: true},
		{out: []call.Flight{list, a}, op: call.Status},
		{ranOut: []call.Flight{a, b}, op: call.ContainerStatus, back: true},
		{ranOut: []call.Flight{a, b}, op: call.ListContainers},
		{ranOut: []call.Flight{a, b}, heard: ago{call.PodSandboxStatus: 3 * time.Second}, op: call.ContainerStatus},
		{ranOut: []call.Flight{a, a}, op: call.ContainerStatus},
		{out: []call.Flight{a}, op: call.ContainerStatus},
		{op: call.ListContainers, took: 2 * time.Second, back: true},
		{op: call.ListContainers},
		{heard: ago{call.Status: time.Second}, op: call.ListContainers, took: 2 * time.Second},
		{heard: ago{call.PodSandboxStatus: time.Second}, op: call.ContainerStatus, took: 2 * time.Second},
	} {
		m, err := NewModel(Config{}.withDefaults().start(began, Examination{}, false))
		if err != nil {
			t.Fatal(err)
		}
		m.now = now
		m.known = answers.Table{Failure: tt.list, StatusErr: tt.status}
		for id, f := range tt.out {
			m.calls.Began(call.ID(id), f, time.Minute)
		}
		m.memory.RanOut = tt.ranOut
		for op, d := range tt.heard {
			m.memory.Heard[op] = now.Add(-d)
		}
		f := flight(tt.op, "")
		if tt.op.AboutObject() {
			f = flight(tt.op, "c")
		}
		f.Since = now.Add(-tt.took)
		m.heard(&answer{Flight: f, At: now})
		if got := m.memory.Read().Back; got.At.Equal(now) != tt.back || tt.back && tt.list != nil && got.InRow[0] != tt.list.InRow {
			t.Errorf("case %d, %v after %v: came back %+v, want %v", i, tt.op, tt.took, got, tt.back)
		}
	}
}
