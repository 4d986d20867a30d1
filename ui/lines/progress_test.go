package lines

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestProgressOnATerminal(t *testing.T) {
	s := hungCheck().Snapshot
	s.Started = checked.Add(-12 * time.Second)
	s.Sweep.Done = 117
	var b bytes.Buffer
	p := NewProgress(&b, 80)
	p.Show(s)
	p.Show(s) // nothing new
	p.Clear()
	p.Clear()
	line := "check 117/330, 1 hung  ContainerStatus default/nfs-client/app 12s"
	want := "\r" + line + strings.Repeat(" ", 79-len(line)) + "\r" + strings.Repeat(" ", 79) + "\r"
	if got := b.String(); got != want {
		t.Errorf("drawn %q, want %q", got, want)
	}
}

func TestProgressStaysQuiet(t *testing.T) {
	for _, tt := range []struct {
		name  string
		width int
		since time.Duration
	}{
		{"no terminal", 0, time.Minute},
		{"done at once", 80, 400 * time.Millisecond},
	} {
		s := healthyCheck().Snapshot
		s.Started = checked.Add(-tt.since)
		var b bytes.Buffer
		p := NewProgress(&b, tt.width)
		p.Show(s)
		p.Clear()
		if b.Len() > 0 {
			t.Errorf("%s: drawn %q", tt.name, b.String())
		}
	}
}

func TestProgressIsNeverWiderThanItsTerminal(t *testing.T) {
	s := hostileCheck().Snapshot
	s.Started = checked.Add(-time.Minute)
	for _, width := range []int{1, 2, 40, 80} {
		var b bytes.Buffer
		p := NewProgress(&b, width)
		p.Show(s)
		drawn := strings.TrimPrefix(b.String(), "\r")
		if len(drawn) >= width || harmful(drawn) {
			t.Errorf("drawn %q at width %d", drawn, width)
		}
	}
}
