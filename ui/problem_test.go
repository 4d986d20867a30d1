package ui

import (
	"errors"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
)

func TestProblemOf(t *testing.T) {
	container := func(p *engine.Pod) *pleg.Container { return &p.Current.Containers[0] }
	for _, tt := range []struct {
		name   string
		change func(*engine.Pod)
		found  podFinding
		want   string
	}{
		{"healthy", func(*engine.Pod) {}, podFinding{}, ""},
		{"a finding knows more", func(*engine.Pod) {}, podFinding{id: diagnose.GhostRunning}, "ghost-running"},
		{"a finding knows no more", func(p *engine.Pod) { exit(p, 1) }, podFinding{id: diagnose.CrashLoop}, "exited with an error"},
		{"inspection fails", func(p *engine.Pod) { p.StatusErr = errors.New("x") }, podFinding{}, "inspection fails"},
		{"unknown", func(p *engine.Pod) { container(p).State = pleg.Unknown }, podFinding{}, "state unknown"},
		{"just created", func(p *engine.Pod) {
			container(p).State, container(p).CreatedAt = pleg.Created, noon.Add(-startGrace+1)
		}, podFinding{}, ""},
		{"created for long", func(p *engine.Pod) {
			container(p).State, container(p).CreatedAt = pleg.Created, noon.Add(-startGrace)
		}, podFinding{}, "created, not started"},
		{"created, no one knows when", func(p *engine.Pod) {
			container(p).State, container(p).CreatedAt = pleg.Created, time.Time{}
		}, podFinding{}, ""},
		{"crash loop", func(p *engine.Pod) {
			container(p).Attempt, container(p).CreatedAt = loopRestarts, noon.Add(-loopMemory+1)
		}, podFinding{}, "crash loop"},
		{"recovered", func(p *engine.Pod) {
			container(p).Attempt, container(p).CreatedAt = loopRestarts, noon.Add(-loopMemory)
		}, podFinding{}, ""},
		{"exit 0", func(p *engine.Pod) { exit(p, 0) }, podFinding{}, ""},
		{"exit 1", func(p *engine.Pod) { exit(p, 1) }, podFinding{}, "exited with an error"},
		{"exit 1, started again", func(p *engine.Pod) {
			exit(p, 1)
			p.Current.Containers = append(p.Current.Containers, pleg.Container{ID: "c3", Name: "nginx", Attempt: 1, State: pleg.Running})
		}, podFinding{}, ""},
		{"the worst counts", func(p *engine.Pod) {
			exit(p, 1)
			p.Current.Containers[1].State = pleg.Unknown
		}, podFinding{}, "state unknown"},
	} {
		p := pod("shop", "cart-0", time.Hour, up("nginx"), up("proxy"))
		tt.change(p)
		if got := problemOf(p, nil, tt.found, noon); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestHangIsAProblem holds that a call that hangs comes before all else.
func TestHangIsAProblem(t *testing.T) {
	p := pod("shop", "cart-0", time.Hour, up("nginx"))
	p.StatusErr = errors.New("x")
	if got := problemOf(p, &engine.Flight{Op: call.ContainerStatus}, podFinding{}, noon); got != "ContainerStatus hangs" {
		t.Errorf("problem %q", got)
	}
}

func exit(p *engine.Pod, code int32) {
	c := &p.Current.Containers[0]
	c.State = pleg.Exited
	p.Status.Containers[0].State, p.Status.Containers[0].ExitCode = pleg.Exited, code
}
