package rewind

import "time"

// A Stretch is what is known of a part of a film.
type Stretch struct {
	Level  Level // the worst in it
	Events int
}

// silence is how long nothing may have been shown before that is a gap in the recording: an
// engine shows something every second.
const silence = 10 * time.Second

// Stretches returns what marks say of n parts of the time from first to last.
func Stretches(marks []Mark, first, last time.Time, n int) []Stretch {
	all := make([]Stretch, n)
	part := func(at time.Time) int { return Part(first, last, at, n) }
	for i, m := range marks {
		from := part(m.At)
		all[from].Events += m.Events
		to := from
		if i+1 < len(marks) && marks[i+1].At.Sub(m.At) < silence {
			to = part(marks[i+1].At)
		}
		for c := from; c <= to; c++ {
			if c < to || c == from { // the next mark speaks for its own part
				all[c].Level = max(all[c].Level, m.Level)
			}
		}
	}
	return all
}

// Part returns in which of n parts of the time from first to last a moment lies, or is next to.
func Part(first, last, at time.Time, n int) int {
	span := last.Sub(first)
	if span <= 0 {
		return 0
	}
	return min(max(int(float64(at.Sub(first))/float64(span)*float64(n)), 0), n-1)
}
