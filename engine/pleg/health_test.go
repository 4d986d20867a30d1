package pleg

import (
	"testing"
	"time"
)

func TestHealthy(t *testing.T) {
	tests := []struct {
		name      string
		threshold time.Duration
		age       time.Duration
		want      string
	}{
		{"just now", 0, 0, ""},
		{"1 ns before the threshold", 0, 3*time.Minute - 1, ""},
		{"at the threshold", 0, 3 * time.Minute, ""},
		{"1 ns after the threshold", 0, 3*time.Minute + 1, "pleg was last seen active 3m0.000000001s ago; threshold is 3m0s"},
		{"long after", 0, time.Hour, "pleg was last seen active 1h0m0s ago; threshold is 3m0s"},
		{"a threshold of one's own", time.Second, 1500 * time.Millisecond, "pleg was last seen active 1.5s ago; threshold is 1s"},
		{"clock set back", 0, -time.Hour, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			core, err := New(Config{Threshold: tt.threshold})
			if err != nil {
				t.Fatal(err)
			}
			relistOnce(t, core, nil, nil)
			got := ""
			if err := core.Healthy(epoch.Add(tt.age)); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("verdict %q, want %q", got, tt.want)
			}
		})
	}
}

func TestHealthCountsFromTheStart(t *testing.T) {
	core, _ := New(Config{})
	start := epoch.Add(time.Nanosecond)
	if err := core.Begin(start, []Pod{pod("a", "c1 running")}); err != nil {
		t.Fatal(err)
	}
	if err := core.Healthy(start.Add(DefaultThreshold)); err != nil {
		t.Errorf("verdict %v while an inspection is out", err)
	}
	if err := core.Healthy(start.Add(DefaultThreshold + 1)); err == nil {
		t.Error("healthy though an inspection is out for longer than the threshold")
	}
}

func TestLastSeenMovesWithHealthy(t *testing.T) {
	core, _ := New(Config{})
	b := &bed{t: t, core: core, at: epoch.Add(200 * time.Millisecond)}
	b.relist()
	if !core.LastSeen().IsZero() {
		t.Error("the gauge moved with a relist")
	}
	if err := core.Healthy(b.at); err != nil {
		t.Fatal(err)
	}
	want := epoch.Add(time.Second)
	if !core.LastSeen().Equal(want) {
		t.Errorf("last seen %v, want whole seconds: %v", core.LastSeen(), want)
	}
	b.relist()
	if !core.LastSeen().Equal(want) {
		t.Errorf("last seen %v, want still %v", core.LastSeen(), want)
	}
}
