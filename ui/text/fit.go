package text

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Width returns how many cells s takes once cleaned.
func Width(s string) int { return width(Clean(s)) }

// width measures text that is clean already. It measures a copy: a figure that was made
// for one cell then need not leave the stack.
func width(s string) int {
	if plain(s) {
		return len(s)
	}
	if drawn(s) {
		return utf8.RuneCountInString(s)
	}
	return ansi.StringWidth(strings.Clone(s))
}

// Fit returns s cleaned and exactly w cells wide: padded with spaces on the
// right, or cut, with ellipsis (one cell) in the place of what was lost.
func Fit(s string, w int, ellipsis string) string {
	s = Clean(s)
	if len(s) == w && plain(s) {
		return s
	}
	return string(appendFit(make([]byte, 0, max(w, 0)+8), s, w, ellipsis))
}

// appendFit appends what [Fit] returns of the clean text s.
func appendFit(dst []byte, s string, w int, ellipsis string) []byte {
	n := width(s)
	switch {
	case n <= w:
		return appendSpaces(append(dst, s...), w-n)
	case w <= 0:
		return dst
	}
	head, n := Prefix(s, w-1)
	return appendSpaces(append(append(dst, head...), ellipsis...), w-1-n)
}

// Prefix returns the longest beginning of the clean text s that fits in w
// cells, and its width. Of s it looks at no more than could fit.
func Prefix(s string, w int) (string, int) {
	s = CutAt(s, longest*(max(w, 0)+1))
	if plain(s) {
		end := min(len(s), max(w, 0))
		return s[:end], end
	}
	end, n := 0, 0
	for rest := strings.Clone(s); rest != ""; {
		cluster, cells := ansi.FirstGraphemeCluster(rest, ansi.GraphemeWidth)
		if n+cells > w {
			break
		}
		rest = rest[len(cluster):]
		end += len(cluster)
		n += cells
	}
	return s[:end], n
}

const spaces = "                                                                "

func appendSpaces(dst []byte, n int) []byte {
	for n > len(spaces) {
		dst = append(dst, spaces...)
		n -= len(spaces)
	}
	if n > 0 {
		dst = append(dst, spaces[:n]...)
	}
	return dst
}

// Wrap cleans s and breaks it into lines of at most w cells, at spaces where
// there are any, and else behind a slash. It returns at least one line, which may be empty.
func Wrap(s string, w int) []string { return wrap(s, w, nil) }

// wrap is [Wrap] that ends no line with one of these words, where one before it could.
func wrap(s string, w int, leads map[string]bool) []string {
	s, w = strings.TrimRight(CleanLong(s), " "), max(w, 2)
	var lines []string
	for {
		head, _ := Prefix(s, w)
		if len(head) == len(s) {
			return append(lines, s)
		}
		cut := strings.LastIndexByte(s[:len(head)+1], ' ') // a space may be the first that does not fit
		if before := strings.LastIndexByte(s[:max(cut, 0)], ' '); before > 0 && leads[s[before+1:cut]] {
			cut = before
		}
		if cut <= 0 { // a path breaks behind a name, if that does not leave most of the line empty
			if cut = strings.LastIndexByte(head, '/') + 1; cut <= len(head)/2 {
				cut = len(head)
			}
		}
		lines = append(lines, strings.Trim(s[:cut], " "))
		s = strings.Trim(s[cut:], " ")
	}
}

// After returns what is left to say of s where word stands before it already: s
// without that word, if it begins with it in capitals or not.
func After(word, s string) string {
	if n := len(word); len(s) >= n && strings.EqualFold(s[:n], word) {
		return strings.TrimLeft(s[n:], ",: ")
	}
	return s
}

// bytesPerCell is how many bytes of a text are looked at for each cell that it
// may take. Cleaning a text is what costs most, and a runtime's may be long; one
// of which a cell takes more than this on the average is no text to be read.
const bytesPerCell = 3

// Clip returns as much of s as may be seen in so many cells. What is left out is
// still seen to be missing: the rest is too wide for them, but for such a text.
func Clip(s string, cells int) string { return CutAt(s, (max(cells, 0)+1)*bytesPerCell) }

// leads are words that belong to the one behind them.
var leads = map[string]bool{
	"a": true, "an": true, "at": true, "by": true, "for": true, "from": true, "in": true, "of": true, "on": true, "the": true, "to": true, "with": true,
}

// Few breaks s into lines of w cells, at most most of them, none of which ends with a
// preposition or an article. Where something is left out the last ends in ellipsis.
func Few(s string, w, most int, ellipsis string) []string {
	lines := wrap(Clip(s, w*most), w, leads)
	if len(lines) > most {
		lines[most-1] = Fit(strings.Join(lines[most-1:], " "), w, ellipsis)
	}
	return lines[:min(len(lines), most)]
}
