package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

// hubOf returns a hub that nobody runs, for a runtime that answers at once.
func hubOf(t *testing.T) *hub {
	t.Helper()
	e, err := New(Config{Runtime: newQuick(1, 1, 0)})
	if err != nil {
		t.Fatal(err)
	}
	return e.hub
}

// One of our own calls gives way to the kubelet's call from the moment it begins, even before it is made.
func TestCallIsWithdrawnBeforeItIsMade(t *testing.T) {
	h, f := hubOf(t), call.Flight{By: call.ByProbe, Op: call.ContainerStatus, ID: "a"}
	h.mu.Lock()
	o := h.begin(t.Context(), f, time.Second)
	h.withdraw(f)
	h.mu.Unlock()
	if o.ctx.Err() == nil {
		t.Error("the call goes on")
	}
	h.finish(o)
	if len(h.ours) > 0 || len(h.model.calls.Out) > 0 {
		t.Errorf("after its end %d calls can be withdrawn, %d are out", len(h.ours), len(h.model.calls.Out))
	}
}

// A lane that waits for what another lane begins goes on at once, in whatever order they are asked.
func TestLaneGoesOnAfterWhatAnotherBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hubOf(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		woken := make(chan struct{})
		go func() {
			h.await(ctx, func(m *Model, _ time.Time) (bool, time.Time) { return len(m.calls.Out) > 0, time.Time{} })
			close(woken)
		}()
		synctest.Wait()
		h.awaitLast(ctx, func(*Model, time.Time) (bool, time.Time) {
			h.begin(ctx, call.Flight{By: call.ByProbe, Op: call.Status}, time.Second)
			return true, time.Time{}
		})
		synctest.Wait()
		select {
		case <-woken:
		default:
			t.Error("it still waits")
		}
	})
}
