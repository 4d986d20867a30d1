package pleg

import (
	"testing"
)

func TestWatchCondition(t *testing.T) {
	b := newBed(t, Config{Release: 33})
	a := pod("a", "c1 running")
	b.relist(a)
	met := false
	b.core.SetWatch("a", "resize", func(*PodStatus) bool { return met })
	b.wantEvents(b.relist(a))
	b.wantInspected("a")
	met = true
	b.wantEvents(b.relist(pod("a", "c1 exited")), "a Died c1", "a ConditionMet") // the container's first
	b.wantEvents(b.relist(pod("a", "c1 exited")))
	b.wantInspected()
}

func TestWatchConditionsMakeOneEvent(t *testing.T) {
	b := newBed(t, Config{Release: 35})
	a := pod("a", "c1 running")
	b.relist(a)
	for _, key := range []string{"x", "y"} {
		b.core.SetWatch("a", key, func(*PodStatus) bool { return true })
	}
	b.core.SetWatch("a", "z", func(*PodStatus) bool { return false })
	b.wantEvents(b.relist(a), "a ConditionMet")
	if got := len(b.core.watches["a"]); got != 1 {
		t.Errorf("%d conditions are left, want 1", got)
	}
}

func TestWatchConditionWaitsForAGoodInspection(t *testing.T) {
	b := newBed(t, Config{Release: 34})
	a := pod("a", "c1 running")
	b.relist(a)
	b.failing["a"] = true
	b.core.SetWatch("a", "x", func(*PodStatus) bool { return true })
	b.wantEvents(b.relist(a))
	b.failing["a"] = false
	b.wantEvents(b.relist(a), "a ConditionMet")
}

func TestWatchConditionReplacedMeanwhile(t *testing.T) {
	b := newBed(t, Config{Release: 34})
	a := pod("a", "c1 running")
	b.relist(a)
	yes, no := func(*PodStatus) bool { return true }, func(*PodStatus) bool { return false }
	b.core.SetWatch("a", "x", yes)
	b.during = func(UID) {
		b.core.SetWatch("a", "x", no)
		b.core.SetWatch("a", "y", yes) // too late to be tried now
	}
	b.wantEvents(b.relist(a), "a ConditionMet")
	if got := len(b.core.watches["a"]); got != 2 {
		t.Errorf("%d conditions are left, want both of the new ones", got)
	}
}

func TestWatchConditionsOfPodsNotListed(t *testing.T) {
	b := newBed(t, Config{Release: 32})
	b.relist(pod("a", "c1 running"))
	for _, uid := range []UID{"a", "never"} {
		b.core.SetWatch(uid, "x", func(*PodStatus) bool { return true })
	}
	b.wantEvents(b.relist(), "a Died c1", "a Removed c1")
	if len(b.core.watches) > 0 {
		t.Error("conditions outlived their pods")
	}
}

func TestWatchConditionOnAPodThatIsGone(t *testing.T) {
	b := newBed(t, Config{Release: 34})
	b.relist(pod("z", "c1 running"))
	b.during = func(UID) { // too late to be dropped, and there is no status to try it on
		b.core.SetWatch("z", "x", func(st *PodStatus) bool { return st.UID == "z" })
	}
	b.wantEvents(b.relist(pod("a", "c2 running")), "a Started c2", "z Died c1", "z Removed c1")
	b.during = nil
	b.relist()
	if len(b.core.watches) > 0 {
		t.Error("the condition outlived its pod")
	}
}

func TestOtherReleasesKnowNoConditions(t *testing.T) {
	for _, release := range []Release{31, 36} {
		b := newBed(t, Config{Release: release})
		b.relist(pod("a", "c1 running"))
		b.core.SetWatch("a", "x", func(*PodStatus) bool { return true })
		b.wantEvents(b.relist(pod("a", "c1 running")))
	}
}

func TestWhileRunning(t *testing.T) {
	never := WhileRunning("app", func(*ContainerStatus) bool { return false })
	tests := []struct {
		name       string
		containers []ContainerStatus
		want       bool
	}{
		{"running", []ContainerStatus{{Name: "app", State: Running}}, false},
		{"ended", []ContainerStatus{{Name: "app", State: Exited}}, true},
		{"gone", []ContainerStatus{{Name: "other", State: Running}}, true},
		{"the newest counts", []ContainerStatus{{Name: "app", State: Running}, {Name: "app", State: Exited}}, false},
	}
	for _, tt := range tests {
		if got := never(&PodStatus{Containers: tt.containers}); got != tt.want {
			t.Errorf("%s: met = %v, want %v", tt.name, got, tt.want)
		}
	}
	met := WhileRunning("app", func(s *ContainerStatus) bool { return s.ID == "1" })
	if !met(&PodStatus{Containers: []ContainerStatus{{ID: "1", Name: "app", State: Running}}}) {
		t.Error("a condition on a running container was not asked")
	}
}
