package rewind

import (
	"strings"
	"testing"
	"time"
)

func TestParseTime(t *testing.T) {
	zone := time.FixedZone("CET", 3600)
	first := time.Date(2026, 3, 1, 21, 30, 20, 500, zone)
	last := time.Date(2026, 3, 2, 6, 0, 0, 0, zone)
	day := func(d, h, m, s int) time.Time { return time.Date(2026, 3, d, h, m, s, 0, zone) }
	for _, tt := range []struct {
		text string
		want time.Time
		says string // in the error
	}{
		{text: "-10m", want: last.Add(-10 * time.Minute)},
		{text: " -1h30m ", want: last.Add(-90 * time.Minute)},
		{text: "2am", want: day(2, 2, 0, 0)},
		{text: "2 AM", want: day(2, 2, 0, 0)},
		{text: "11:05pm", want: day(1, 23, 5, 0)},
		{text: "02:13", want: day(2, 2, 13, 0)},
		{text: "02:13:05", want: day(2, 2, 13, 5)},
		{text: "22:00", want: day(1, 22, 0, 0)},
		{text: "06:00", want: last},
		{text: "21:30", want: first}, // the recording begins in that minute
		{text: "21:30:20", want: first},
		{text: "2026-03-02T01:00:00Z", want: day(2, 2, 0, 0)},
		{text: "20:00", says: "recorded is 2026-03-01 21:30:20 to 2026-03-02 06:00:00"},
		{text: "-9h", says: "recorded is"},
		{text: "2027-03-02T01:00:00Z", says: "recorded is"},
		{text: "10m", says: "want -10m: so long before"},
		{text: "", says: "want -10m, 2am"},
		{text: "25:00", says: "want -10m"},
		{text: "13pm", says: "want -10m"},
		{text: "noon", says: "want -10m"},
	} {
		got, err := ParseTime(tt.text, first, last)
		switch {
		case tt.says != "":
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%q: %v, %v, want an error with %q", tt.text, got, err, tt.says)
			}
		case err != nil || !got.Equal(tt.want):
			t.Errorf("%q: %v, %v, want %v", tt.text, got, err, tt.want)
		}
	}
	if _, err := ParseTime("20:00", last.Add(-time.Hour), last); !strings.Contains(err.Error(), "recorded is 05:00:00 to 06:00:00") {
		t.Errorf("within a day the error has dates: %v", err)
	}
}
