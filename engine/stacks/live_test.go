package stacks

import (
	"bytes"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
)

type guarded struct {
	n  int
	mu sync.RWMutex
}

//go:noinline
func (g *guarded) hold(while func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	while()
	g.n++
}

//go:noinline
func (g *guarded) get() int {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.n
}

// Read reads a dump of this very program, as the Go release writes it that it was built with.
func TestReadOfThisProgram(t *testing.T) {
	var g guarded
	var all sync.WaitGroup
	defer all.Wait()
	g.hold(func() {
		for range 3 {
			all.Go(func() { g.get() })
		}
		for {
			var dump bytes.Buffer
			if err := pprof.Lookup("goroutine").WriteTo(&dump, 2); err != nil {
				t.Fatal(err)
			}
			s, err := Read(&dump)
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Locks) == 0 || s.Locks[0].Waiters < 3 { // those that have come so far
				runtime.Gosched()
				continue
			}
			holds := func(function string) bool { return strings.HasSuffix(function, "stacks.(*guarded).hold") }
			if l := s.Locks[0]; len(s.Locks) != 1 || l.Of != "stacks.(*guarded).get" || !l.Likely || !slices.ContainsFunc(l.Holder.Frames, holds) || s.Total < 5 {
				t.Errorf("%d goroutines: %+v", s.Total, s.Locks)
			}
			return
		}
	})
}
