package lines

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// escapeC1 returns the JSON text j with DEL, the C1 controls and the bidi
// controls written as escapes. [encoding/json] leaves them as they are, but a
// line may end up on a terminal, and some terminals act on them.
func escapeC1(j []byte) []byte {
	if bytes.IndexFunc(j, acts) < 0 {
		return j
	}
	out := make([]byte, 0, len(j)+16)
	for len(j) > 0 {
		r, n := utf8.DecodeRune(j)
		if acts(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = append(out, j[:n]...)
		}
		j = j[n:]
	}
	return out
}

// acts reports whether a terminal may act on r instead of showing it.
func acts(r rune) bool {
	return r >= 0x7f && r <= 0x9f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0x061c
}
