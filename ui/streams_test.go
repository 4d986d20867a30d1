package ui

import (
	"strings"
	"testing"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

// with returns the healthy node with event sources in these states.
func with(states ...sources.SourceState) *engine.Snapshot {
	s := Healthy()
	s.Sources = states
	return s
}

// TestSwitchStreams holds what e asks for, what it asks before, and what it says.
func TestSwitchStreams(t *testing.T) {
	off := []sources.SourceState{{Source: sources.FromCRI}, {Source: sources.FromCgroup}}
	by := func(states ...sources.StreamState) []sources.SourceState {
		all := append([]sources.SourceState{}, off...)
		for i, s := range states {
			all[i].State = s
		}
		return all
	}
	const question = "Open one more reader of the runtime's event stream (GetContainerEvents)? y/N"
	for _, tt := range []struct {
		name    string
		demo    bool
		sources []sources.SourceState
		keys    string
		asked   string
		says    string // of the footer
	}{
		{"nobody asked for them, on a node", false, off, "e", "", question},
		{"and no", false, off, "e n", "", "? help"},
		{"and yes", false, off, "e y", "streams [cri]", "opening cri: one reader more of the runtime's events; e closes"},
		{"and off again before the engine answers", false, off, "e y e", "streams [cri], streams []", "event sources off: nobody reads the runtime's events here"},
		{"a second time nobody asks", false, off, "e y e e", "streams [cri], streams [], streams [cri]", "opening cri: one reader more"},
		{"in a demo", true, off, "e", "streams [cri]", "opening cri: one reader more"},
		{"those of the flag, off", false, by(sources.StreamLost, sources.StreamConnected), "e", "streams []", "event sources off"},
		{"and on, without a question", false, by(sources.StreamLost, sources.StreamConnected), "e e", "streams [], streams [cri cgroup]", "opening cri, cgroup: one reader more"},
		{"those that make no call", false, by(0, sources.StreamConnected), "e e", "streams [], streams [cgroup]", "opening cgroup: no call is made for it; e closes"},
		{"one that was refused is asked for again", false, by(sources.StreamRefused), "e", "streams [cri]", "opening cri"},
		{"there are none", false, nil, "e", "", "there are no event sources here"},
	} {
		s := newStage(t, 80, 24, func(c *Config) {
			if tt.demo {
				demo(c)
			}
		})
		s.show(with(tt.sources...)).press(strings.Fields(tt.keys)...)
		if got := s.asked(); got != tt.asked {
			t.Errorf("%s: asked for %q, want %q", tt.name, got, tt.asked)
		}
		lines := strings.Split(withoutStyles(s.m.frame()), "\n")
		if got := lines[len(lines)-1]; !strings.Contains(got, tt.says) {
			t.Errorf("%s: the footer says %q, want %q", tt.name, got, tt.says)
		}
	}
}

// TestStreamOfTheMode holds that the stream which the mode goes by is closed by no key alone.
func TestStreamOfTheMode(t *testing.T) {
	for keys, want := range map[string]string{"e": "", "e n": "", "e y": "streams []"} {
		s := newStage(t, 80, 24)
		open := with(sources.SourceState{Source: sources.FromCRI, State: sources.StreamConnected})
		open.Mode = sources.ModeState{Mode: pleg.Evented, Asked: pleg.Evented}
		s.show(open).press(strings.Fields(keys)...)
		if got := s.asked(); got != want {
			t.Errorf("%s: asked for %q, want %q", keys, got, want)
		}
		if frame := withoutStyles(s.m.frame()); keys == "e" && !strings.Contains(frame, "Close the stream that the evented mode goes by, and fall back for good? y/N") {
			t.Errorf("nothing is asked:\n%s", frame)
		}
	}
}

// TestRefusalIsSaid holds that what was asked for and refused is said with its reason, once,
// and that one that was refused without a key is left to the header.
func TestRefusalIsSaid(t *testing.T) {
	refused := sources.SourceState{Source: sources.FromCRI, State: sources.StreamRefused, Reason: "containerd 1.7 would give its kubelet's events to us"}
	for _, tt := range []struct {
		name string
		keys string
		next sources.SourceState
		want string
	}{
		{"refused", "e y", refused, "cri refused: containerd 1.7 would give its kubelet's events to us"},
		{"not enabled", "e y", sources.SourceState{Source: sources.FromCRI, State: sources.StreamNotEnabled, Reason: "Unimplemented"}, "cri not enabled: Unimplemented"},
		{"connected", "e y", sources.SourceState{Source: sources.FromCRI, State: sources.StreamConnected}, ""},
		{"nobody asked", "", refused, ""},
		{"closed meanwhile", "e y e", refused, ""},
	} {
		s := newStage(t, 120, 40)
		s.show(with(sources.SourceState{Source: sources.FromCRI})).press(strings.Fields(tt.keys)...)
		s.show(with(sources.SourceState{Source: sources.FromCRI})).elapse() // one that was made before the key
		if s.show(with(tt.next)); s.m.flash.text != tt.want {
			t.Errorf("%s: said %q, want %q", tt.name, s.m.flash.text, tt.want)
		}
		if s.elapse().show(with(tt.next)); s.m.flash.text != "" {
			t.Errorf("%s: said again %q", tt.name, s.m.flash.text)
		}
	}
}
