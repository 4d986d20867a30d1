package pleg_test

import (
	"errors"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A kubelet that is upgraded in place is followed between two relists.
func TestCoreFollowsAnotherRelease(t *testing.T) {
	core, err := pleg.New(pleg.Config{Release: 31})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1795229011, 0)
	if err := core.BeginPod(at, pleg.Pod{}); !errors.Is(err, pleg.ErrRelease) {
		t.Errorf("1.31 relists a pod alone: %v", err)
	}
	if err := core.Begin(at, nil); err != nil {
		t.Fatal(err)
	}
	if err := core.Follow(36); !errors.Is(err, pleg.ErrBusy) {
		t.Errorf("in the middle of a relist: %v, want %v", err, pleg.ErrBusy)
	}
	if err := core.End(); err != nil {
		t.Fatal(err)
	}
	if err := core.Follow(99); err == nil {
		t.Error("a release that is not known is followed")
	}
	if err := core.Follow(36); err != nil {
		t.Fatal(err)
	}
	if err := core.BeginPod(at, pleg.Pod{PodRef: pleg.PodRef{UID: "a"}}); err != nil {
		t.Errorf("1.36 does not relist a pod alone: %v", err)
	}
}
