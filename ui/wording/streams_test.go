package wording

import (
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/theme"
)

// TestStreamTrouble holds what is said of an event source beside its state.
func TestStreamTrouble(t *testing.T) {
	soon := noon.Add(40 * time.Second)
	for _, tt := range []struct {
		name string
		of   engine.SourceState
		want string
	}{
		{"well", engine.SourceState{State: engine.StreamConnected, Received: 7, Tries: 1}, ""},
		{"lost", engine.SourceState{State: engine.StreamLost, Reason: "broken pipe", LastErr: "broken pipe", NextAt: soon, Tries: 3}, "broken pipe; opened again in 40s; 3 tries in a row did not last"},
		{"back again", engine.SourceState{State: engine.StreamConnected, LastErr: "broken pipe"}, "broke last with: broken pipe"},
		{"not enabled: that it is tried now and then is of no use to know", engine.SourceState{State: engine.StreamNotEnabled, Reason: "off", NextAt: soon}, "off"},
		{"odd", engine.SourceState{State: engine.StreamConnected, BadClock: "an hour off", Backlog: 12, Unknown: 1234}, "its times are not used: an hour off; 12 events from before it was opened; 1234 events of ids that no relist had"},
	} {
		if got := StreamTrouble(&engine.Snapshot{At: noon}, &tt.of); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestStreamTable holds which sources have a line, and that what is counted and not told is said.
func TestStreamTable(t *testing.T) {
	th := theme.For(true)
	s := &engine.Snapshot{At: noon, Sources: []engine.SourceState{{Source: ledger.FromCRI}, {Source: ledger.FromCgroup}, {Source: ledger.FromPidfd}}}
	if lines, below := StreamTable(&th, s); lines != nil || below != nil {
		t.Errorf("nobody wants any: %v, %v", lines, below)
	}
	s.Sources[0].State, s.Sources[1].Received, s.UnseenMore = engine.StreamConnected, 3, 1500
	lines, below := StreamTable(&th, s)
	if len(lines) != 3 || lines[1][0].Text != "cri" || lines[2][0].Text != "cgroup" {
		t.Errorf("the table is %v", lines)
	}
	if len(below) != 1 || below[0].Text != "1500 more events of ids that nobody knows: counted, not told" {
		t.Errorf("below it: %v", below)
	}
}

// TestModeStands holds that a mode that fell back says from what and why.
func TestModeStands(t *testing.T) {
	for want, m := range map[string]engine.ModeState{
		"generic": {},
		"evented": {Mode: pleg.Evented, Asked: pleg.Evented},
		"generic, fallen back for good from evented: broke": {Asked: pleg.Evented, Reason: "broke"},
	} {
		if got := ModeStands(&m); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
