package say

import (
	"slices"
	"strings"
	"testing"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/waits"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// drawn returns the lines of a chain for w cells, without looks.
func drawn(t *theme.Theme, chain []diagnose.Link, w int) (lines []string) {
	for _, line := range Chain(t, chain, w) {
		head, last := before(line)
		body := []string{last}
		if w > 0 {
			body = text.Wrap(last, max(8, w-text.Width(head)))
		}
		indent := strings.Repeat(" ", text.Width(head))
		for _, b := range body {
			lines = append(lines, strings.TrimRight(head+b, " "))
			head = indent
		}
	}
	return lines
}

// before returns what stands before the last text of a line, and that text.
func before(line []text.Span) (head, last string) {
	end := len(line) - 1
	for _, s := range line[:end] {
		head += text.Fit(s.Text, s.Width, "~")
	}
	return head, line[end].Text
}

var held = []diagnose.Link{
	{Kind: waits.Relist, Name: "relist"},
	{Kind: waits.Call, Name: "ListContainers", Proof: "ListContainers: no reply for 12s"},
	{Kind: waits.Container, ID: "3f2a9b1c0d4e5f60718293a4", Name: "pay/api app", Proof: "its status is not answered, that of 16 others is"},
	{Kind: waits.Helper, ID: "4800", Name: "runc update", Proof: "child of its shim", Cut: &diagnose.Step{Text: "ends it", Command: "kill 4800", Kind: diagnose.Act, Risk: "it may do harm", Scope: "pod"}},
	{Kind: waits.Kernel, ID: "nfs4_do_setattr", Name: "D in nfs4_do_setattr", Proof: "its wchan", Cut: &diagnose.Step{Text: "ask the server"}},
	{Kind: waits.Server, Name: "server 10.0.0.9"},
}

// TestChainFits holds that chains of any length stay within the width, and leave room
// for words.
func TestChainFits(t *testing.T) {
	look := theme.Default()
	for n := range 40 {
		chain := slices.Repeat(held, 7)[:n]
		for _, w := range []int{38, 40, 78, 118, 198} {
			for _, line := range drawn(&look, chain, w) {
				if got := text.Width(line); got > w {
					t.Fatalf("%d links in %d cells: %d in %q", n, w, got, line)
				}
			}
			for _, line := range Chain(&look, chain, w) {
				head, last := before(line)
				if room := w - text.Width(head); room < min(16, text.Width(last)) && last[0] != look.Symbols.Bullet[0] {
					t.Fatalf("%d links in %d cells leave %d for %q", n, w, room, last)
				}
			}
		}
	}
}
