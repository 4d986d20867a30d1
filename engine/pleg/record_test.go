package pleg

import (
	"fmt"
	"slices"
	"testing"
)

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
			if b.core.Forget("a") {
				t.Error("forgot a pod that may come back")
			}
			b.relist()
			b.relist()
			if got := slices.Collect(b.core.Leaked()); !slices.Equal(got, []UID{"a"}) {
				t.Fatalf("leaked %v, want [a]", got)
			}
			if !b.core.Forget("a") {
				t.Error("could not forget the leak")
			}
			if _, _, ok := b.core.Record("a"); ok || b.core.Cache().Len() > 0 {
				t.Error("something of the leak was left")
			}
			b.wantEvents(b.relist(pod("a", "c1 running")), "a Started c1")
		})
	}
}

func TestPodsThatComeAndGoLeaveNothing(t *testing.T) {
	eachRelease(t, func(t *testing.T, b *bed, _ Release) {
		for i := range 100 {
			b.relist(pod(UID(fmt.Sprint(i)), "c1 running"), pod("z", "c1 running"))
		}
		b.relist()
		c := b.core
		if n := len(c.records.order) + len(c.records.byUID) + c.Cache().Len() + cap(c.released); n > 0 {
			t.Errorf("records %v, %d cache entries, room for %d events are left", c.records, c.Cache().Len(), cap(c.released))
		}
	})
}
