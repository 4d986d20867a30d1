package widget

import (
	"slices"
	"strings"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
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
	if d.at == nil || !d.find(d.at) {
		d.scroll.Cursor, d.at = 0, nil
		d.first(1)
	}
}

// find puts the cursor on the item of a value, and reports whether there is one.
func (d *Doc) find(value any) bool {
	i := slices.IndexFunc(d.items, func(it item) bool { return it.value == value })
	if i >= 0 {
		d.put(d.items[i])
	}
	return i >= 0
}

func (d *Doc) put(it item) { d.scroll.Cursor, d.at = it.from, it.value }

// reveal brings the item under the cursor into view, its first line in any case.
func (d *Doc) reveal() {
	it, _ := d.item(d.scroll.Cursor)
	d.scroll.Top = min(max(d.scroll.Top, it.to-d.scroll.Height), it.from)
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

// Do scrolls, goes from item to item, and from match to match, and reports whether a is
// such an action.
func (d *Doc) Do(a keymap.Action) bool {
	switch a {
	case keymap.MatchNext:
		return d.match(1)
	case keymap.MatchPrev:
		return d.match(-1)
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
		d.reveal()
		return true
	}
	return false
}

// pan scrolls by some lines. A cursor that is out of view then goes to what came into
// view last; at either end it goes to the last item there.
func (d *Doc) pan(by int, paged bool) {
	top := d.scroll.Top
	d.scroll.Top = clamp(top+by, d.Len()-d.scroll.Height)
	back := theme.When(by < 0, -1, 1)
	switch one := by == 1 || by == -1; {
	case !paged && !one || top == d.scroll.Top && !one:
		d.first(-back)
	case !d.inView(d.scroll.Cursor):
		d.first(back)
	}
}

// Position says which lines are visible, such as "12-40/97"; nothing if all are.
func (d *Doc) Position() string {
	first, last := d.scroll.Visible(d.Len())
	if first <= 1 && last >= d.Len() {
		return ""
	}
	return Part(first, last, d.Len())
}

// Search looks for s in all lines without regard to case, goes to the first from the top
// of the screen that has it, and returns how many do. An empty s ends a search.
func (d *Doc) Search(s string) int {
	d.search = search{strings.ToLower(text.Clean(s)), -1}
	n := 0
	for i := range d.Len() {
		if d.search.in(d.Made(i)) {
			n++
		}
	}
	if n > 0 {
		d.search.line = d.scroll.Top - 1
		d.match(1)
	}
	return n
}

// Searched returns what was searched for last; empty if nothing is.
func (d *Doc) Searched() string { return d.search.text }

// match goes to the next line that has what is searched for in the direction of
// step, round the end, and reports whether there is one.
func (d *Doc) match(step int) bool {
	n := d.Len()
	for i := 1; i <= n; i++ {
		at := ((d.search.line+step*i)%n + n) % n
		if !d.search.in(d.Made(at)) {
			continue
		}
		d.search.line = at
		if !d.inView(at) {
			d.scroll.Top = clamp(at-d.scroll.Height/2, n-d.scroll.Height)
		}
		if it, ok := d.item(at); ok {
			d.put(it)
		}
		if d.Pans {
			d.uncover(at)
		}
		return true
	}
	return false
}

// uncover moves the text sideways as far as it takes to see what was found in a line.
func (d *Doc) uncover(line int) {
	at := 0
	for _, s := range d.Made(line) {
		if i := d.search.index(s.Text); i >= 0 {
			at += text.Width(text.CleanLong(s.Text)[:i])
			break
		}
		at += max(s.Width, text.Width(s.Text))
	}
	if w := text.Width(d.search.text); at < d.left || at+w > d.left+d.width {
		d.left = max(0, at-d.width/2)
	}
}

// A search is what is looked for in the lines of a [Doc].
type search struct {
	text string // in lower case; empty for nothing
	line int    // of the match that was gone to last
}

// index returns where in s, once it is cleaned, is what is searched for; -1 if it is not.
func (f *search) index(s string) int {
	if f.text == "" {
		return -1
	}
	s = text.CleanLong(s)
	lower := strings.ToLower(s)
	if len(lower) != len(s) { // places in one are none in the other
		return strings.Index(s, f.text)
	}
	return strings.Index(lower, f.text)
}

// in reports whether a line has what is searched for.
func (f *search) in(line []text.Span) bool {
	return slices.ContainsFunc(line, func(s text.Span) bool { return f.index(s.Text) >= 0 })
}

// draw draws a slot with what is searched for marked in it; in another way in the line
// that was gone to.
func (f *search) draw(l *text.Line, p Pen, s text.Span, here bool) {
	kept := 0
	if s.Width > 0 {
		kept = l.Keep(l.Left() - s.Width + 1)
	}
	st := theme.When(here, p.Cursor, p.Match)
	f.mark(l, st, s)
	if s.Width > 0 {
		l.Space(l.Left())
		l.Release(kept)
		l.Space(1)
	}
}

func (f *search) mark(l *text.Line, match theme.Style, s text.Span) {
	rest := s.Text
	for l.Left() > 0 {
		i := f.index(rest)
		if i < 0 {
			break
		}
		rest = text.CleanLong(rest)
		l.Put(s.Style, rest[:i])
		l.Put(match, rest[i:i+len(f.text)])
		rest = rest[i+len(f.text):]
	}
	l.Put(s.Style, rest)
}
