package engine_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
)

// A memoryTape keeps all observations, and now and then a checkpoint. Each transcript is played
// live, from its observations, and from the last checkpoint: all three must show the same.
type memoryTape struct {
	t            testing.TB
	model        *engine.Model
	start        engine.Start
	observations []observation
	checkpoint   []byte // as CBOR; nil if none was made
	at           int    // how many observations came before it
	overdue      bool   // something was due in the past
}

type observation struct {
	At time.Time
	engine.Observation
}

func (t *memoryTape) Begin(m *engine.Model) { t.model, t.start = m, m.Start() }

// Observe also checks that nothing is due at once or in the past, which would keep the hub ticking.
func (t *memoryTape) Observe(at time.Time, o engine.Observation) {
	if n := len(t.observations); n > 0 && !t.overdue {
		last := t.observations[n-1]
		due := t.model.Due()
		if t.overdue = !due.IsZero() && !due.After(last.At); t.overdue {
			t.t.Errorf("%v: due at %v already, after %T %+v", last.At, due, last.Observation, last.Observation)
		}
	}
	if n := len(t.observations); n >= 20 && n >= 2*t.at {
		b, err := must(cbor.EncOptions{Time: cbor.TimeRFC3339Nano}.EncMode()).Marshal(t.model.Checkpoint())
		if err != nil {
			t.t.Errorf("write the checkpoint down: %v", err)
		}
		t.checkpoint, t.at = b, n
	}
	t.observations = append(t.observations, observation{at, o})
}

func (t *memoryTape) State() engine.Recording { return engine.Recording{} }

// replayed compares what was shown live with what the observations show.
func (t *memoryTape) replayed(live *engine.Snapshot) {
	if live == nil {
		return
	}
	live = without(live)
	m, err := engine.NewModel(t.start)
	if err != nil {
		t.t.Fatalf("begin the replay: %v", err)
	}
	all, snapshot := t.play(m, t.observations, live.Seq)
	if diff := cmp.Diff(live, snapshot, plain); diff != "" {
		t.t.Errorf("the replay shows something else than there was (- live, + replay):\n%s", diff)
	}
	var c engine.Checkpoint
	if t.checkpoint == nil {
		return
	}
	if err := cbor.Unmarshal(t.checkpoint, &c); err != nil {
		t.t.Fatalf("read the checkpoint: %v", err)
	}
	if c.Ticks >= live.Seq {
		return // it was made after the last snapshot
	}
	if m, err = engine.Restore(t.start, &c); err != nil {
		t.t.Fatalf("restore the model: %v", err)
	}
	rest, snapshot := t.play(m, t.observations[t.at:], live.Seq)
	if diff := cmp.Diff(live, snapshot, plain); diff != "" {
		t.t.Errorf("from a checkpoint the replay shows something else (- live, + replay):\n%s", diff)
	}
	if len(rest) > 0 {
		i := slices.IndexFunc(all, func(e engine.Event) bool { return e.Seq == rest[0].Seq })
		if i < 0 {
			t.t.Fatalf("from a checkpoint the replay has an event that the whole has not: %v", rest[0])
		}
		all = all[i:]
	} else {
		all = nil
	}
	if diff := cmp.Diff(all, rest, plain); diff != "" {
		t.t.Errorf("from a checkpoint the replay has other events (- whole, + from there):\n%s", diff)
	}
}

// play applies observations, and returns the events and the snapshot with a number.
func (t *memoryTape) play(m *engine.Model, observations []observation, seq uint64) (all []engine.Event, s *engine.Snapshot) {
	for _, o := range observations {
		all = append(all, m.Apply(o.At, o.Observation)...)
		if _, ticked := o.Observation.(engine.Ticked); ticked {
			if now := m.Snapshot(o.At); now.Seq == seq {
				s = without(now)
			}
		}
	}
	return all, s
}

// without returns a snapshot without what a replay does not have.
func without(s *engine.Snapshot) *engine.Snapshot {
	c := *s
	c.Recording, c.Objects = engine.Recording{}, nil
	return &c
}

// plain compares values with all their fields, errors by their texts, and times as moments.
var plain = cmp.Options{
	cmp.Exporter(func(reflect.Type) bool { return true }),
	cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) }),
	cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) }),
}
