package engine_test

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/record"
)

// taped runs a world before a recorder and returns the updates that there were to see.
func taped(w *engine.World, r *record.Recorder, steps int) (all []engine.Update) {
	r.Begin(w.Machine())
	var events []engine.Event
	for i := range steps {
		u := w.Step(r, i%5 == 4)
		events = append(events, u.Events...)
		if u.Snapshot != nil {
			u.Events, events = events, nil
			all = append(all, u)
		}
	}
	return all
}

// played returns all that a recording shows from a moment on.
func played(t *testing.T, r *record.Recording, from time.Time) (all []record.Shown) {
	t.Helper()
	p := r.Play(from)
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

// What is played is what there was to see, from the beginning and from any segment on.
func TestARecordingIsWhatWasSeen(t *testing.T) {
	for seed := range uint64(2) {
		r := record.NewRecorder(record.Options{Ring: 1000 * time.Hour, Segments: time.Minute})
		want := taped(engine.NewWorld(t, seed), r, 1500)
		recording := r.Recording()
		if n := len(recording.Heads()); n < 3 {
			t.Fatalf("%d segments", n)
		}
		heads := recording.Heads()
		for _, h := range []record.Head{heads[0], heads[len(heads)/2], heads[len(heads)-1]} {
			rest := want
			for len(rest) > 0 && rest[0].Snapshot.At.Before(h.At) {
				rest = rest[1:]
			}
			got := played(t, recording, h.At)
			if len(got) != len(rest) {
				t.Fatalf("from segment %d: %d moments, want %d", h.Number, len(got), len(rest))
			}
			for i := range got {
				if i == 0 { // events before the segment belong to it live
					rest[0].Events = got[0].Events
				}
				if diff := engine.Difference(rest[i], got[i].Update); diff != "" {
					t.Fatalf("from segment %d, moment %d:\n%s", h.Number, i, diff)
				}
			}
		}
	}
}

// The recorder allocates next to nothing for a relist of a large node where nothing has changed.
func TestATapeAllocatesLittle(t *testing.T) {
	allocations := func(tape engine.Tape) float64 {
		relist := engine.NewTaped(t, 1000, tape)
		for range 10 { // what is made once
			relist()
		}
		return testing.AllocsPerRun(100, relist)
	}
	without := allocations(nil)
	if with := allocations(record.NewRecorder(record.Options{})); with > without+5 {
		t.Errorf("%v allocations of a relist that is recorded, %v of one that is not", with, without)
	}
}

// BenchmarkTape is what a relist costs with its snapshot, where nothing has changed, and what it
// costs with a recorder beside it.
func BenchmarkTape(b *testing.B) {
	for name, tape := range map[string]engine.Tape{"none": nil, "ring": record.NewRecorder(record.Options{})} {
		b.Run("1000x3/"+name, func(b *testing.B) {
			relist := engine.NewTaped(b, 1000, tape)
			b.ReportAllocs()
			for b.Loop() {
				relist()
			}
		})
	}
}
