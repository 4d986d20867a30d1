package pleg

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Next and the other questions move nothing: the core moves when it is told what was listed and
// inspected.
func TestQuestionsChangeNothing(t *testing.T) {
	eachRelease(t, func(t *testing.T, b *bed, _ Release) {
		b.failing["b"] = true
		b.relist(pod("a", "c1 running"), pod("b", "c1 running"), pod("gone", "c1 running"))
		ask := func() {
			t.Helper()
			var before, after []byte
			before, _ = encoder.Marshal(b.core.Checkpoint())
			for range 3 {
				first, ok := b.core.Next()
				if second, ok2 := b.core.Next(); first != second || ok != ok2 {
					t.Errorf("Next = %v, then %v", first, second)
				}
				b.core.Pending()
				_ = b.core.Healthy(b.at)
				b.core.Record("a")
				for range b.core.Records() {
				}
				b.core.Len()
			}
			if after, _ = encoder.Marshal(b.core.Checkpoint()); !slices.Equal(before, after) {
				t.Error("a question has changed the core")
			}
		}
		ask()
		b.during = func(UID) { ask() }
		b.wantEvents(b.relist(pod("a", "c1 exited"), pod("b", "c1 exited"), pod("c", "c1 running")), "a Died c1", "c Started c1", "gone Died c1", "gone Removed c1")
	})
}

// The pods that need no inspection have their turns with the call that comes before them.
func TestEventsOfEndedPodsDoNotWait(t *testing.T) {
	b := newBed(t, Config{})
	b.relist(pod("a", "c1 running"), pod("b", "c1 running"), pod("c", "c1 running"))
	b.must(b.core.Begin(b.at, []*Pod{pod("b", "c1 exited")}))
	b.wantEvents(texts(b.core.Released()), "a Died c1", "a Removed c1")
	b.must(b.core.Settle("b", b.at, nil, nil))
	b.wantEvents(texts(b.core.Released()), "b Died c1", "c Died c1", "c Removed c1")
	b.must(b.core.End())
	b.must(b.core.Begin(b.at, nil))
	b.wantEvents(texts(b.core.Released()), "b Removed c1")
}

func TestSecondTryGivesNoEvents(t *testing.T) {
	b := newBed(t, Config{Release: 28})
	b.failing["a"] = true
	b.relist(pod("a", "c1 running"))
	tries := 0
	b.during = func(UID) { tries++; b.failing["a"] = tries == 1 }
	b.wantEvents(b.relist(pod("a", "c1 running")))
	if st, err := b.core.Cache().Get("a"); err != nil || len(st.Containers) != 1 {
		t.Errorf("cache has %+v, %v, want what the second try found", st, err)
	}
	b.wantReinspect("a") // the first try failed
	b.wantEvents(b.relist(pod("a", "c1 running")), "a Started c1")
	b.wantInspected("a")
	b.wantReinspect()
}

func TestSecondTryKeepsToOnePod(t *testing.T) {
	b := newBed(t, Config{Release: 28})
	b.failing["a"] = true
	b.relist(pod("a", "c1 running"))
	b.relist(pod("a", "c2 running"))
	b.wantTried("c2", "c1")
	b.relist(pod("a", "c3 running"))
	b.wantTried("c3", "c1") // it has failed again, so it is tried again

	tries := 0
	b.during = func(UID) { tries++; b.failing["a"] = tries == 1 }
	b.relist(pod("a", "c4 running"))
	b.wantTried("c4", "c1")
	b.during, b.failing["a"] = nil, true
	b.relist(pod("a", "c5 running"))
	b.wantTried("c5", "c4") // that one was good, which leaves the failure after it
}

func TestWrongCalls(t *testing.T) {
	b := newBed(t, Config{})
	core := b.core
	b.wantErr(core.End(), ErrIdle)
	b.wantErr(core.Settle("a", epoch, nil, nil), ErrNotPending)
	b.wantErr(core.BeginInspect("a"), ErrUnknownPod)
	if _, ok := core.Next(); ok {
		t.Error("Next found work outside a relist")
	}
	b.must(core.Begin(epoch, []*Pod{pod("a", "c1 running"), pod("b", "c1 running")}))
	b.wantErr(core.Begin(epoch.Add(hour), nil), ErrBusy)
	b.wantErr(core.BeginPod(epoch, pod("a")), ErrBusy)
	b.wantErr(core.BeginInspect("a"), ErrBusy)
	b.wantErr(core.Follow(31), ErrBusy)
	b.wantErr(core.End(), ErrUnsettled)
	b.wantErr(core.Settle("b", epoch, nil, nil), ErrNotPending)
	if !core.ListedAt().Equal(epoch) || len(core.Released()) > 0 {
		t.Error("a wrong call changed something")
	}
}

func TestPending(t *testing.T) {
	eachRelease(t, func(t *testing.T, b *bed, _ Release) {
		b.failing["c"] = true
		b.relist(pod("a", "c1 running"), pod("b", "c1 running"), pod("c", "c1 running"), pod("d", "c1 running"))
		b.must(b.core.Begin(epoch, []*Pod{pod("a", "c1 exited"), pod("b", "c1 running"), pod("c", "c1 running")}))
		var got []int
		for next, ok := b.core.Next(); ok; next, ok = b.core.Next() {
			got = append(got, b.core.Pending())
			b.must(b.core.Settle(next.Pod.UID, epoch, nil, nil))
		}
		if want := []int{2, 1}; !slices.Equal(got, want) || b.core.Pending() != 0 {
			t.Errorf("pending %v, then %d, want %v", got, b.core.Pending(), want)
		}
	})
}

func TestLeaks(t *testing.T) {
	tests := []struct {
		name    string
		release Release
		leave   func(*bed)
	}{
		{"empty pod", 36, func(b *bed) { b.relist(pod("a")) }},
		{"emptied pod", 34, func(b *bed) { b.relist(pod("a", "c1 running")); b.relist(pod("a")) }},
		{"vanished while failing", 28, func(b *bed) {
			b.failing["a"] = true
			b.relist(pod("a", "c1 running"))
			b.failing["a"] = false
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBed(t, Config{Release: tt.release})
			tt.leave(b)
			if b.core.ForgetLeaked(); len(b.core.Checkpoint().Records) != 1 {
				t.Error("forgot a pod that may come back")
			}
			b.relist(pod("b"))
			b.relist()
			if leaked := slices.Sorted(maps.Keys(b.core.Checkpoint().Records)); !slices.Equal(leaked, []UID{"a", "b"}) {
				t.Fatalf("leaked %v, want [a b]", leaked)
			}
			b.core.ForgetLeaked()
			if s := b.core.Checkpoint(); len(s.Records) > 0 || len(s.Cache.Entries) > 0 {
				t.Error("something of the leak was left")
			}
			b.wantEvents(b.relist(pod("a", "c1 running")), "a Started c1")
		})
	}
}

func TestPodsThatComeAndGoLeaveNothing(t *testing.T) {
	eachRelease(t, func(t *testing.T, b *bed, release Release) {
		for i := range 100 {
			b.relist(pod(UID(fmt.Sprint(i)), "c1 running"), pod("z", "c1 running"))
		}
		b.relist()
		fresh := newBed(t, Config{Release: release})
		fresh.at = b.at.Add(-time.Second)
		fresh.relist()
		got, want := b.core.Checkpoint(), fresh.core.Checkpoint()
		got.Unread, want.Gauges = 0, got.Gauges // the channel was not read; gauges keep their figures
		if diff := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
			t.Errorf("state (-of a new core +after pods came and went):\n%s", diff)
		}
	})
}
