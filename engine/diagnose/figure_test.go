package diagnose

import (
	"testing"
	"time"
)

func TestFigures(t *testing.T) {
	tests := []struct{ got, want string }{
		{span(0), "0s"},
		{span(300 * time.Microsecond), "300µs"},
		{span(12*time.Millisecond + 400*time.Microsecond), "12ms"},
		{span(3440 * time.Millisecond), "3.4s"},
		{span(47300 * time.Millisecond), "47s"},
		{span(72 * time.Second), "1m12s"},
		{span(125*time.Minute + 31*time.Second), "2h6m"},
		{span(76*time.Hour + 10*time.Minute), "3d4h"},
		{span(-3 * time.Second), "-3s"},
		{going(0), "less than 1s"}, {going(-time.Millisecond), "less than 1s"}, {going(3940 * time.Millisecond), "3s"}, {going(-2 * time.Second), "-2s"}, {going(72900 * time.Millisecond), "1m12s"},
		{count(1, "more pod"), "1 more pod"}, {count(2000, "more pod"), "2,000 more pods"},
		{size(0), "0 B"}, {size(1023), "1023 B"}, {size(2048), "2 KiB"}, {size(14 << 20), "14.0 MiB"}, {size(3 << 30), "3.0 GiB"},
		{count(1, "pod"), "1 pod"}, {count(0, "pod"), "0 pods"}, {count(20000, "container"), "20,000 containers"}, {count(-3, "pod"), "0 pods"},
		{thousands(999), "999"}, {thousands(1234567), "1,234,567"},
		{clock(now, now), "09:26:53"}, {clock(time.Time{}, now), "never"},
		{clock(now.Add(-12*time.Hour), now), "2026-03-13 21:26:53"}, {clock(now.AddDate(-1, 0, 0), now), "2025-03-14 09:26:53"}, {clock(now.Add(18*time.Hour), now), "2026-03-15 03:26:53"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}
