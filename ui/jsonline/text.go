package jsonline

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/plegtop/plegtop/ui/text"
)

// text appends s in quotes: cleaned, unless it is to stay raw. DEL, the C1 controls, the bidi
// controls and all other format characters are escaped. [encoding/json] leaves them as they
// are, but a line may end up on a terminal, and some terminals act on them.
func (e *encoder) text(s, mode string) (wrong bool) {
	if mode != "raw" {
		s = text.Clean(s)
	}
	if strings.IndexFunc(s, special) < 0 {
		return e.is(append(append(append(e.b, '"'), s...), '"'))
	}
	j, _ := json.Marshal(s) // it is a text, so that there is no error
	for _, r := range string(j) {
		if acts(r) {
			e.b = appendEscape(e.b, r)
		} else {
			e.b = utf8.AppendRune(e.b, r)
		}
	}
	return false
}

// special reports whether r may have to be escaped.
func special(r rune) bool {
	return r < ' ' || r > '~' || strings.ContainsRune(`"\<>&`, r)
}

// appendEscape appends r as JSON escapes it: in two halves where it needs more
// than four digits.
func appendEscape(b []byte, r rune) []byte {
	if r1, r2 := utf16.EncodeRune(r); r1 != utf8.RuneError {
		return fmt.Appendf(b, `\u%04x\u%04x`, r1, r2)
	}
	return fmt.Appendf(b, `\u%04x`, r)
}

// acts reports whether a terminal may act on r instead of showing it.
func acts(r rune) bool { return r >= 0x7f && (r <= 0x9f || unicode.Is(unicode.Cf, r)) }
