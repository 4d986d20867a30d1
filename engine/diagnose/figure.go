package diagnose

import (
	"fmt"
	"strconv"
	"time"
)

// span returns a duration as a person says it: 12ms, 3.4s, 47s, 1m12s, 2h5m.
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + span(-d)
	case d == 0:
		return "0s"
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	d = d.Round(time.Minute)
	return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
}

// going returns a time that goes on: in whole seconds, so that a text on the
// screen changes once a second at most.
func going(d time.Duration) string {
	switch {
	case d <= -time.Second:
		return "-" + going(-d)
	case d < time.Second:
		return "less than 1s"
	}
	return span(d.Truncate(time.Second))
}

// size returns a number of bytes in binary units: 812 KiB, 14.2 MiB.
func size(n uint64) string {
	const kib, mib, gib = 1 << 10, 1 << 20, 1 << 30
	switch {
	case n < kib:
		return fmt.Sprintf("%d B", n)
	case n < mib:
		return fmt.Sprintf("%d KiB", n/kib)
	case n < gib:
		return fmt.Sprintf("%.1f MiB", float64(n)/mib)
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/gib)
}

// count returns a number with its noun: 1 pod, 20,000 containers.
func count[N int | uint64](n N, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(uint64(max(n, 0))) + " " + one + "s"
}

// more returns how many others there are: 1 more pod, 12 more pods.
func more(n int, one string) string {
	if n == 1 {
		return "1 more " + one
	}
	return thousands(uint64(max(n, 0))) + " more " + one + "s"
}

func thousands(n uint64) string {
	digits := strconv.FormatUint(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// clock returns a moment as the evidence shows it: the node's wall clock, UTC.
func clock(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("15:04:05Z")
}
