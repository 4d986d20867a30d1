package say

import (
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/ui/text"
)

// Cost says what plegtop asks of the runtime, in figures that stay the same
// while nothing happens.
func Cost(s *engine.Snapshot) string {
	return Plural(int(s.Cost.CallsPerSecond+0.5), "call") + "/s, " + text.Bytes(Coarse(uint64(s.Cost.BytesPerSecond))) + "/s"
}

// Period writes the time between two relists: 5m, not 5m0s.
func Period(d time.Duration) string {
	if said, ok := strings.CutSuffix(d.String(), "m0s"); ok {
		return said + "m"
	}
	return d.String()
}

// Coarse rounds n down to two digits.
func Coarse(n uint64) uint64 {
	scale := uint64(1)
	for n/scale >= 100 {
		scale *= 10
	}
	return n / scale * scale
}

// Steady rounds times below a second to two digits, so that they do not flicker.
func Steady(d time.Duration) string {
	if d > 0 && d < time.Second {
		d = time.Duration(Coarse(uint64(d/time.Millisecond))) * time.Millisecond
		d = max(d, time.Millisecond)
	}
	return text.Took(d)
}

// Fresh is an age that stands still as long as relists come every second.
func Fresh(age time.Duration) string {
	if age < 2*time.Second {
		return "<2s"
	}
	return text.Age(age)
}

// Recording says how the recording stands; nothing where none is made.
func Recording(r engine.Recording) string {
	said := ""
	switch {
	case r.Ended != "" && r.File != "":
		said = "to " + r.File + " ended: " + r.Ended
	case r.Ended != "":
		return "ended: " + r.Ended
	case r.File != "":
		said = "to " + r.File + ", " + text.Bytes(uint64(r.Written)) + " so far"
	}
	if r.Span > 0 {
		if said != "" {
			said += "; "
		}
		said += "the last " + text.Age(r.Span) + " in memory, " + text.Bytes(uint64(r.Kept))
	}
	return said
}

// RecordingEnded says when and why a recording ended, and last which one: that is long, and may be cut.
func RecordingEnded(r engine.Recording) string {
	which := "in memory"
	if r.File != "" {
		which = r.File
	}
	return "recording ended at " + r.EndedAt.Local().Format(time.TimeOnly) + ": " + r.Ended + " (" + which + ")"
}
