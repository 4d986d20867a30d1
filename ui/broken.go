package ui

import (
	"strings"
	"unicode/utf8"

	"github.com/plegtop/plegtop/ui/text"
)

// bytesPerCell is how many bytes of a text are looked at for each cell that it
// may take. Cleaning a text is what costs most, and a runtime's may be long; one
// of which a cell takes more than this on the average is no text to be read.
const bytesPerCell = 3

// clip returns as much of s as may be seen in so many cells. What is left out is
// still seen to be missing: the rest is too wide for them, but for such a text.
func clip(s string, cells int) string {
	n := (cells + 1) * bytesPerCell
	if len(s) <= n {
		return s
	}
	for back := 0; back < utf8.UTFMax && !utf8.RuneStart(s[n]); back++ {
		n--
	}
	return s[:n]
}

// few breaks s into lines of w cells, at most most of them. Where something is
// left out the last ends in ellipsis.
func few(s string, w, most int, ellipsis string) []string {
	lines := text.Wrap(clip(s, w*most), w)
	if len(lines) > most {
		lines[most-1] = text.Fit(strings.Join(lines[most-1:], " "), w, ellipsis)
	}
	return lines[:min(len(lines), most)]
}

// brokenTexts keeps texts that were broken into lines, as most of them come again
// with the next snapshot. The zero value is empty.
type brokenTexts struct {
	now, was map[brokenText][]string
	ellipsis string
}

type brokenText struct {
	text  string
	width int
}

// turn begins anew: what is not asked for until the next turn is forgotten.
func (t *brokenTexts) turn() { t.now, t.was = map[brokenText][]string{}, t.now }

// few is the function of that name, for the lines of a pane.
func (t *brokenTexts) few(s string, w int) []string {
	key := brokenText{s, w}
	lines, ok := t.was[key]
	if !ok {
		lines = few(s, w, mostLines, t.ellipsis)
	}
	t.now[key] = lines
	return lines
}
