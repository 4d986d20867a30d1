package say

import (
	"testing"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/ui/theme"
)

// TestStreamTable holds which sources have a line, and that what is counted and not told is said.
func TestStreamTable(t *testing.T) {
	th := theme.For(true)
	s := &engine.Snapshot{At: noon, Sources: []sources.SourceState{{Source: sources.FromCRI}, {Source: sources.FromCgroup}}}
	if lines, below := StreamTable(&th, s); lines != nil || below != nil {
		t.Errorf("nobody wants any: %v, %v", lines, below)
	}
	s.Sources[0].State, s.Sources[1].Received, s.UnseenMore = sources.StreamConnected, 3, 1500
	lines, below := StreamTable(&th, s)
	if len(lines) != 3 || lines[1][0].Text != "cri" || lines[2][0].Text != "cgroup" {
		t.Errorf("the table is %v", lines)
	}
	if len(below) != 1 || below[0].Text != "1500 more events of ids that nobody knows: counted, not told" {
		t.Errorf("below it: %v", below)
	}
}
