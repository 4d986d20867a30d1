package engine

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine/guard"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A panic in any goroutine that the engine starts is caught there.
func TestPanicBesideTheLoopIsCaught(t *testing.T) {
	hostile := func(context.Context, func(pleg.Upstream)) error { panic("boom") }
	for name, tt := range map[string]struct {
		config Config
		panics string // the call that does
		hangs  string // the call that does, so that others are made beside it
		sweeps bool
	}{
		"in a call":   {panics: "Status"},
		"in a list":   {panics: "ListPodSandbox"},
		"in a probe":  {panics: "PodSandboxStatus", hangs: "ListContainers"},
		"in a sweep":  {panics: "PodSandboxStatus", sweeps: true},
		"in a stream": {config: Config{Streams: []Stream{{Source: ledger.FromCgroup, On: true, Run: hostile}}}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var caught atomic.Value // several calls may panic at once
			panicked := guard.Panicked
			defer func() { guard.Panicked = panicked }()
			guard.Panicked = func(value any, _ []byte) { caught.Store(value) }
			fake := newFake(t)
			pairs(2)(fake)
			if tt.panics != "PodSandboxStatus" {
				fake.script(tt.panics, behaviour{panics: "boom"})
			}
			b := startBench(t, tt.config, fake)
			fake.script(tt.panics, behaviour{panics: "boom"})
			if tt.hangs != "" {
				fake.script(tt.hangs, behaviour{hang: true})
			}
			if tt.sweeps {
				b.ask(b.Sweep)
			}
			time.Sleep(5 * time.Second)
			_ = b.stop() // a call that panicked has no answer
			if got := caught.Load(); got != "boom" {
				t.Errorf("%s: caught %v", name, got)
			}
		})
	}
}
