// Package pane is the contract between the screen and what it shows. A [Pane] is a
// part of the screen; the screen routes keys and lays out, and knows none by name.
//
// All of it belongs to the goroutine of the program: [Pane.Observe] and [Pane.Do]
// change a pane, [Pane.Draw] only reads. A pane does no I/O, reads no clock and blocks
// nowhere: time comes from the [View], slow answers from commands.
package pane

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/text"
)

// A Pane is a part of the screen: one of the panes that are always there, or a layer
// over them (a sheet, a text, a picker, a prompt in the footer).
type Pane interface {
	// Info says how the pane wants to be shown. It is called for every frame and
	// returns what the last Observe or Do worked out.
	Info() Info
	// Observe takes over what is to be shown in w cells and h lines below the title.
	// It is called after whatever may have changed something, and before the first Draw.
	// While the pane is not seen h is 0, and only what Info returns has to be right.
	Observe(v *View, w, h int)
	// Do does what a key asks for, and reports whether the action is one of the pane's.
	Do(a keymap.Action, h Host) (tea.Cmd, bool)
	// Draw draws line y below the title.
	Draw(l *text.Line, y int, focused bool)
	// Subject returns what the cursor is on; zero if it is on nothing.
	Subject() Subject
}

// A Typist is a layer that takes keys as they are typed, before they mean an action.
type Typist interface {
	Pane
	// Key takes a key, and reports whether it has a meaning here; one that has none
	// goes on to Do.
	Key(k tea.KeyPressMsg, h Host) (tea.Cmd, bool)
	// Paste takes text from the terminal, which may hold anything.
	Paste(text string, h Host)
}

// An Explainer is a pane that has columns, or the like, to be explained in the help.
type Explainer interface {
	Pane
	// Legend returns words that stand on the screen, each with what it means.
	Legend() [][2]string
}

// Info says how a pane wants to be shown.
type Info struct {
	Name  string       // of its tab or title, such as "Pods"; from outside, so not clean
	Short string       // in the place of Name where there is no room for that; its first letters if empty
	About []text.Span  // after the name: how much of what it shows
	Mark  []text.Span  // after the name where the pane itself is not seen: that it holds trouble
	Scope keymap.Scope // what can be done in it by keys while it has them

	Footer []keymap.Action // whose keys the footer names, the most useful first

	Least, Wanted int  // lines below the title: without which it makes no sense; that it can make use of now
	Wide          bool // its rows are long: on a wide screen it stands in the left column, which is the wider one
	Tells         bool // it shows every finding, which then need not be told above
	Foot          bool // a layer that is one line at the foot of the screen, with the panes above it in view
	Beside        bool // a layer above a line at the foot, which has the keys first if one is open
}

// A Subject is what a cursor is on, or a sheet about: a pod, something in it, a
// finding, an event, or the calls of an operation. What is not known of it is zero.
type Subject struct {
	pleg.ObjectRef
	Finding   *diagnose.Finding
	Event     uint64 // the event's Seq
	Operation string // by its name; empty if it is about none
}

// A Reply is the message in which a command answers its pane: the screen calls it. A
// pane that was closed meanwhile must take it for nothing.
type Reply func(Host)

// A Host is the screen, as panes see it. It may be used in [Pane.Do], [Typist.Key] and a
// [Reply] alone: a command that takes longer answers with one.
type Host interface {
	// Keys returns the keys of an action as a person reads them.
	Keys(a keymap.Action) string
	// Say shows the answer to a key in the footer for a while.
	Say(text string)
	// Open lays a pane over all others, which then has the keys.
	Open(p Pane)
	// Close takes a layer away; one that is not open is not missed.
	Close(p Pane)
	// Focus gives the keys to one of the panes, and closes what lies over it.
	Focus(p Pane)
	// OpenSheet opens the sheet that is about a subject, and reports whether there is one.
	OpenSheet(s Subject) bool
}

// Copy puts a name, an id or a command into the clipboard, and says so. It is cleaned
// before: what a terminal or a shell would obey must not get there unseen.
func Copy(h Host, what string) tea.Cmd {
	clean := text.CleanLong(what)
	switch {
	case clean == "":
		h.Say("nothing to copy here")
		return nil
	case clean != what:
		h.Say("copied, cleaned of what cannot be seen: " + clean)
	default:
		h.Say("copied " + clean)
	}
	return tea.SetClipboard(clean)
}

// CopyCommand is [Copy] for a command. What the runtime may have put into it must not do more than
// a person can read there, and without it the command would do something else.
func CopyCommand(h Host, command string) tea.Cmd {
	if text.CleanLong(command) != command {
		h.Say("not copied: a name in the command holds characters that cannot be seen")
		return nil
	}
	return Copy(h, command)
}

// CopyText is [Copy] for a text of many lines, which stay lines.
func CopyText(h Host, what string) tea.Cmd {
	lines := strings.Split(what, "\n")
	for i := range lines {
		lines[i] = text.CleanLong(lines[i])
	}
	h.Say("copied the whole text")
	return tea.SetClipboard(strings.Join(lines, "\n"))
}
