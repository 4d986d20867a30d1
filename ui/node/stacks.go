package node

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
)

// Do is [layer.Text.Do], and shows the stacks of the runtime's goroutines.
func (n *node) Do(a keymap.Action, h pane.Host) (tea.Cmd, bool) {
	if a != keymap.Raw {
		return n.Text.Do(a, h)
	}
	if n.report == nil || n.report.Deep == nil || n.report.Deep.Stacks.Total == 0 {
		h.Say("no goroutines were read")
		return nil, true
	}
	s := n.report.Deep.Stacks
	h.Open(layer.NewViewer("Goroutines of "+s.Program, stacks(s)))
	return nil, true
}

// stacks writes the locks, and the groups of goroutines that stand alike.
func stacks(s evidence.Stacks) string {
	var b strings.Builder
	for _, l := range s.Locks {
		fmt.Fprintln(&b, strings.Replace(say.Lock(l), "; ", "\n  ", 1))
		frames(&b, l.Holder.Frames)
	}
	for _, g := range say.AtWork(s) {
		fmt.Fprintln(&b, say.Goroutine(g))
		frames(&b, g.Frames)
	}
	for _, g := range s.Groups {
		fmt.Fprintf(&b, "%d goroutines, such as %d: %s, for %s at most\n", g.Count, g.First, g.State, text.Age(g.Longest))
		frames(&b, g.Frames)
	}
	return b.String()
}

func frames(b *strings.Builder, all []string) {
	for _, f := range all {
		fmt.Fprintln(b, "    "+f)
	}
	fmt.Fprintln(b)
}
