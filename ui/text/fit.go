package text

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Width returns how many cells s takes once cleaned.
func Width(s string) int {
	if len(s) <= Limit && plain(s) {
		return len(s)
	}
	return width(Clean(s))
}

// width measures text that is clean already.
func width(s string) int {
	if plain(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

// ShortID returns as much of an id as people compare: 13 digits, as crictl does. It
// is not cleaned.
func ShortID(id string) string { return id[:min(len(id), 13)] }

// Fit returns s cleaned and exactly w cells wide: padded with spaces on the
// right, or cut, with ellipsis (one cell) in the place of what was lost.
func Fit(s string, w int, ellipsis string) string {
	s = Clean(s)
	if len(s) == w && plain(s) {
		return s
	}
	return string(Append(make([]byte, 0, max(w, 0)+8), s, w, ellipsis))
}

// Append appends what [Fit] returns.
func Append(dst []byte, s string, w int, ellipsis string) []byte {
	s = Clean(s)
	dst, n := appendCut(dst, s, w, ellipsis)
	return appendSpaces(dst, w-n)
}

// AppendRight is [Append] with the padding on the left.
func AppendRight(dst []byte, s string, w int, ellipsis string) []byte {
	s = Clean(s)
	if n := width(s); n < w {
		dst = appendSpaces(dst, w-n)
		return append(dst, s...)
	}
	return Append(dst, s, w, ellipsis)
}

// appendCut appends as much of the clean text s as w cells hold and returns
// how many of them it took.
func appendCut(dst []byte, s string, w int, ellipsis string) ([]byte, int) {
	if w <= 0 {
		return dst, 0
	}
	if plain(s) {
		if len(s) <= w {
			return append(dst, s...), len(s)
		}
		dst = append(dst, s[:w-1]...)
		return append(dst, ellipsis...), w
	}
	if n := width(s); n <= w {
		return append(dst, s...), n
	}
	head, n := Prefix(s, w-1)
	dst = append(dst, head...)
	return append(dst, ellipsis...), n + 1
}

// Prefix returns the longest beginning of the clean text s that fits in w
// cells, and its width.
func Prefix(s string, w int) (string, int) {
	end, n := 0, 0
	for end < len(s) {
		cluster, cells := ansi.FirstGraphemeCluster(s[end:], ansi.GraphemeWidth)
		if n+cells > w {
			break
		}
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
// there are any. It returns at least one line, which may be empty.
func Wrap(s string, w int) []string {
	s = CleanLong(s)
	if w < 2 {
		w = 2
	}
	var lines []string
	for {
		head, _ := Prefix(s, w)
		if len(head) == len(s) {
			return append(lines, s)
		}
		cut := strings.LastIndexByte(s[:len(head)+1], ' ') // a space may be the first that does not fit
		if cut <= 0 {
			cut = len(head)
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
