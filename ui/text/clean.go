// Package text is where text from outside becomes fit for the screen: cleaned
// of everything that a terminal would obey, measured in cells, cut and padded.
//
// Whatever a container runtime, a config file or a person at the keyboard
// supplied is hostile until [Clean] has seen it. [Fit], [Wrap] and [Line] clean
// on their own account, so a caller who draws with them cannot forget to.
// Everything here is pure and safe for concurrent use, except a [Line], which
// belongs to the frame that it is written for.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Limit is how many bytes of a text [Clean] looks at. No line of a screen
// holds more, and a runtime may name a container with a megabyte.
const Limit = 2048

// replacement stands for whatever has no place on a screen.
const replacement = "\uFFFD"

// Clean returns s as it may go to a terminal: valid UTF-8 without any
// control, format or bidirectional character, in which each grapheme is one or
// two cells wide however the terminal counts. C0 and DEL become visible as ^[;
// tabs and line breaks become spaces; all else that must not be there becomes
// U+FFFD. Text beyond [Limit] is cut off and ends in an ellipsis. Plain ASCII, arrows and
// lines are returned as they are, without an allocation.
func Clean(s string) string {
	if len(s) > Limit {
		return CleanLong(CutAt(s, Limit)) + "…"
	}
	return CleanLong(s)
}

// CleanLong is [Clean] without the limit, for texts that are read and not
// merely shown, such as a raw answer.
func CleanLong(s string) string {
	if plain(s) || drawn(s) {
		return s
	}
	return string(appendClean(make([]byte, 0, len(s)+8), s))
}

// plain reports whether s is nothing but printable ASCII.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// drawn reports whether s is nothing but printable ASCII and the signs that our own texts are made
// of: each takes one cell, and none needs cleaning whatever stands beside it.
func drawn(s string) bool {
	for _, r := range s {
		switch {
		case r >= ' ' && r <= '~', r >= 0x2190 && r < 0x2200, r >= 0x2500 && r < 0x25FD: // arrows; lines, blocks and shapes
		case r == '·', r == '…', r == '›', r == '−', r == '✔', r == '✕', r == '✖':
		default:
			return false
		}
	}
	return true
}

// CutAt returns the first n bytes of s, less a rune that would be torn; all of it if
// there are no more.
func CutAt(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for back := 0; back < utf8.UTFMax && n > 0 && !utf8.RuneStart(s[n]); back++ {
		n--
	}
	return s[:n]
}

// appendClean works in two passes: one rune at a time, then one grapheme at a
// time over what is left.
func appendClean(dst []byte, s string) []byte {
	var mended strings.Builder
	mended.Grow(len(s) + 8)
	for _, r := range s {
		writeRune(&mended, r)
	}
	return appendGraphemes(dst, mended.String())
}

func writeRune(b *strings.Builder, r rune) {
	switch {
	case r == '\t' || r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Zs, r):
		b.WriteByte(' ')
	case r < ' ' || r == 0x7f:
		b.WriteByte('^')
		b.WriteByte(byte(r) ^ 0x40)
	case r < 0x7f:
		b.WriteByte(byte(r))
	case !unicode.IsGraphic(r) || modifies(r) || blank(r):
		b.WriteString(replacement)
	default:
		b.WriteRune(r)
	}
}

// modifies reports whether r changes the look or the width of the rune before
// it in a manner that terminals do not agree on.
func modifies(r rune) bool {
	return r >= 0xFE00 && r <= 0xFE0F || // variation selectors
		r >= 0xE0100 && r <= 0xE01EF ||
		r >= 0x1F3FB && r <= 0x1F3FF || // skin tones
		r >= 0x1F1E6 && r <= 0x1F1FF // regional indicators
}

// blank reports whether r is a letter by its class and nothing to the eye.
func blank(r rune) bool {
	return r == 0x115F || r == 0x1160 || r == 0x3164 || r == 0xFFA0 || r == 0x034F || r == 0x2800
}

// appendGraphemes appends each grapheme of s whose width is the same however
// it is counted and whatever stands beside it, and U+FFFD for each other one.
func appendGraphemes(dst []byte, s string) []byte {
	for s != "" {
		cluster, w := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		s = s[len(cluster):]
		if len(cluster) > 1 && !steady(cluster, w) {
			cluster = replacement
		}
		dst = append(dst, cluster...)
	}
	return dst
}

// neighbours are graphemes that some others would join, were they not kept
// apart: a letter, a Hangul initial and syllable, an Indic letter with and
// without its joiner.
var neighbours = [...]string{"a", "\u1100", "\uAC00", "\u0915", "\u0915\u094D"}

// longest is how many bytes a grapheme may have.
const longest = 16

// steady reports whether cluster is w cells wide, one or two, by both ways of
// counting and whatever stands beside it: the texts of two columns may touch.
func steady(cluster string, w int) bool {
	if w < 1 || w > 2 || len(cluster) > longest || ansi.StringWidthWc(cluster) != w {
		return false
	}
	if r, n := utf8.DecodeRuneInString(cluster); n == len(cluster) && sign(r) {
		return true
	}
	for _, n := range neighbours {
		nw := ansi.StringWidth(n)
		if ansi.StringWidth(n+cluster) != nw+w || ansi.StringWidth(cluster+n) != nw+w {
			return false
		}
	}
	return ansi.StringWidth(cluster+cluster) == 2*w
}

// sign reports whether r is punctuation, an arrow, a line, a block or a shape, such as
// those of the themes, or a Chinese character: none of them joins a neighbour.
func sign(r rune) bool {
	return r >= 0x2010 && r < 0x27C0 && !unicode.In(r, unicode.M, unicode.L) || unicode.Is(unicode.Han, r)
}

// PlainASCII returns s with each grapheme outside ASCII replaced by as many
// question marks as it has cells, so that a line keeps its width. Escape
// sequences are ASCII and stay.
func PlainASCII(s string) string {
	if isASCII(s) {
		return s
	}
	out := make([]byte, 0, len(s))
	for s != "" {
		if s[0] < utf8.RuneSelf {
			out = append(out, s[0])
			s = s[1:]
			continue
		}
		cluster, w := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		for range w {
			out = append(out, '?')
		}
		s = s[len(cluster):]
	}
	return string(out)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
