package pleg

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// lines of releases: one of each relist.
var oneOfEach = []Release{28, 34, 36}

// eachRelease runs a test for one release of each relist.
func eachRelease(t *testing.T, f func(*testing.T, *bed, Release)) {
	for _, release := range oneOfEach {
		t.Run(release.String(), func(t *testing.T) { f(t, newBed(t, Config{Release: release}), release) })
	}
}

func TestSettlesByUIDWhateverTheOrder(t *testing.T) {
	eachRelease(t, func(t *testing.T, b *bed, _ Release) {
		b.relist(pod("m", "c running"))
		b.wantEvents(
			b.relist(pod("z", "c running"), pod("b", "c running"), pod("m", "c exited"), pod("a", "c running")),
			"a Started c", "b Started c", "m Died c", "z Started c",
		)
		b.wantInspected("a", "b", "m", "z")
		var order []UID
		for uid := range b.core.Records() {
			order = append(order, uid)
		}
		if want := []UID{"a", "b", "m", "z"}; !slices.Equal(order, want) {
			t.Errorf("records = %v, want %v", order, want)
		}
	})
}

func TestFailedInspectionHoldsEventsBack(t *testing.T) {
	eachRelease(t, func(t *testing.T, b *bed, _ Release) {
		b.relist(pod("a", "c1 running"))
		b.failing["a"] = true
		b.wantEvents(b.relist(pod("a", "c1 exited", "c2 running")))
		b.wantEvents(b.relist(pod("a", "c1 exited", "c2 exited")))
		if _, err := b.core.Cache().Get("a"); !errors.Is(err, errInspect) {
			t.Errorf("cache holds error %v, want %v", err, errInspect)
		}
		if !b.core.Reinspecting("a") {
			t.Error("the pod is not to be reinspected")
		}
		old, current, _ := b.core.Record("a")
		if old == nil || current == nil || old.Containers[0].State != Running {
			t.Errorf("record = %+v, %+v: want the old one as it was", old, current)
		}
		b.failing["a"] = false
		b.wantEvents(b.relist(pod("a", "c1 exited", "c2 exited")), "a Died c1", "a Died c2")
		if b.core.Reinspecting("a") {
			t.Error("the pod is still to be reinspected")
		}
	})
}

func TestVanishesWhileFailing(t *testing.T) {
	tests := map[Release]struct {
		events    []string
		inspected []UID
		record    bool
		entry     bool
	}{
		28: {nil, []UID{"a"}, true, true},
		34: {nil, nil, false, false},
		36: {[]string{"a PodSync"}, nil, false, false},
	}
	eachRelease(t, func(t *testing.T, b *bed, release Release) {
		want := tests[release]
		b.failing["a"] = true
		b.relist(pod("a", "c1 running"))
		b.failing["a"] = false
		b.wantEvents(b.relist(), want.events...)
		b.wantInspected(want.inspected...)
		if _, _, ok := b.core.Record("a"); ok != want.record {
			t.Errorf("record: %v, want %v", ok, want.record)
		}
		if _, ok := b.core.Cache().Entry("a"); ok != want.entry {
			t.Errorf("cache entry: %v, want %v", ok, want.entry)
		}
	})
}

func TestSecondTryGivesNoEvents(t *testing.T) {
	b := newBed(t, Config{Release: 28})
	b.failing["a"] = true
	b.relist(pod("a", "c1 running"))
	tries := 0
	b.during = func(UID) { tries++; b.failing["a"] = tries == 1 }
	b.wantEvents(b.relist(pod("a", "c1 running")))
	if st, err := b.core.Cache().Get("a"); err != nil || len(st.Containers) != 1 {
		t.Errorf("cache holds %+v, %v, want what the second try found", st, err)
	}
	if !b.core.Reinspecting("a") {
		t.Error("the first try failed, but the pod is not to be reinspected")
	}
	b.wantEvents(b.relist(pod("a", "c1 running")), "a Started c1")
	b.wantInspected("a")
	if b.core.Reinspecting("a") {
		t.Error("the pod is still to be reinspected")
	}
}

func TestSecondTryKeepsToOnePod(t *testing.T) {
	b := newBed(t, Config{Release: 28})
	b.failing["a"] = true
	b.relist(pod("a", "c1 running"))
	b.relist(pod("a", "c2 running"))
	b.wantTried("c2", "c1")
	b.relist(pod("a", "c3 running"))
	b.wantTried("c3", "c1") // it has failed again, so it is still to be made up for

	tries := 0
	b.during = func(UID) { tries++; b.failing["a"] = tries == 1 }
	b.relist(pod("a", "c4 running"))
	b.wantTried("c4", "c1")
	b.during, b.failing["a"] = nil, true
	b.relist(pod("a", "c5 running"))
	b.wantTried("c5", "c4") // that one was good, which leaves the failure after it
}

func TestKeepsAddressesOfEndedPods(t *testing.T) {
	running, ended := pod("a", "c1 running", "s1 running"), pod("a", "c1 exited", "s1 exited")
	b := newBed(t, Config{})
	b.ips["a"] = []string{"10.0.0.1"}
	b.relist(running)
	b.ips["a"] = nil
	wantIPs := func(want ...string) {
		t.Helper()
		if st, _ := b.core.Cache().Get("a"); !slices.Equal(st.IPs, want) {
			t.Errorf("addresses = %v, want %v", st.IPs, want)
		}
	}
	b.relist(ended)
	wantIPs("10.0.0.1")
	b.relist(pod("a", "c1 exited", "s1 exited", "s2 running"))
	wantIPs()

	b.ips["a"] = []string{"10.0.0.2"}
	b.relist(running)
	b.ips["a"], b.failing["a"] = nil, true
	b.relist(ended)
	b.failing["a"] = false
	b.relist(ended)
	wantIPs() // lost through the error
}

func TestWrongCalls(t *testing.T) {
	b := newBed(t, Config{})
	core := b.core
	wantErr := func(err, want error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("error = %v, want %v", err, want)
		}
	}
	wantErr(core.End(), ErrIdle)
	wantErr(core.Settle("a", epoch, nil, nil), ErrNotPending)
	if _, ok := core.Next(); ok {
		t.Error("Next found work outside a relist")
	}
	b.must(core.Begin(epoch, []Pod{pod("a", "c1 running"), pod("b", "c1 running")}))
	wantErr(core.Begin(epoch.Add(time.Hour), nil), ErrBusy)
	wantErr(core.BeginPod(epoch, pod("a")), ErrBusy)
	wantErr(core.BeginInspect("a"), ErrBusy)
	wantErr(core.End(), ErrUnsettled)
	first, _ := core.Next()
	if again, _ := core.Next(); again != first {
		t.Errorf("Next = %v, then %v before that was settled", first, again)
	}
	wantErr(core.Settle("b", epoch, nil, nil), ErrNotPending)
	if !core.ListedAt().Equal(epoch) || len(core.Released()) > 0 {
		t.Error("a wrong call changed something")
	}
}

func TestPending(t *testing.T) {
	eachRelease(t, func(t *testing.T, b *bed, release Release) {
		b.failing["c"] = true
		b.relist(pod("a", "c1 running"), pod("b", "c1 running"), pod("c", "c1 running"), pod("d", "c1 running"))
		b.must(b.core.Begin(epoch, []Pod{pod("a", "c1 exited"), pod("b", "c1 running"), pod("c", "c1 running")}))
		var got []int
		for next, ok := b.core.Next(); ok; next, ok = b.core.Next() {
			got = append(got, b.core.Pending())
			b.must(b.core.Settle(next.Pod.UID, epoch, nil, nil))
		}
		if want := []int{2, 1}; !slices.Equal(got, want) {
			t.Errorf("pending %v, want %v", got, want)
		}
		if b.core.Pending() != 0 {
			t.Errorf("pending %d at the end, want 0", b.core.Pending())
		}
	})
}
