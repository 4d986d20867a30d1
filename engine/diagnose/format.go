package diagnose

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/plegtop/plegtop/engine/call"
)

// excerptMost is how many characters of a runtime's text a summary contains, so that the end of the text is visible on
// two lines of 80. excerptHead of them are from the beginning. The evidence has the whole text.
const excerptMost, excerptHead = 90, 30

// excerpt returns a text without its middle. Errors are wrapped: the beginning says what was done, and the end says
// what the kernel answered.
func excerpt(s string) string {
	long := utf8.RuneCountInString(s) - excerptMost
	if long <= 0 {
		return s
	}
	head := beginning(s, excerptHead)
	dropped := beginning(s[len(head):], long)
	return head + "..." + s[len(head)+len(dropped):]
}

// beginning returns at most the first n characters of a text.
func beginning(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// words returns the runtime's own words, with the code if it sent one.
func words(err error) string {
	if e, ok := errors.AsType[*call.Error](err); ok {
		return strings.TrimPrefix(e.Code+": "+e.Text, ": ")
	}
	return err.Error()
}

// plain returns the runtime's own words. For an error of dial it returns only the reason: the path of the socket would
// push the reason off a narrow screen.
func plain(err error) string {
	text := words(err)
	if i := strings.Index(text, "dial unix "); i >= 0 {
		if _, why, ok := strings.Cut(text[i:], ": "); ok {
			return strings.TrimSuffix(strings.TrimPrefix(why, "connect: "), `"`)
		}
	}
	return text
}

func join(all []string) string { return strings.Join(all, ", ") }

// span writes a duration as a person says it: 12ms, 3.4s, 47s, 1m12s, 2h5m, 3d4h.
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + span(-max(d, -math.MaxInt64))
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
	const day = 24 * time.Hour
	if d >= 2*day {
		d = d.Round(time.Hour)
		return fmt.Sprintf("%dd%dh", d/day, d%day/time.Hour)
	}
	d = d.Round(time.Minute)
	return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
}

// going writes a duration that still grows, in whole seconds, so that a text on the screen changes at most once a
// second.
func going(d time.Duration) string {
	switch {
	case d <= -time.Second:
		return "-" + going(-d)
	case d < time.Second:
		return "less than 1s"
	}
	return span(d.Truncate(time.Second))
}

// clock writes a moment in the node's local time, with the date if that is not today's.
func clock(t, now time.Time) string {
	layout := time.TimeOnly
	switch t, now := t.Local(), now.Local(); {
	case t.IsZero():
		return "never"
	case t.Year() != now.Year() || t.YearDay() != now.YearDay():
		layout = time.DateTime
	}
	return t.Local().Format(layout)
}

// size writes a number of bytes in binary units: 812 KiB, 14.2 MiB.
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

// count writes a number with its noun: 1 pod, 20,000 containers.
func count[N int | uint64](n N, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "x"), strings.HasSuffix(noun, "s"):
		noun += "e"
	}
	return thousands(n) + " " + noun + "s"
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return thousands(n) + " times"
}

// thousands writes a number with commas. It writes a negative number as 0.
func thousands[N int | uint64](n N) string {
	var room [26]byte // the longest has 20 digits and 6 commas
	digits := strconv.AppendUint(room[:0], uint64(max(n, 0)), 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = slices.Insert(digits, i, ',')
	}
	return string(digits)
}

// kubeletDuration matches durations as the kubelet prints them, such as 3m18.652721733s.
var kubeletDuration = regexp.MustCompile(`\b(\d+h)?(\d+m)?\d+\.\d+s\b`)

// Rounded returns a text of the kubelet with its durations in whole seconds, so that a person can read them.
func Rounded(text string) string {
	return kubeletDuration.ReplaceAllStringFunc(text, func(figure string) string {
		d, err := time.ParseDuration(figure)
		if err != nil || d < time.Second {
			return figure
		}
		return d.Round(time.Second).String()
	})
}
