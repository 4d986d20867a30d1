package pleg

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// encoder writes times as a recording must: with their nanoseconds.
var encoder, _ = cbor.EncOptions{Time: cbor.TimeRFC3339Nano, Sort: cbor.SortBytewiseLexical}.EncMode()

// restored returns a core that was encoded and decoded.
func restored(c *Core, config Config) (*Core, error) {
	data, err := encoder.Marshal(c.Checkpoint())
	if err != nil {
		return nil, err
	}
	var s Checkpoint
	if err := cbor.Unmarshal(data, &s); err != nil {
		return nil, err
	}
	return Restore(config, s)
}

// restore puts a restored core in the place of the node's, if it is to. Statuses in the cache stay
// the same pointers, so that outcome sees which were written.
func (n *node) restore() error {
	if !n.restores {
		return nil
	}
	old := n.core
	core, err := restored(old, n.config)
	if err != nil {
		return err
	}
	if len(core.Cache().Entries) != len(old.Cache().Entries) {
		return fmt.Errorf("the cache has %d entries after a restore, want %d", len(core.Cache().Entries), len(old.Cache().Entries))
	}
	for uid, e := range old.Cache().Entries {
		got := core.Cache().Entries[uid]
		if !reflect.DeepEqual(got.Status, e.Status) {
			return fmt.Errorf("status of %s (-before +after a restore):\n%s", uid, cmp.Diff(e.Status, got.Status))
		}
		got.Status = e.Status
		core.Cache().Entries[uid] = got
	}
	n.core = core
	return nil
}

// What a checkpoint has beyond what the golden traces show: waiters, answers, events that nobody
// has taken, a reader, and times to the nanosecond.
func TestCheckpointHasAll(t *testing.T) {
	b := newBed(t, Config{Capacity: 3})
	b.relist(pod("a", "c1 running", "s1 running"), pod("b", "c1 running"))
	b.core.Attend(true)
	b.core.RequestReinspect("never listed")
	first, _ := b.core.Cache().Subscribe("a", b.at.Add(1))
	second, _ := b.core.Cache().Subscribe("a", b.at.Add(hour))
	b.failing["b"] = true
	b.must(b.core.Begin(b.at.Add(1), []*Pod{pod("a", "c1 exited", "s1 running"), pod("b", "c1 exited")}))
	b.must(b.core.Settle("a", b.at, nil, nil))
	core, err := restored(b.core, Config{Capacity: 3})
	b.must(err)
	if diff := cmp.Diff(b.core.Checkpoint(), core.Checkpoint(), cmpopts.IgnoreUnexported(Record{})); diff != "" {
		t.Errorf("checkpoint (-before +after):\n%s", diff)
	}
	b.core = core
	b.must(core.Settle("b", b.at, nil, errors.New("")))
	b.must(core.End())
	b.wantEvents(texts(core.Released()), "a Died c1")
	if served := core.Cache().Served(); len(served) != 1 || served[0].Ticket != first {
		t.Errorf("served %v, want the waiter of an instant before", served)
	}
	if ticket, _ := core.Cache().Subscribe("a", b.at.Add(hour)); ticket != second+1 {
		t.Errorf("ticket %d came after %d", ticket, second)
	}
	if _, err := core.Cache().Get("b"); err == nil || !core.reinspecting("b") || !core.reinspecting("never listed") {
		t.Errorf("error %v, reinspecting %v and %v", err, core.reinspecting("b"), core.reinspecting("never listed"))
	}
}

// A damaged checkpoint is refused; it brings no core that panics.
func TestDamagedCheckpoint(t *testing.T) {
	for name, damage := range map[string]func(*Checkpoint){
		"no records":       func(s *Checkpoint) { s.Records = nil },
		"no requests":      func(s *Checkpoint) { s.Requested = nil },
		"no cache":         func(s *Checkpoint) { s.Cache = nil },
		"an empty cache":   func(s *Checkpoint) { s.Cache = &Cache{} },
		"a nil record":     func(s *Checkpoint) { s.Records["a"] = nil },
		"another's record": func(s *Checkpoint) { s.Records["z"] = s.Records["a"] },
		"unknown pending":  func(s *Checkpoint) { s.Relist.Pending = "z" },
		"unknown in queue": func(s *Checkpoint) { s.Relist.Queue = []UID{"z"} },
		"nothing to inspect": func(s *Checkpoint) {
			s.Records["a"].Current = nil
		},
		"nothing to retry": func(s *Checkpoint) { s.Relist.Retrying = true },
	} {
		b := newBed(t, Config{})
		b.must(b.core.Begin(b.at, []*Pod{pod("a", "c1 running"), pod("b", "c1 running")}))
		s := b.core.Checkpoint()
		damage(&s)
		if _, err := Restore(Config{}, s); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
}
