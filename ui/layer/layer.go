// Package layer has what lies over the panes for a while and is about none of them: a
// [Prompt] and a [Confirm] at the foot of the screen, a [Picker], and a [Viewer] of
// long texts. Each is a [pane.Pane] that is opened with [pane.Host.Open], closes itself,
// and says what came of it by calling what it was given.
package layer

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
)

// foot is what a layer has in common with others that take the line at the foot of the
// screen and every key.
type foot struct{ view *pane.View }

func (f *foot) Observe(v *pane.View, _, _ int)                     { f.view = v }
func (f *foot) Info() pane.Info                                    { return pane.Info{Foot: true, Least: 1, Wanted: 1} }
func (f *foot) Do(keymap.Action, pane.Host) (cmd tea.Cmd, ok bool) { return nil, false }
func (f *foot) Subject() pane.Subject                              { return pane.Subject{} }

// Read does what an action means in a document: it moves, goes from match to match, or
// asks what to search for. It reports whether a is such an action.
func Read(d *widget.Doc, a keymap.Action, h pane.Host) bool {
	if a == keymap.Filter {
		search(d, h)
		return true
	}
	return d.Do(a)
}

func search(d *widget.Doc, h pane.Host) {
	p := NewPrompt("search", "", nil)
	p.Changed = func(_ pane.Host, s string) error { d.Search(s); return nil }
	p.Canceled = func(pane.Host) { d.Search("") }
	p.Accepted = func(h pane.Host, s string) error {
		if n := d.Search(s); s != "" {
			h.Say(strconv.Itoa(n) + " lines match; " + h.Keys(keymap.MatchNext) + " goes to the next")
		}
		return nil
	}
	h.Open(p)
}

// About says what part of a document is seen, and what is searched for, for a title;
// nothing of one that is not written yet, for which v may be nil.
func About(v *pane.View, d *widget.Doc) []text.Span {
	var all []text.Span
	if s := d.Searched(); s != "" {
		all = append(all, text.Span{Style: v.Theme.Match, Text: "/" + s})
	}
	if at := d.Position(); at != "" {
		all = append(all, text.Span{Style: v.Theme.Dim, Text: at})
	}
	return all
}
