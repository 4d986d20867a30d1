package ui

import (
	"strings"
	"time"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/text"
)

// footer draws the last line: what is being typed, the answer to the last key,
// or the keys that are of most use here.
func (d *frame) footer(l *text.Line) {
	if d.open.asking() {
		l.Finished(d.askLine(), d.width)
		return
	}
	l.Space(1)
	kept := l.Keep(1)
	switch {
	case d.flash.text != "":
		l.Put(d.Flash, d.flash.text)
	default:
		d.keyHints(l)
	}
	l.End()
	l.Release(kept)
}

// keyHints names as many keys as there is room for, the most useful first.
func (d *frame) keyHints(l *text.Line) {
	for i, e := range d.useful() {
		key, _, _ := strings.Cut(e.Binding.Help().Key, " ")
		word := e.Short
		if e.Action == keymap.Filter && d.scope() == keymap.InViewer {
			word = "search"
		}
		need := text.Width(key) + 1 + text.Width(word) + pick(i > 0, 2, 0)
		if need > l.Left() {
			return
		}
		if i > 0 {
			l.Space(2)
		}
		l.Put(d.Key, key)
		l.Space(1)
		l.Put(d.Dim, word)
	}
}

// useful returns the keys that are named here. On the smallest screens those
// come first that lead to the panes; the help only scrolls.
func (d *frame) useful() []keymap.Entry {
	var named []keymap.Action
	switch {
	case d.open.help != nil:
		named = []keymap.Action{keymap.Back, keymap.Down, keymap.PageDown, keymap.PageUp, keymap.Bottom}
	case d.tiny != nil:
		named = []keymap.Action{keymap.FindingsPane, keymap.PodsPane, keymap.EventsPane, keymap.Help, keymap.CallsPane, keymap.Quit}
	default:
		return d.cfg.Keys.Footer(d.scope())
	}
	var all []keymap.Entry
	for _, a := range named {
		if e, ok := d.cfg.Keys.Entry(a); ok {
			all = append(all, e)
		}
	}
	return all
}

// flashFor is how long the answer to a key stays.
const flashFor = 4 * time.Second

// A flash is the answer to a key, shown in the footer for a while. The time
// comes from the snapshots, so it goes with the first one after its end.
type flash struct {
	text  string
	until time.Time
}

// say shows an answer.
func (m *Model) say(text string) {
	m.flash = flash{text, m.latest.At.Add(flashFor)}
}

// pass lets time go by.
func (f *flash) pass(now time.Time) {
	if now.After(f.until) {
		f.text = ""
	}
}
