package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
)

func TestRecordingEnded(t *testing.T) {
	for _, tt := range []struct {
		name, want, check string
		is                engine.Recording
	}{
		{name: "none"},
		{name: "it goes on", is: engine.Recording{File: "/var/f", Written: 9}},
		{
			name: "a full disk", is: engine.Recording{File: "/var/log/my night", Ended: "no space left on device", EndedAt: ago(time.Minute), Span: 15 * time.Minute},
			want: "the recording to /var/log/my night ended: no space left on device", check: "df -h /var/log; df -i /var/log; ls -l '/var/log/my night'",
		},
		{name: "in memory", is: engine.Recording{Ended: "too many pods", EndedAt: ago(time.Minute)}, want: "the recording in memory ended: too many pods", check: "ps -o rss,args -C plegtop"},
	} {
		n := healthy(2)
		n.Recording = tt.is
		got := n.diagnose()
		if tt.want == "" {
			wantIDs(t, got)
			continue
		}
		wantIDs(t, got, RecordingEnded)
		if f := got[0]; f.Summary != tt.want || f.Severity != Warning || f.check().Command != tt.check || strings.Contains(strings.Join(f.Evidence, " "), "in memory") != (tt.is.Span > 0) {
			t.Errorf("%s: %+v", tt.name, f)
		}
		answered(t, got[0])
	}
}
