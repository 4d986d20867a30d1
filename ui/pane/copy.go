package pane

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/ui/text"
)

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

// CopyText is [Copy] for a text of many lines, which stay lines.
func CopyText(h Host, what string) tea.Cmd {
	lines := strings.Split(what, "\n")
	for i := range lines {
		lines[i] = text.CleanLong(lines[i])
	}
	h.Say("copied the whole text")
	return tea.SetClipboard(strings.Join(lines, "\n"))
}
