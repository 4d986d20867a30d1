package widget

import (
	"strings"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/text"
)

// Current returns the value of the item under the cursor; nil if there is none, or if it
// is out of view.
func (d *Doc) Current() any {
	if !d.inView(d.scroll.Cursor) {
		return nil
	}
	it, _ := d.item(d.scroll.Cursor)
	return it.value
}

func (d *Doc) inView(line int) bool {
	return line >= d.scroll.Top && line < d.scroll.Top+d.scroll.Height
}

// keepCursor puts the cursor on the item that it was on; if that has gone, on one in
// view.
func (d *Doc) keepCursor() {
	if d.at != nil {
		if it, ok := d.item(d.scroll.Cursor); ok && it.value == d.at {
			d.scroll.Cursor = it.from
			return
		}
		for i := range d.Len() {
			if it, ok := d.item(i); ok && it.value == d.at {
				d.put(it)
				return
			}
		}
	}
	d.scroll.Cursor, d.at = 0, nil
	d.first(1)
}

func (d *Doc) put(it item) { d.scroll.Cursor, d.at = it.from, it.value }

// Go puts the cursor on the item of a value, brings that into view, and reports whether
// there is one.
func (d *Doc) Go(value any) bool {
	for i := range d.Len() {
		if it, ok := d.item(i); ok && it.value == value {
			d.put(it)
			d.scroll.Top = min(max(d.scroll.Top, it.to-d.scroll.Height), it.from)
			return true
		}
	}
	return false
}

// first puts the cursor on the first item in view, or with -1 on the last, if there is
// one.
func (d *Doc) first(step int) {
	line := d.scroll.Top
	if step < 0 {
		line = min(d.Len(), line+d.scroll.Height) - 1
	}
	for ; line >= 0 && line < d.Len() && d.inView(line); line += step {
		if it, ok := d.item(line); ok && d.inView(it.from) {
			d.put(it)
			return
		}
	}
}

// Click puts the cursor on the item in line y, and reports whether there is one.
func (d *Doc) Click(y int) bool {
	it, ok := d.item(d.scroll.Top + y)
	if ok {
		d.put(it)
	}
	return ok
}

// Do scrolls, goes from item to item, and from match to match, and reports whether a is
// such an action.
func (d *Doc) Do(a keymap.Action) bool {
	switch a {
	case keymap.MatchNext:
		return d.find.text != "" && d.NextMatch(1)
	case keymap.MatchPrev:
		return d.find.text != "" && d.NextMatch(-1)
	case keymap.Left, keymap.Right:
		if !d.Pans {
			return false
		}
		if d.left += 8; a == keymap.Left {
			d.left = max(0, d.left-16)
		}
		return true
	}
	by, paged, ok := Step(a, d.Len(), d.scroll.Height)
	switch {
	case !ok:
		return false
	case by == 0 || !paged && (by == 1 || by == -1) && d.step(by):
	default:
		d.pan(by, paged)
	}
	return true
}

// step puts the cursor on the next item, or on the one before, if that is in view.
func (d *Doc) step(by int) bool {
	here, _ := d.item(d.scroll.Cursor)
	for line := d.scroll.Cursor + by; d.inView(d.scroll.Cursor) && d.inView(line) && line < d.Len(); line += by {
		it, ok := d.item(line)
		if !ok || it.from == here.from && it.to == here.to || !d.inView(it.from) {
			continue
		}
		d.put(it)
		d.scroll.Top = min(max(d.scroll.Top, it.to-d.scroll.Height), it.from)
		return true
	}
	return false
}

// pan scrolls by some lines. A cursor that is out of view then goes to what came into
// view last; at either end it goes to the last item there.
func (d *Doc) pan(by int, paged bool) {
	top := d.scroll.Top
	d.scroll.Top = clamp(top+by, d.Len()-d.scroll.Height)
	back := 1
	if by < 0 {
		back = -1
	}
	switch one := by == 1 || by == -1; {
	case !paged && !one || top == d.scroll.Top && !one:
		d.first(-back)
	case !d.inView(d.scroll.Cursor):
		d.first(back)
	}
}

// Position says which lines are visible, such as "12-40 of 97"; nothing if all are.
func (d *Doc) Position() string { return d.scroll.Position(d.Len()) }

// Search looks for s in all lines without regard to case, goes to the first from the top
// of the screen that has it, and returns how many do. An empty s ends a search.
func (d *Doc) Search(s string) int {
	d.find = search{strings.ToLower(text.Clean(s)), -1}
	n := 0
	for i := range d.Len() {
		if d.find.in(d.line(i)) {
			n++
		}
	}
	if n > 0 {
		d.find.line = d.scroll.Top - 1
		d.NextMatch(1)
	}
	return n
}

// Searched returns what was searched for last; empty if nothing is.
func (d *Doc) Searched() string { return d.find.text }

// NextMatch goes to the next line that has what is searched for in the direction of
// step, round the end, and reports whether there is one.
func (d *Doc) NextMatch(step int) bool {
	n := d.Len()
	for i := 1; i <= n; i++ {
		at := ((d.find.line+step*i)%n + n) % n
		if !d.find.in(d.line(at)) {
			continue
		}
		d.find.line = at
		if !d.inView(at) {
			d.scroll.Top = clamp(at-d.scroll.Height/2, n-d.scroll.Height)
		}
		if it, ok := d.item(at); ok {
			d.put(it)
		}
		if d.Pans {
			d.reveal(at)
		}
		return true
	}
	return false
}

// reveal moves the text sideways as far as it takes to see what was found in a line.
func (d *Doc) reveal(line int) {
	at := 0
	for _, s := range d.line(line) {
		if i := d.find.index(s.Text); i >= 0 {
			at += text.Width(text.CleanLong(s.Text)[:i])
			break
		}
		at += max(s.Width, text.Width(s.Text))
	}
	if w := text.Width(d.find.text); at < d.left || at+w > d.left+d.width {
		d.left = max(0, at-d.width/2)
	}
}
