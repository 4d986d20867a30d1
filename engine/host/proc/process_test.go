package proc

import (
	"testing"
)

func TestGaps(t *testing.T) {
	tests := []struct {
		gaps gaps
		want string
	}{
		{gaps{}, ""},
		{gaps{denied: 12}, "denied for 12 processes: try sudo"},
		{
			gaps{cut: "cut off after 2s", unread: 3, hidden: true, hanging: []File{{0, "/run/x.sock", true}, {7, "cmdline", true}}},
			"cut off after 2s; reading /run/x.sock hangs; reading cmdline of process 7 hangs; could not read 3 processes; the processes of other users are hidden: try sudo",
		},
	}
	for _, tt := range tests {
		if got := tt.gaps.String(); got != tt.want {
			t.Errorf("%+v reads\n%q, want\n%q", tt.gaps, got, tt.want)
		}
	}
}
