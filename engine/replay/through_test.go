package replay

import (
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/record"
)

// hangs is a night in which a container ends whose status hangs for a quarter of an hour.
func hangs(release pleg.Release) night {
	return night{
		Pods: 3, For: 40 * time.Minute, Segments: 4 * time.Minute, Changes: 7 * time.Minute, Release: release,
		Troubles: []trouble{{Op: call.ContainerStatus, From: 6 * time.Minute, To: 20 * time.Minute}},
	}
}

// through returns what another release makes of a recording.
func through(t *testing.T, r *record.Recording, release pleg.Release) (all []record.Shown, missing int) {
	t.Helper()
	made, missing, err := r.Through(t.Context(), release)
	if err != nil {
		t.Fatal(err)
	}
	return played(t, made), missing
}

func played(t *testing.T, r *record.Recording) (all []record.Shown) {
	t.Helper()
	p := r.Play(time.Time{})
	defer p.Close()
	for {
		s, err := p.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
}

// unhealthy returns the moments in which PLEG was.
func unhealthy(all []record.Shown) (at []time.Time) {
	for _, s := range all {
		if !s.Snapshot.Health.Healthy {
			at = append(at, s.Snapshot.At)
		}
	}
	return at
}

func events(all []record.Shown) (told []engine.Event) {
	for _, s := range all {
		told = append(told, s.Events...)
	}
	return told
}

// A kubelet up to 1.31 asks twice for a pod whose inspection hangs, so that its PLEG is unhealthy,
// and one from 1.32 on once. So each recording shows what the other release would have made of it.
func TestThroughAnotherRelease(t *testing.T) {
	for _, tt := range []struct {
		recorded, as pleg.Release
		unhealthy    bool
	}{{28, 36, false}, {28, 25, true}, {36, 28, true}, {36, 34, false}} {
		recorder, _ := recordNight(t, hangs(tt.recorded))
		all, missing := through(t, recorder.Recording(), tt.as)
		if bad := unhealthy(all); tt.unhealthy != (len(bad) > 0) {
			t.Errorf("%v as %v: unhealthy at %v", tt.recorded, tt.as, bad)
		}
		if last := all[len(all)-1].Snapshot; last.Release != tt.as {
			t.Errorf("%v as %v: the relist is that of %v", tt.recorded, tt.as, last.Release)
		}
		if only := (tt.recorded < 32) != (tt.as < 32); only != (missing > 0) {
			t.Errorf("%v as %v: %d calls are missing", tt.recorded, tt.as, missing)
		}
	}
}

// The release that was recorded gives what was recorded, and no call is missing.
func TestThroughTheSameRelease(t *testing.T) {
	for _, release := range []pleg.Release{28, 36} {
		recorder, _ := recordNight(t, hangs(release))
		was := played(t, recorder.Recording())
		all, missing := through(t, recorder.Recording(), release)
		if missing > 0 || len(all) != len(was) || !slices.Equal(unhealthy(all), unhealthy(was)) {
			t.Errorf("%v: %d calls are missing; %d moments, want %d; unhealthy in %d, want %d", release, missing, len(all), len(was), len(unhealthy(all)), len(unhealthy(was)))
		}
		if a, b := len(events(all)), len(events(was)); a != b {
			t.Errorf("%v: %d events, want %d", release, a, b)
		}
	}
}

// Recordings of real nodes and of the demo are played through any release.
func TestThroughIncidents(t *testing.T) {
	for _, in := range incidents(t) {
		was := played(t, in.recording)
		if all, _ := through(t, in.recording, 25); len(all) != len(was) {
			t.Errorf("%s as 1.25: %d moments, want %d", in.name, len(all), len(was))
		}
	}
}
