package widget

import (
	"strconv"

	"github.com/plegtop/plegtop/keymap"
)

// A scroll is a cursor in a list of which a part is visible.
type scroll struct {
	Cursor int
	Top    int // the first line that is visible
	Height int // lines that are visible
}

// Step returns by how many lines an action moves in a list of n lines with so many
// of them visible, whether what is visible moves by as much, and false if it moves
// nothing. It may lead beyond either end. All moving keys mean what is said here.
func Step(a keymap.Action, n, visible int) (by int, paged, ok bool) {
	half, page := max(1, visible/2), max(1, visible-1)
	switch a {
	case keymap.Up:
		return -1, false, true
	case keymap.Down:
		return 1, false, true
	case keymap.HalfUp:
		return -half, true, true
	case keymap.HalfDown:
		return half, true, true
	case keymap.PageUp:
		return -page, true, true
	case keymap.PageDown:
		return page, true, true
	case keymap.Top:
		return -n, false, true
	case keymap.Bottom:
		return n, false, true
	}
	return 0, false, false
}

// Visible returns which of n lines are visible, counted from 1; zeros if there is none.
func (s *scroll) Visible(n int) (first, last int) {
	if n == 0 {
		return 0, 0
	}
	return s.Top + 1, min(n, s.Top+s.Height)
}

// Part says which of n things are seen, for a title: "12-40/97", or "97" if all are.
func Part(first, last, n int) string {
	all := strconv.Itoa(n)
	if first <= 1 && last >= n {
		return all
	}
	return strconv.Itoa(first) + "-" + strconv.Itoa(last) + "/" + all
}

// Seen is [Part] in words, for a title: "22 pods", or "1-19 of 22 pods".
func Seen(first, last, n int, noun string) string {
	many := "s"
	if n == 1 {
		many = ""
	}
	if first <= 1 && last >= n {
		return strconv.Itoa(n) + " " + noun + many
	}
	return strconv.Itoa(first) + "-" + strconv.Itoa(last) + " of " + strconv.Itoa(n) + " " + noun + many
}

func clamp(at, most int) int { return max(0, min(at, most)) }
