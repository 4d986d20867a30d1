// Package dialog has what lies over the panes or in the footer for a while: a
// [Picker], the [Help], a [Viewer] of long texts, a [Prompt] and a [Confirm].
//
// Each is a plain value that its owner feeds with key presses and asks for
// lines. It does no I/O, starts nothing and knows nothing of the screen around
// it. Lines are exactly as wide as asked for, and every text in them has been
// cleaned. None may be used by two goroutines at once.
package dialog

import (
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// An Answer says what a key press meant for a dialog.
type Answer uint8

const (
	Open     Answer = iota // go on showing it
	Toggled                // the row under the cursor was switched on or off; go on showing it
	Changed                // what was typed has changed; go on showing it
	Accepted               // close it and take what it holds
	Closed                 // close it and forget what it holds
)

// Move returns where at goes among rows for a, so many of them being visible, and
// false if a moves nothing.
func Move(a keymap.Action, at, rows, visible int) (int, bool) {
	half, page := max(1, visible/2), max(1, visible-1)
	switch a {
	case keymap.Up:
		at--
	case keymap.Down:
		at++
	case keymap.HalfUp:
		at -= half
	case keymap.HalfDown:
		at += half
	case keymap.PageUp:
		at -= page
	case keymap.PageDown:
		at += page
	case keymap.Top:
		at = 0
	case keymap.Bottom:
		at = rows - 1
	default:
		return at, false
	}
	return clamp(at, rows-1), true
}

// Pan is [Move] for what has no cursor: top is the first of the rows that are
// visible.
func Pan(a keymap.Action, top, rows, visible int) (int, bool) {
	top, ok := Move(a, top, rows, visible)
	return clamp(top, rows-visible), ok
}

func clamp(at, most int) int { return max(0, min(at, most)) }

// A page collects the lines of one dialog.
type page struct {
	theme.Theme
	text.Line
	w, h  int
	lines []string
}

func newPage(w, h int, t theme.Theme) *page {
	return &page{Theme: t, Line: text.Line{Ellipsis: t.Symbols.Ellipsis}, w: max(w, 0), h: max(h, 0)}
}

// add draws one line, unless the page is full.
func (p *page) add(draw func()) {
	if len(p.lines) >= p.h {
		return
	}
	p.Buf = p.Buf[:0]
	p.Begin(p.w)
	draw()
	p.Under()
	p.End()
	p.lines = append(p.lines, string(p.Buf))
}

// title draws the first line: what this is, and at the right edge a note.
func (p *page) title(name, note string) {
	p.add(func() {
		kept := 0
		if n := text.Width(note); n > 0 && p.w > n+text.Width(name)+3 {
			kept = p.Keep(n + 1)
		}
		p.Space(1)
		p.Put(p.Focus, name)
		if kept > 0 {
			p.Space(p.Left())
			p.Release(kept)
			p.Put(p.Dim, note)
		}
	})
}

// full returns the lines, filled up to the height.
func (p *page) full() []string {
	for len(p.lines) < p.h {
		p.add(func() {})
	}
	return p.lines
}
