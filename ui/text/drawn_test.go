package text

import (
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// TestDrawnSignsTakeOneCell holds that what is neither cleaned nor measured need not be: each such
// sign takes one cell however it is counted, and joins nothing.
func TestDrawnSignsTakeOneCell(t *testing.T) {
	signs := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		s := string(r)
		if !drawn(s) {
			continue
		}
		signs++
		if width(s) != 1 || ansi.StringWidth(s) != 1 || ansi.StringWidthWc(s) != 1 || !plain(s) && string(appendClean(nil, s)) != s {
			t.Errorf("%q (%U) is drawn as it is, and takes %d or %d cells, cleaned %q", s, r, ansi.StringWidth(s), ansi.StringWidthWc(s), appendClean(nil, s))
		}
	}
	if signs < 300 {
		t.Errorf("%d signs are drawn as they are", signs)
	}
}
