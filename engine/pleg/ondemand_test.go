package pleg

import (
	"errors"
	"slices"
	"testing"
	"time"
)

func TestReinspectRequests(t *testing.T) {
	b := newBed(t, Config{Release: 36})
	a := pod("a", "c1 running")
	b.relist(a)
	b.core.RequestReinspect("a")
	b.wantEvents(b.relist(a), "a PodSync")
	b.wantInspected("a")

	b.core.RequestReinspect("a")
	b.wantEvents(b.relist(pod("a", "c1 unknown")), "a Changed c1 filtered") // and no PodSync

	b.core.RequestReinspect("b")
	b.relist(a)
	if !b.core.Reinspecting("b") {
		t.Error("a request for a pod never listed did not wait")
	}
	b.wantEvents(b.relist(a, pod("b")), "b PodSync")
	if b.core.Reinspecting("b") {
		t.Error("the request was served and still waits")
	}
}

func TestReinspectRequestDuringARelist(t *testing.T) {
	b := newBed(t, Config{Release: 36})
	x := []Pod{pod("a", "c1 running"), pod("b", "c1 running"), pod("c", "c1 running")}
	b.relist(slices.Clone(x)...)
	b.core.RequestReinspect("b")
	b.during = func(uid UID) {
		if uid == "b" {
			for _, p := range x {
				b.core.RequestReinspect(p.UID)
			}
		}
	}
	b.wantEvents(b.relist(slices.Clone(x)...), "b PodSync", "c PodSync") // the turn of c was to come
	b.during = nil
	b.wantEvents(b.relist(slices.Clone(x)...), "a PodSync", "b PodSync")
}

func TestOlderReleasesTakeNoRequest(t *testing.T) {
	for _, release := range []Release{31, 35} {
		b := newBed(t, Config{Release: release})
		b.relist(pod("a", "c1 running"))
		b.core.RequestReinspect("a")
		b.core.RequestReinspect("b")
		if b.core.Reinspecting("a") || b.core.Reinspecting("b") {
			t.Errorf("%v took a request", release)
		}
		if err := b.core.BeginPod(b.at, pod("a")); !errors.Is(err, ErrRelease) {
			t.Errorf("%v: BeginPod = %v, want %v", release, err, ErrRelease)
		}
	}
}

func TestRelistOfOnePod(t *testing.T) {
	b := newBed(t, Config{Release: 37})
	b.relist(pod("a", "c1 running", "s1 running"), pod("b", "c1 running"))
	listedAt, gauges := b.core.ListedAt(), b.core.Gauges()
	b.wantEvents(b.relistPod(pod("a", "c1 exited", "s1 exited")), "a Died c1", "a Died s1")
	b.wantEvents(b.relistPod(pod("0", "c1 running")), "0 Started c1")
	for uid := range b.core.Records() {
		if uid != "0" {
			t.Errorf("the first record is that of %s, want 0", uid)
		}
		break
	}
	b.wantEvents(b.relistPod(pod("b", "c1 running")))
	b.wantInspected()
	e, _ := b.core.Cache().Entry("b")
	if !e.Observed.Equal(b.at) || e.Modified.Equal(b.at) {
		t.Errorf("entry = %+v, want it observed at %v and not modified", e, b.at)
	}
	if b.core.ListedAt() != listedAt || b.core.Gauges() != gauges {
		t.Error("a relist of one pod moved the list time or the gauges")
	}
	if at, _ := b.core.Cache().Time(); !at.Equal(listedAt) {
		t.Errorf("cache time = %v, want %v", at, listedAt)
	}
	b.failing["b"] = true
	b.wantEvents(b.relistPod(pod("b", "c1 exited")))
	b.failing["b"] = false
	b.wantEvents(b.relist(pod("0", "c1 running"), pod("a", "c1 exited", "s1 exited"), pod("b", "c1 exited")), "b Died c1")
}

func TestInspectAlone(t *testing.T) {
	eachRelease(t, func(t *testing.T, b *bed, _ Release) {
		b.relist(pod("a", "c1 running"))
		old, current, _ := b.core.Record("a")
		b.ips["a"] = []string{"10.0.0.9"}
		b.at = b.at.Add(time.Second)
		b.must(b.core.BeginInspect("a"))
		if b.core.Pending() != 1 {
			t.Errorf("pending = %d, want 1", b.core.Pending())
		}
		b.wantEvents(b.finish())
		b.wantInspected("a")
		if st, _ := b.core.Cache().Get("a"); !slices.Equal(st.IPs, b.ips["a"]) {
			t.Errorf("cache holds %v, want %v", st.IPs, b.ips["a"])
		}
		if e, _ := b.core.Cache().Entry("a"); !e.Modified.Equal(b.at) {
			t.Errorf("the entry counts from %v, want the inspection's %v", e.Modified, b.at)
		}
		b.failing["a"] = true
		b.must(b.core.BeginInspect("a"))
		b.finish()
		if b.core.Reinspecting("a") {
			t.Error("a failed inspection outside a relist is to be made again")
		}
		if o, c, _ := b.core.Record("a"); o != old || c != current {
			t.Error("the record moved")
		}
		if err := b.core.BeginInspect("b"); !errors.Is(err, ErrUnknownPod) {
			t.Errorf("BeginInspect of an unknown pod = %v, want %v", err, ErrUnknownPod)
		}
	})
}

func TestCacheTimeOfAnInspection(t *testing.T) {
	want := map[Release]time.Duration{28: time.Minute, 34: time.Minute, 36: 0}
	eachRelease(t, func(t *testing.T, b *bed, release Release) {
		p := pod("a", "c1 running")
		p.ListedAt = epoch
		b.must(b.core.Begin(epoch, []Pod{p}))
		b.core.Next()
		b.must(b.core.Settle("a", epoch.Add(time.Minute), nil, nil))
		e, _ := b.core.Cache().Entry("a")
		if got := e.Modified.Sub(epoch); got != want[release] {
			t.Errorf("the entry counts from %v, want %v", got, want[release])
		}
		if e.Status == nil || e.Status.UID != "a" {
			t.Errorf("status = %+v, want an empty one of the pod", e.Status)
		}
	})
}
