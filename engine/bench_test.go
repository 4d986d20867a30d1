package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A bench is a running engine in a synctest bubble.
type bench struct {
	*Engine
	t      *testing.T
	fake   *fakeRuntime
	cancel context.CancelFunc
	done   chan struct{}
	err    error
}

// bubble runs test in a synctest bubble with an engine on a fake runtime, which
// has started and done what it can at once. At the end it must stop.
func bubble(t *testing.T, c Config, prepare func(*fakeRuntime), test func(*bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		fake := newFake(t)
		if prepare != nil {
			prepare(fake)
		}
		b := startBench(t, c, fake)
		test(b)
		if err := b.stop(); err != nil {
			t.Errorf("Run returned %v, want nil", err)
		}
	})
}

func startBench(t *testing.T, c Config, fake *fakeRuntime) *bench {
	t.Helper()
	c.Runtime = fake
	e, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	var askers sync.Map // of the calls made last, by operation and id
	e.shell.tap = func(w Work) {
		for _, c := range w.Make {
			askers.Store(c.Op.String()+c.Flight.ID, c.By)
		}
	}
	fake.by = func(f call.Flight) call.Asker {
		by, _ := askers.Load(f.Op.String() + f.ID)
		asker, _ := by.(call.Asker)
		return asker
	}
	ctx, cancel := context.WithCancel(t.Context())
	b := &bench{Engine: e, t: t, fake: fake, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(b.done)
		b.err = e.Run(ctx)
	}()
	synctest.Wait()
	return b
}

func (b *bench) stop() error {
	b.cancel()
	<-b.done
	return b.err
}

// after lets d pass and returns the newest snapshot.
func (b *bench) after(d time.Duration) *Snapshot {
	time.Sleep(d)
	synctest.Wait()
	return b.shell.buffer.newest()
}

// fresh returns a snapshot that shows all that has happened so far.
func (b *bench) fresh() *Snapshot { return b.after(pace) }

// ask makes a request and lets the engine take it in.
func (b *bench) ask(request func()) {
	request()
	synctest.Wait()
}

// reinspectTogether asks for pods in one breath: the machine sees all of them
// at once, where one call after the other leaves it time to do the first.
func (b *bench) reinspectTogether(uids ...pleg.UID) {
	b.Engine.ask(func(r *Requests) {
		for _, uid := range uids {
			r.reinspectPod(uid)
		}
	})
}

// podOf returns the pod of that name in s.
func (b *bench) podOf(s *Snapshot, name string) *Pod {
	b.t.Helper()
	i := slices.IndexFunc(s.Pods, func(p *Pod) bool { return p.Name == name })
	if i < 0 {
		b.t.Fatalf("snapshot %d has no pod %s", s.Seq, name)
	}
	return s.Pods[i]
}

// events returns all events so far, as "Kind pod/container".
func (b *bench) events() []string {
	b.shell.buffer.mu.Lock()
	defer b.shell.buffer.mu.Unlock()
	kept, _ := b.shell.buffer.ring.between(0, b.shell.buffer.ring.last)
	var lines []string
	for _, e := range kept {
		lines = append(lines, fmt.Sprintf("%v %s", e.Kind, strings.TrimSuffix(e.Pod.Name+"/"+e.Container, "/")))
	}
	return lines
}
