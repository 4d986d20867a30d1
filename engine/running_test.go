package engine_test

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A running engine relists a scripted runtime in a synctest bubble.
type running struct {
	*engine.Engine
	t      *testing.T
	r      *scripted
	cancel context.CancelFunc
	ended  chan error
	tape   *memoryTape
}

// bubble runs a test with an engine that has already done all that it can do at once. At the end the engine
// must stop without an error, and a replay of its observations must show the same.
func bubble(t *testing.T, c engine.Config, prepare func(*scripted), test func(*running)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e := begin(t, c, prepare)
		test(e)
		e.stop()
		e.tape.replayed(e.newest())
		e.r.change(func() { e.r.open(nil) })
	})
}

func begin(t *testing.T, c engine.Config, prepare func(*scripted)) *running {
	r := newScripted(t)
	r.now, r.timeout = time.Now, cmp.Or(c.Timeout, r.timeout)
	if prepare != nil {
		prepare(r)
	}
	e := &running{t: t, r: r, ended: make(chan error, 1), tape: &memoryTape{t: t}}
	c.Runtime, c.Tape = r, e.tape
	e.Engine = must(engine.New(c))
	ctx, cancel := context.WithCancel(t.Context())
	e.cancel = cancel
	go func() { e.ended <- e.Run(ctx) }()
	synctest.Wait()
	return e
}

// stop ends the engine, if it has not ended.
func (e *running) stop() {
	e.cancel()
	if err, was := <-e.ended; was && err != nil {
		e.t.Errorf("Run returned %v", err)
	}
	select {
	case <-e.ended:
	default:
		close(e.ended)
	}
}

// newest returns the newest snapshot.
func (e *running) newest() *engine.Snapshot {
	u, err := e.Feed().Next(context.Background())
	if err != nil {
		e.t.Fatalf("read the newest snapshot: %v", err)
	}
	return u.Snapshot
}

// after lets time pass, and returns the newest snapshot.
func (e *running) after(d time.Duration) *engine.Snapshot {
	time.Sleep(d)
	synctest.Wait()
	return e.newest()
}

// pods returns a function that adds pods with containers.
func pods(names []string, containers ...string) func(*scripted) {
	return func(r *scripted) {
		for _, name := range names {
			r.pod(name, containers)
		}
	}
}

var onePod = pods([]string{"web"}, "app")

// hang makes calls wait for their deadline.
func (r *scripted) hang(keys ...string) {
	r.behave(keys, &behaviour{gate: make(chan struct{})}, false)
}

// deafen makes calls wait even longer.
func (r *scripted) deafen(keys ...string) {
	r.behave(keys, &behaviour{gate: make(chan struct{}), deaf: true}, false)
}

func podOf(t *testing.T, s *engine.Snapshot, name string) *engine.Pod {
	t.Helper()
	i := slices.IndexFunc(s.Pods, func(p *engine.Pod) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("there is no pod %s", name)
	}
	return s.Pods[i]
}

// flip ends a container, or makes it run again.
func (r *scripted) flip(id string) {
	var st pleg.ContainerStatus
	r.change(func() { st, _ = r.containerStatus(id) })
	r.set(id, map[bool]string{true: "exited", false: "running"}[st.State == pleg.Running])
}
