package ui

import (
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/dialog"
)

// scroll is a cursor in a list of which a few lines are visible.
type scroll struct {
	cursor int
	top    int // the first line that is visible
	height int // lines that are visible
	slack  int // lines that may stay blank below the last one of a long list
}

func (s *scroll) resize(height, n int) {
	s.height = max(height, 1)
	s.clamp(n)
}

// clamp keeps the cursor in a list of n lines, and visible, and leaves no blank
// lines but the slack below the last one while some are hidden above.
func (s *scroll) clamp(n int) {
	s.cursor = max(0, min(s.cursor, n-1))
	s.height = max(s.height, 1)
	if s.cursor < s.top {
		s.top = s.cursor
	}
	if s.cursor >= s.top+s.height {
		s.top = s.cursor - s.height + 1
	}
	most := n - s.height
	if most > 0 {
		most += min(s.slack, s.height-1)
	}
	s.top = max(0, min(s.top, most))
}

// move moves the cursor in a list of n lines as a moving key asks for, and
// reports whether a was such a key.
func (s *scroll) move(a keymap.Action, n int) bool {
	to, ok := dialog.Move(a, s.cursor, n, s.height)
	if ok {
		s.cursor = to
		s.clamp(n)
	}
	return ok
}

// pan moves what is visible of n lines that have no cursor, and reports whether
// a was a moving key.
func (s *scroll) pan(a keymap.Action, n int) bool {
	to, ok := dialog.Move(a, s.top, n+1, s.height)
	if ok {
		s.top = max(0, min(to, n-s.height))
		s.cursor = s.top
	}
	return ok
}
