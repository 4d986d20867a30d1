package pleg_test

import (
	"cmp"
	"errors"
	"slices"
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

// A pod whose inspection failed is inspected again by the kubelet that comes after, also where that
// does so in a second pass and the one before did not.
func TestWhatIsDueIsTakenOver(t *testing.T) {
	at := time.Unix(1795229011, 0)
	listed := []pleg.Pod{{PodRef: pleg.PodRef{UID: "a"}, Sandboxes: []pleg.Sandbox{{ID: "s", State: pleg.Running}}}}
	for _, before := range []pleg.Release{32, 36} {
		core, err := pleg.New(pleg.Config{Release: before})
		if err != nil {
			t.Fatal(err)
		}
		relist := func(status *pleg.PodStatus, fails error) (inspected int) {
			t.Helper()
			err := core.Begin(at, slices.Clone(listed))
			for next, more := core.Next(); more && err == nil; next, more = core.Next() {
				if next.Pod == nil {
					t.Fatalf("%v: there is no pod to inspect", before)
				}
				inspected++
				err = core.Settle(next.Pod.UID, at, status, fails)
			}
			if err = cmp.Or(err, core.End()); err != nil {
				t.Fatalf("%v: %v", before, err)
			}
			return inspected
		}
		good := func() *pleg.PodStatus { return &pleg.PodStatus{PodRef: listed[0].PodRef} }
		relist(good(), nil)
		core.RequestReinspect("a")
		listed[0].Sandboxes = []pleg.Sandbox{{ID: "s", State: pleg.Exited}}
		relist(nil, errors.New("hangs"))
		if err := core.Follow(28); err != nil {
			t.Fatal(err)
		}
		if relist(good(), nil) == 0 || relist(good(), nil) != 0 {
			t.Errorf("%v to 1.28: the pod is not inspected once more, or for ever", before)
		}
	}
}
