package text

import (
	"strings"
	"testing"
)

func TestFew(t *testing.T) {
	for _, tt := range []struct {
		in      string
		w, most int
		want    string
	}{
		{"", 5, 2, ""},
		{"one two", 7, 1, "one two"},
		{"one two three", 7, 2, "one two|three"},
		{"one two three four five", 7, 2, "one two|three …"},
		{strings.Repeat("日", 5000), 4, 2, "日日|日… "},
		{strings.Repeat("x", 5000), 4, 1, "xxx…"},
		{strings.Repeat("\u0301", 5000), 4, 1, "\uFFFD"},
	} {
		if got := strings.Join(Few(tt.in, tt.w, tt.most, "…"), "|"); got != tt.want {
			t.Errorf("Few(%.20q, %d, %d) = %q, want %q", tt.in, tt.w, tt.most, got, tt.want)
		}
	}
}
