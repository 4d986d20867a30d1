package pane

import (
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"
)

type listener struct {
	Host
	said string
}

func (l *listener) Say(text string) { l.said = text }

func clipboard(cmd tea.Cmd) string {
	if cmd == nil {
		return ""
	}
	return fmt.Sprint(cmd())
}

func TestCopy(t *testing.T) {
	for _, tt := range []struct {
		copy               func(Host, string) tea.Cmd
		what, clip, answer string
	}{
		{Copy, "nfs-client", "nfs-client", "copied nfs-client"},
		{Copy, "", "", "nothing to copy here"},
		{Copy, "x\x1b[201~\nreboot\n", "x^[[201~ reboot ", "copied, cleaned of what cannot be seen: x^[[201~ reboot "},
		{Copy, "a\u202Eb\u009b", "a\uFFFDb\uFFFD", "copied, cleaned of what cannot be seen: a\uFFFDb\uFFFD"},
		{CopyText, "{\n  \"a\x1b\"\n}", "{\n  \"a^[\"\n}", "copied the whole text"},
	} {
		h := &listener{}
		if got := clipboard(tt.copy(h, tt.what)); got != tt.clip || h.said != tt.answer {
			t.Errorf("%q: copied %q, want %q; said %q, want %q", tt.what, got, tt.clip, h.said, tt.answer)
		}
	}
}
