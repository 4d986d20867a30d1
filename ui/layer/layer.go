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
	"github.com/plegtop/plegtop/ui/widget"
)

// foot is what a layer has in common with others that take the line at the foot of the
// screen and every key.
type foot struct{ view *pane.View }

func (f *foot) Observe(v *pane.View, _, _ int)                     { f.view = v }
func (f *foot) Info() pane.Info                                    { return pane.Info{Foot: true, Least: 1, Wanted: 1} }
func (f *foot) Do(keymap.Action, pane.Host) (cmd tea.Cmd, ok bool) { return nil, false }
func (f *foot) Subject() pane.Subject                              { return pane.Subject{} }

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
