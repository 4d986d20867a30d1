package text

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/ui/theme"
)

const day = 24 * time.Hour

// Took returns how long something took, in at most six cells and with as many
// digits as a person compares: 0.4ms, 12ms, 3.2s, 47s, 5m12s, 3h5m, 12d. Negative
// durations are zero.
func Took(d time.Duration) string {
	var buf [12]byte
	return string(AppendTook(buf[:0], d))
}

// Round is [Took] for the marks of a scale: 1s, not 1.0s.
func Round(d time.Duration) string { return strings.Replace(Took(d), ".0s", "s", 1) }

// AppendTook appends what [Took] returns.
func AppendTook(dst []byte, d time.Duration) []byte {
	switch {
	case d <= 0:
		return append(dst, "0ms"...)
	case d < time.Millisecond:
		dst = append(dst, "0."...)
		dst = strconv.AppendInt(dst, int64(max(1, d/(100*time.Microsecond))), 10)
		return append(dst, "ms"...)
	case d < time.Second:
		dst = strconv.AppendInt(dst, int64(d/time.Millisecond), 10)
		return append(dst, "ms"...)
	case d < 10*time.Second:
		dst = strconv.AppendInt(dst, int64(d/time.Second), 10)
		dst = append(dst, '.')
		dst = strconv.AppendInt(dst, int64(d%time.Second/(100*time.Millisecond)), 10)
		return append(dst, 's')
	}
	return AppendAge(dst, d)
}

// Age returns how long ago something was, in whole seconds and at most two
// units, as kubectl and k9s do: 0s, 47s, 5m12s, 47m, 3h5m, 26h, 4d5h, 300d, 2y.
// Negative ages, which a clock step makes, are zero.
func Age(d time.Duration) string {
	var buf [12]byte
	return string(AppendAge(buf[:0], d))
}

// AppendAge appends what [Age] returns.
func AppendAge(dst []byte, d time.Duration) []byte {
	switch {
	case d < time.Minute:
		return unit(dst, max(d, 0)/time.Second, 's')
	case d < 10*time.Minute:
		return pair(dst, d/time.Minute, 'm', d%time.Minute/time.Second, 's')
	case d < time.Hour:
		return unit(dst, d/time.Minute, 'm')
	case d < 8*time.Hour:
		return pair(dst, d/time.Hour, 'h', d%time.Hour/time.Minute, 'm')
	case d < 2*day:
		return unit(dst, d/time.Hour, 'h')
	case d < 8*day:
		return pair(dst, d/day, 'd', d%day/time.Hour, 'h')
	case d < 2*365*day:
		return unit(dst, d/day, 'd')
	}
	return unit(dst, d/(365*day), 'y')
}

// AgeCoarse is [Age] for ages that need not change each second: below a minute
// in steps of ten seconds, below ten minutes in whole minutes. One of more than ten seconds in the
// future is negative: the clock was set back.
func AgeCoarse(d time.Duration) string {
	var buf [12]byte
	return string(AppendAgeCoarse(buf[:0], d))
}

// AppendAgeCoarse appends what [AgeCoarse] returns.
func AppendAgeCoarse(dst []byte, d time.Duration) []byte {
	switch {
	case d < -10*time.Second: // the clock was set back
		return AppendAgeCoarse(append(dst, '-'), -max(d, -math.MaxInt64))
	case d < 10*time.Second:
		return unit(dst, max(d, 0)/time.Second, 's')
	case d < time.Minute:
		return unit(dst, d/(10*time.Second)*10, 's')
	case d < time.Hour:
		return unit(dst, d/time.Minute, 'm')
	}
	return AppendAge(dst, d)
}

func unit(dst []byte, n time.Duration, u byte) []byte {
	return append(strconv.AppendInt(dst, int64(n), 10), u)
}

// pair leaves out a second unit that is zero, as kubectl does.
func pair(dst []byte, n time.Duration, u byte, m time.Duration, v byte) []byte {
	dst = unit(dst, n, u)
	if m == 0 {
		return dst
	}
	return unit(dst, m, v)
}

// Count returns n in at most five cells: 99999, 123k, 4.5M, 12G.
func Count(n uint64) string {
	var buf [12]byte
	return string(AppendCount(buf[:0], n))
}

// AppendCount appends what [Count] returns.
func AppendCount(dst []byte, n uint64) []byte {
	if n < 100_000 {
		return strconv.AppendUint(dst, n, 10)
	}
	return appendScaled(dst, n, 1000, "kMGTPE")
}

// Bytes returns n as a size in at most five cells, by powers of 1024: 812B,
// 1.2K, 16M.
func Bytes(n uint64) string {
	var buf [12]byte
	return string(AppendBytes(buf[:0], n))
}

// AppendBytes appends what [Bytes] returns.
func AppendBytes(dst []byte, n uint64) []byte {
	if n < 1024 {
		return append(strconv.AppendUint(dst, n, 10), 'B')
	}
	return appendScaled(dst, n, 1024, "KMGTPE")
}

// appendScaled appends n in the largest unit that leaves it at 1 or more; with one
// digit after the point below 10.
func appendScaled(dst []byte, n, base uint64, units string) []byte {
	i, rest := 0, n%base
	n /= base
	for n >= base && i < len(units)-1 {
		rest = n % base
		n /= base
		i++
	}
	if dst = strconv.AppendUint(dst, n, 10); n < 10 {
		dst = strconv.AppendUint(append(dst, '.'), rest*10/base, 10)
	}
	return append(dst, units[i])
}

// A Column is one of a table of figures.
type Column struct {
	Head  string
	Width int  // with the gap after it; 0 for as many cells as the widest needs
	Left  bool // its texts stand at the left; figures stand at the right
}

// Figures returns a table as lines, of which the first has the heads in a look. A row may have
// fewer texts than there are columns.
func Figures(head theme.Style, columns []Column, rows [][]Span) (lines [][]Span) {
	first := make([]Span, len(columns))
	for i, c := range columns {
		first[i] = Say(head, c.Head)
	}
	all := append([][]Span{first}, rows...)
	for _, row := range all {
		lines = append(lines, slices.Clone(row))
	}
	for i, c := range columns {
		w, gap := c.Width, 2
		if c.Left {
			gap = 1
		}
		for _, row := range all {
			if c.Width == 0 && i < len(row) {
				w = max(w, Width(row[i].Text)+gap)
			}
		}
		for _, line := range lines {
			if i >= len(line) {
				continue
			}
			if !c.Left {
				line[i].Text = strings.Repeat(" ", max(0, w-1-Width(line[i].Text))) + line[i].Text
			}
			line[i].Width = w
		}
	}
	return lines
}

// Each returns a row of texts in one look.
func Each(st theme.Style, all ...string) []Span {
	row := make([]Span, len(all))
	for i, s := range all {
		row[i] = Say(st, s)
	}
	return row
}
