package text_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

func TestFit(t *testing.T) {
	tests := []struct {
		in          string
		w           int
		left, right string
	}{
		{"abc", 5, "abc  ", "  abc"},
		{"abc", 3, "abc", "abc"},
		{"abcd", 3, "ab…", "ab…"},
		{"abc", 1, "…", "…"},
		{"abc", 0, "", ""},
		{"abc", -1, "", ""},
		{"日本語", 6, "日本語", "日本語"},
		{"日本語", 5, "日本…", "日本…"},
		{"日本語", 4, "日… ", "日… "},
		{"日本", 6, "日本  ", "  日本"},
	}
	for _, tt := range tests {
		if got := text.Fit(tt.in, tt.w, "…"); got != tt.left {
			t.Errorf("Fit(%q, %d) = %q, want %q", tt.in, tt.w, got, tt.left)
		}
		var l text.Line
		l.Begin(9)
		if l.Right(theme.Style{}, tt.in, tt.w); string(l.Buf) != tt.right {
			t.Errorf("Right(%q, %d) = %q, want %q", tt.in, tt.w, l.Buf, tt.right)
		}
	}
}

func TestWrap(t *testing.T) {
	tests := []struct {
		in   string
		w    int
		want []string
	}{
		{"", 5, []string{""}},
		{"one two three", 7, []string{"one two", "three"}},
		{"abcdefghij", 4, []string{"abcd", "efgh", "ij"}},
		{"日本語 x", 4, []string{"日本", "語 x"}},
		{"to /var/lib/kubelet now", 12, []string{"to", "/var/lib/", "kubelet now"}},
		{"a/bcdefghijkl", 8, []string{"a/bcdefg", "hijkl"}}, // a line is not left nearly empty
		{"refused\n", 7, []string{"refused"}},
	}
	for _, tt := range tests {
		if got := text.Wrap(tt.in, tt.w); !slices.Equal(got, tt.want) {
			t.Errorf("Wrap(%q, %d) = %q, want %q", tt.in, tt.w, got, tt.want)
		}
	}
}

func TestFigures(t *testing.T) {
	const day = 24 * time.Hour
	tests := []struct {
		d                 time.Duration
		took, age, coarse string
	}{
		{math.MinInt64, "0ms", "0s", "-292y"},
		{-79 * time.Second, "0ms", "0s", "-1m"},
		{-time.Second, "0ms", "0s", "0s"},
		{30 * time.Microsecond, "0.1ms", "0s", "0s"},
		{450 * time.Microsecond, "0.4ms", "0s", "0s"},
		{12 * time.Millisecond, "12ms", "0s", "0s"},
		{3290 * time.Millisecond, "3.2s", "3s", "3s"},
		{47 * time.Second, "47s", "47s", "40s"},
		{5*time.Minute + 12*time.Second, "5m12s", "5m12s", "5m"},
		{5 * time.Minute, "5m", "5m", "5m"},
		{47*time.Minute + time.Second, "47m", "47m", "47m"},
		{3*time.Hour + 5*time.Minute, "3h5m", "3h5m", "3h5m"},
		{26 * time.Hour, "26h", "26h", "26h"},
		{4*day + 5*time.Hour, "4d5h", "4d5h", "4d5h"},
		{12 * day, "12d", "12d", "12d"},
		{800 * day, "2y", "2y", "2y"},
	}
	for _, tt := range tests {
		if a, b, c := text.Took(tt.d), text.Age(tt.d), text.AgeCoarse(tt.d); a != tt.took || b != tt.age || c != tt.coarse {
			t.Errorf("%v: Took %q, Age %q, AgeCoarse %q; want %q, %q, %q", tt.d, a, b, c, tt.took, tt.age, tt.coarse)
		}
	}
}

func TestCountAndBytes(t *testing.T) {
	tests := []struct {
		n            uint64
		count, bytes string
	}{
		{0, "0", "0B"},
		{1023, "1023", "1023B"},
		{1536, "1536", "1.5K"},
		{99_999, "99999", "97K"},
		{123_456, "123k", "120K"},
		{4_560_000, "4.5M", "4.3M"},
		{16 << 20, "16M", "16M"},
		{1 << 63, "9.2E", "8.0E"},
	}
	for _, tt := range tests {
		if c, b := text.Count(tt.n), text.Bytes(tt.n); c != tt.count || b != tt.bytes {
			t.Errorf("%d: Count %q, Bytes %q; want %q, %q", tt.n, c, b, tt.count, tt.bytes)
		}
	}
}

// TestLineKeepsTheLook holds that what has one look is written as one run, with
// the small gaps in it, unless a space in that look can be seen.
func TestLineKeepsTheLook(t *testing.T) {
	ink, bar := theme.Style{On: "<", Off: ">", Ink: true}, theme.Style{On: "[", Off: "]"}
	for _, tt := range []struct {
		st   theme.Style
		gap  int
		want string
	}{
		{ink, 0, "<ab>"}, {ink, 2, "<a  b>"}, {ink, 3, "<a>   <b>"}, {bar, 0, "[ab]"}, {bar, 1, "[a] [b]"},
	} {
		var l text.Line
		l.Begin(20)
		l.Put(tt.st, "a")
		l.Space(tt.gap)
		l.Put(tt.st, "b")
		if got := string(l.Buf); got != tt.want {
			t.Errorf("gap %d: %q, want %q", tt.gap, got, tt.want)
		}
	}
	var l text.Line
	for range 2 {
		l.Begin(1)
		l.Put(ink, "a")
	}
	if got := string(l.Buf); got != "<a><a>" {
		t.Errorf("two lines: %q", got)
	}
}
