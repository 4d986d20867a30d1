package diagnose

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// untypable reports whether nobody should type an operand: it has bytes that a terminal acts on, or that are no text,
// or a program would take it for a flag.
func untypable(operand string) bool {
	return strings.HasPrefix(operand, "-") || strings.IndexFunc(operand, unprintable) >= 0
}

func unprintable(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }

// quote returns s as one word of a POSIX shell. s must not be [untypable].
func quote(s string) string {
	if s != "" && strings.IndexFunc(s, needsQuotes) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func needsQuotes(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_./:@%+=,-", r))
}
