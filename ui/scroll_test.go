package ui

import (
	"strconv"
	"strings"
	"testing"

	"github.com/plegtop/plegtop/keymap"
)

// TestMovingKeys holds where each moving key leads, with a cursor and without
// one, in 100 lines of which 10 are seen.
func TestMovingKeys(t *testing.T) {
	for _, tt := range []struct {
		key         keymap.Action
		cursor, top int // from line 50, of the cursor or of the first line seen
	}{
		{keymap.Up, 49, 49},
		{keymap.Down, 51, 51},
		{keymap.HalfUp, 45, 45},
		{keymap.HalfDown, 55, 55},
		{keymap.PageUp, 41, 41},
		{keymap.PageDown, 59, 59},
		{keymap.Top, 0, 0},
		{keymap.Bottom, 99, 90},
	} {
		list := scroll{cursor: 50, top: 45, height: 10}
		if !list.move(tt.key, 100) || list.cursor != tt.cursor {
			t.Errorf("%v leads the cursor to %d, want %d", tt.key, list.cursor, tt.cursor)
		}
		if list.cursor < list.top || list.cursor >= list.top+list.height {
			t.Errorf("%v: the cursor is at %d, seen are %d and the 9 after it", tt.key, list.cursor, list.top)
		}
		page := sheet{scroll: scroll{cursor: 50, top: 50, height: 10}, lines: make([][]slot, 100)}
		if !page.pan(tt.key) || page.top != tt.top {
			t.Errorf("%v leads the page to %d, want %d", tt.key, page.top, tt.top)
		}
	}
	still := sheet{scroll: scroll{cursor: 5, top: 5, height: 10}, lines: make([][]slot, 100)}
	if still.move(keymap.Quit, 100) || still.pan(keymap.Quit) || still.cursor != 5 {
		t.Errorf("a key that does not move led to %+v", still)
	}
}

// Lines that are written when they are drawn stand where they were added.
func TestManyLines(t *testing.T) {
	var s sheet
	plain := func(text string) { s.add(slot{text: text}) }
	many := func(name string, n int) {
		s.many(n, func(i int) []slot { return []slot{{text: name + strconv.Itoa(i)}} })
	}
	many("a", 2)
	plain("one")
	many("b", 0)
	many("c", 3)
	plain("two")
	plain("three")
	many("d", 1)
	var got []string
	for i := range s.size() {
		got = append(got, s.line(i)[0].text)
	}
	if want := "a0 a1 one c0 c1 c2 two three d0"; strings.Join(got, " ") != want {
		t.Errorf("lines %q, want %q", got, want)
	}
}
