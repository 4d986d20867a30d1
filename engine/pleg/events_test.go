package pleg

import (
	"testing"
)

func TestChangedIsFilteredAndAdvances(t *testing.T) {
	b := newBed(t, Config{Capacity: 1})
	b.wantEvents(b.relist(pod("a", "c1 created", "c2 running")), "a Changed c1 filtered", "a Started c2")
	b.wantEvents(b.relist(pod("a", "c1 created", "c2 running")))
	b.wantEvents(b.relist(pod("a", "c2 running")), "a Died c1 discarded", "a Removed c1 discarded")
}

func TestFullChannelLosesForGood(t *testing.T) {
	b := newBed(t, Config{Capacity: 1})
	b.wantEvents(b.relist(pod("a", "c1 running", "s1 running")), "a Started c1", "a Started s1 discarded")
	if b.core.Len() != 1 || b.core.Capacity() != 1 {
		t.Errorf("channel %d of %d, want 1 of 1", b.core.Len(), b.core.Capacity())
	}
	if got := b.core.Drain(); got != 1 || b.core.Len() != 0 {
		t.Errorf("drained %d and left %d, want 1 and 0", got, b.core.Len())
	}
	b.wantEvents(b.relist(pod("a", "c1 running", "s1 running")))
	b.wantEvents(b.relist(), "a Died c1", "a Removed c1 discarded", "a Died s1 discarded", "a Removed s1 discarded")
}

func TestAttendedChannelIsReadBetweenPods(t *testing.T) {
	b := newBed(t, Config{Capacity: 2})
	two := []Pod{pod("a", "c1 running"), pod("b", "c1 running", "c2 running", "c3 running")}
	b.core.Attend(true)
	b.wantEvents(b.relist(two...), "a Started c1", "b Started c1", "b Started c2", "b Started c3 discarded")
	if b.core.Len() != 0 {
		t.Errorf("%d events wait for a reader that keeps up", b.core.Len())
	}
	b.core.Attend(false)
	b.wantEvents(b.relist(two[0]), "b Died c1", "b Removed c1", "b Died c2 discarded", "b Removed c2 discarded", "b Died c3 discarded", "b Removed c3 discarded")
	b.core.Attend(true)
	if b.core.Len() != 0 {
		t.Errorf("a reader that came back left %d events", b.core.Len())
	}
	b.wantEvents(b.relist(), "a Died c1", "a Removed c1")
}

func TestExitCode(t *testing.T) {
	for _, containers := range []int{3, 3 * fewIDs} {
		was := manyPods(1, containers, func(int) bool { return false })
		now := manyPods(1, containers-1, func(int) bool { return true })
		core, _ := New(Config{})
		relistOnce(t, core, was, nil)
		events := relistOnce(t, core, now, func(st *PodStatus) {
			for i := range st.Containers {
				st.Containers[i].ExitCode = int32(i + 1)
			}
		})
		for i, e := range events[:containers-1] {
			if e.Kind != Died || !e.Exited || e.ExitCode != int32(i+1) {
				t.Errorf("event %d = %+v, want a death with code %d", i, e, i+1)
			}
		}
		if e := events[containers-1]; e.Kind != Died || e.Exited {
			t.Errorf("event = %+v, want a death without a code: the container vanished", e)
		}
	}
}

// relistOnce relists with statuses that mirror the list, but for what change
// makes of them.
func relistOnce(t *testing.T, core *Core, pods []Pod, change func(*PodStatus)) []Event {
	t.Helper()
	if err := core.Begin(epoch, pods); err != nil {
		t.Fatal(err)
	}
	for next, ok := core.Next(); ok; next, ok = core.Next() {
		st := statusOf(next.Pod)
		if change != nil {
			change(st)
		}
		if err := core.Settle(next.Pod.UID, epoch, st, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := core.End(); err != nil {
		t.Fatal(err)
	}
	return core.Released()
}
