package engine_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

// A panic in any lane ends in one place, and holds up neither the others nor the end.
func TestPanicInALaneEndsInOnePlace(t *testing.T) {
	panics := func(r *scripted, ops ...string) { r.behave(ops, &behaviour{panics: true}, false) }
	for name, tt := range map[string]struct {
		config engine.Config
		do     func(*running)
	}{
		"relist":  {do: func(e *running) { panics(e.r, "ListContainers") }},
		"status":  {do: func(e *running) { panics(e.r, "Status") }},
		"version": {do: func(e *running) { panics(e.r, "Version"); time.Sleep(5 * time.Minute) }},
		"probe":   {do: func(e *running) { e.r.hang("ListContainers"); panics(e.r, "PodSandboxStatus") }},
		"check":   {do: func(e *running) { panics(e.r, "PodSandboxStatus"); e.Sweep() }},
		"look": {config: engine.Config{Look: func(context.Context, engine.Looking) (*evidence.Report, error) {
			panic("the script wants a panic")
		}}},
		"stream": {config: engine.Config{Streams: []engine.Stream{{Source: sources.FromCgroup, On: true, Run: func(context.Context, func(pleg.Upstream)) error {
			panic("the script wants a panic")
		}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, tt.config, pods([]string{"a", "b"}, "app"), func(e *running) {
				if tt.do != nil {
					tt.do(e)
				}
				was := e.newest()
				if now := e.after(12 * time.Second); now.Seq < was.Seq+10 {
					t.Errorf("only %d snapshots came", now.Seq-was.Seq)
				}
				began := time.Now()
				if e.stop(); time.Since(began) > time.Second {
					t.Errorf("Run took %v to end", time.Since(began))
				}
				e.r.change(func() {
					if !slices.Contains(e.r.panicked, any("the script wants a panic")) {
						t.Errorf("ended there: %v", e.r.panicked)
					}
				})
			})
		})
	}
}
