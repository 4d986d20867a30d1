package lines

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
)

// The newest look at the node counts, and nothing is left behind at the end.
func TestDoctorLooksAtTheNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		full := evidence.Report{Disk: evidence.Disk{Path: "/var/lib/containerd", Total: 100 << 30, Free: 1 << 20, Inodes: 100, InodesUnused: 90}}
		next := func(ctx context.Context) (evidence.Report, error) {
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
			return full, ctx.Err()
		}
		judge := Doctor(ctx, next, "unix:///x.sock")
		now := time.Now()
		told := func() []diagnose.Finding {
			return judge(engine.Update{Snapshot: &engine.Snapshot{At: now, Started: now}})
		}
		if before := told(); len(before) > 0 {
			t.Errorf("before the first look: %+v", before)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if after := told(); len(after) != 1 || after[0].ID != diagnose.HostPressure {
			t.Errorf("after the first look: %+v, want that the disk is full", after)
		}
		cancel()
		synctest.Wait()
	})
}

func TestDoctorWithoutANode(t *testing.T) {
	now := time.Now()
	if told := Doctor(t.Context(), nil, "")(engine.Update{Snapshot: &engine.Snapshot{At: now, Started: now}}); len(told) > 0 {
		t.Errorf("findings = %+v", told)
	}
}
