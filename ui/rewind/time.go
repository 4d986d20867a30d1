package rewind

import (
	"fmt"
	"strings"
	"time"
)

// Times says which times [ParseTime] takes.
const Times = "-10m, 2am, 02:13, 02:13:05 or an RFC 3339 time"

// A clock is a form of a time of day, and how much time one value of it is.
type clock struct {
	form string
	wide time.Duration
}

var clocks = []clock{{"15:04:05", time.Second}, {"15:04", time.Minute}, {"3:04pm", time.Minute}, {"3pm", time.Minute}}

// ParseTime returns the moment that a person names in a recording from first to last: so long
// before its end (-10m), a time of day (2am, 2:13pm, 02:13, 02:13:05), which is the last one in
// the recording and in the time zone of last, or an RFC 3339 time. The error says which times
// there are: ParseTime fails where the text is none, and where the recording has no such moment.
func ParseTime(s string, first, last time.Time) (time.Time, error) {
	s = strings.TrimSpace(s)
	var at time.Time
	wide := time.Second
	switch d, err := time.ParseDuration(s); {
	case err == nil && d <= 0 && strings.HasPrefix(s, "-"):
		at = last.Add(d)
	case err == nil:
		return time.Time{}, fmt.Errorf("want -%s: so long before the end", strings.TrimLeft(s, "+-"))
	default:
		if at, err = time.Parse(time.RFC3339, s); err == nil {
			break
		}
		var known bool
		if at, wide, known = ofDay(s, last); !known {
			return time.Time{}, fmt.Errorf("want %s, not %q", Times, s)
		}
	}
	switch {
	case !at.Before(first) && !at.After(last):
		return at, nil
	case at.Before(first) && at.Add(wide).After(first): // first is in the second or minute that was named
		return first, nil
	}
	return time.Time{}, fmt.Errorf("recorded is %s to %s, not %q", named(first, last), named(last, first), s)
}

// ofDay returns the last moment up to last that is this time of day, and how much time the text
// names.
func ofDay(s string, last time.Time) (at time.Time, wide time.Duration, known bool) {
	for _, c := range clocks {
		t, err := time.Parse(c.form, strings.ToLower(strings.ReplaceAll(s, " ", "")))
		if err != nil {
			continue
		}
		y, m, d := last.Date()
		at = time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), 0, last.Location())
		if at.After(last) {
			at = time.Date(y, m, d-1, t.Hour(), t.Minute(), t.Second(), 0, last.Location())
		}
		return at, c.wide, true
	}
	return at, 0, false
}

// named returns a time as a person reads it beside another one: with its date if that is needed
// to tell them apart.
func named(t, beside time.Time) string {
	beside = beside.In(t.Location())
	if t.YearDay() == beside.YearDay() && t.Year() == beside.Year() {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}
