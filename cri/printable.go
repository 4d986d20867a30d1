package cri

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestText keeps one hostile text from filling an error message.
const longestText = 300

// printable returns s fit for a terminal: what does not print, bidi controls and
// invalid UTF-8 among it, is written as Go escapes, and a long text is cut.
func printable(s string) string {
	cut := ""
	if len(s) > longestText {
		s, cut = strings.ToValidUTF8(s[:longestText], ""), "..."
	}
	if !strings.ContainsFunc(s, hostile) {
		return s + cut
	}
	var b strings.Builder
	for _, r := range s {
		if hostile(r) {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
			continue
		}
		b.WriteRune(r)
	}
	return b.String() + cut
}

func hostile(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }
