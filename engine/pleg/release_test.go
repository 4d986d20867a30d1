package pleg

import (
	"slices"
	"testing"
	"time"
)

func TestReinspectRequestDuringARelist(t *testing.T) {
	b := newBed(t, Config{Release: 36})
	all := []*Pod{pod("a", "c1 running"), pod("b", "c1 running"), pod("c", "c1 running")}
	b.relist(all...)
	b.core.RequestReinspect("b")
	b.during = func(uid UID) {
		if uid == "b" {
			for _, p := range all {
				b.core.RequestReinspect(p.UID)
			}
		}
	}
	b.wantEvents(b.relist(all...), "b PodSync", "c PodSync") // the turn of c was to come
	b.during = nil
	b.wantEvents(b.relist(all...), "a PodSync", "b PodSync")
}

func TestOlderReleasesTakeNoRequest(t *testing.T) {
	for _, release := range []Release{31, 35} {
		b := newBed(t, Config{Release: release})
		b.relist(pod("a", "c1 running"))
		b.core.RequestReinspect("a")
		b.core.RequestReinspect("b")
		b.wantReinspect()
		b.wantErr(b.core.BeginPod(b.at, pod("a")), ErrRelease)
		if b.core.OnDemand() {
			t.Errorf("%v relists one pod alone", release)
		}
	}
}

func TestInspectAlone(t *testing.T) {
	eachRelease(t, func(t *testing.T, b *bed, _ Release) {
		b.relist(pod("a", "c1 running"))
		before, _ := b.core.Record("a")
		b.ips["a"] = []string{"10.0.0.9"}
		b.at = b.at.Add(time.Second)
		b.must(b.core.BeginInspect("a"))
		if b.core.Pending() != 1 {
			t.Errorf("pending = %d, want 1", b.core.Pending())
		}
		b.wantEvents(texts(b.finish()))
		b.wantInspected("a")
		if e, _ := b.core.Cache().Entry("a"); !e.Modified.Equal(b.at) || !slices.Equal(e.Status.IPs, b.ips["a"]) {
			t.Errorf("entry = %+v, want %v, from the inspection's %v", e, b.ips["a"], b.at)
		}
		b.failing["a"] = true
		b.must(b.core.BeginInspect("a"))
		b.finish()
		b.wantReinspect() // a failed inspection outside a relist is not retried
		if r, _ := b.core.Record("a"); r != before {
			t.Error("the record moved")
		}
	})
}

// A pod whose inspection failed is inspected by the kubelet that comes after, also where that does
// so in a second pass and the one before did not.
func TestFollowTakesOverWhatIsDue(t *testing.T) {
	for _, before := range []Release{32, 36} {
		b := newBed(t, Config{Release: before})
		b.relist(pod("a", "s1 running"), pod("b", "s1 running"))
		b.core.RequestReinspect("b") // its record has advanced: there is nothing listed to take over
		b.failing["a"] = true
		b.relist(pod("a", "s1 exited"), pod("b", "s1 running"))
		b.failing["a"] = false
		if err := b.core.Follow(99); err == nil {
			t.Error("a release that is not known is followed")
		}
		b.core.RequestReinspect("b")
		b.must(b.core.Follow(28))
		b.relist(pod("a", "s1 exited"), pod("b", "s1 running"))
		if !slices.Contains(b.inspected, "a") {
			t.Errorf("%v to 1.28: inspected %v, want a", before, b.inspected)
		}
		b.relist(pod("a", "s1 exited"), pod("b", "s1 running"))
		b.wantInspected()
		b.must(b.core.Follow(36))
		b.wantEvents(b.relistPod(pod("a", "s1 running")), "a Started s1")
	}
}

func TestAttendedChannelIsReadBetweenPods(t *testing.T) {
	b := newBed(t, Config{Capacity: 2})
	two := []*Pod{pod("a", "c1 running"), pod("b", "c1 running", "c2 running", "c3 running")}
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
		b := newBed(t, Config{})
		b.relist(manyPods(1, containers, func(int) bool { return false })...)
		now := manyPods(1, containers-1, func(int) bool { return true })
		b.must(b.core.Begin(epoch, now))
		st := statusOf(now[0])
		for i := range st.Containers {
			st.Containers[i].ExitCode = int32(i + 1)
		}
		b.must(b.core.Settle(now[0].UID, epoch, st, nil))
		events := b.core.Released()
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

func TestHealthy(t *testing.T) {
	core, _ := New(Config{})
	if err := core.Healthy(epoch); err == nil || err.Error() != "pleg has yet to be successful" {
		t.Errorf("before any list: %v", err)
	}
	for _, tt := range []struct {
		name      string
		threshold time.Duration
		age       time.Duration
		want      string
	}{
		{"just now", 0, 0, ""},
		{"at the threshold", 0, 3 * time.Minute, ""},
		{"1 ns after the threshold", 0, 3*time.Minute + 1, "pleg was last seen active 3m0.000000001s ago; threshold is 3m0s"},
		{"long after", 0, hour, "pleg was last seen active 1h0m0s ago; threshold is 3m0s"},
		{"another threshold", time.Second, 1500 * time.Millisecond, "pleg was last seen active 1.5s ago; threshold is 1s"},
		{"clock set back", 0, -hour, ""},
	} {
		b := newBed(t, Config{Threshold: tt.threshold})
		b.must(b.core.Begin(epoch, []*Pod{pod("a", "c1 running")})) // its start counts, though an inspection is out
		got := ""
		if err := b.core.Healthy(epoch.Add(tt.age)); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: verdict %q, want %q", tt.name, got, tt.want)
		}
	}
}
