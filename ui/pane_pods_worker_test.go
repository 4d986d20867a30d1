package ui

import (
	"testing"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/pods"
)

// TestWorkerOfAPod holds that the sheet of a pod tells what its worker does, if it has one.
func TestWorkerOfAPod(t *testing.T) {
	snap := Healthy()
	pod := pane.Subject{ObjectRef: pleg.ObjectRef{Pod: Find(snap, "nfs-client").PodRef}}
	row := func() string {
		v := View(snap)
		return NewStage(pods.Sheet(v, pod), v, 118, 40).Row("  worker ")
	}
	if got := row(); got != "" {
		t.Errorf("without one: %q", got)
	}
	Working(snap)
	const want = "  worker                waits for a status newer than"
	if got := row(); len(got) < len(want) || got[:len(want)] != want {
		t.Errorf("%q", got)
	}
}
