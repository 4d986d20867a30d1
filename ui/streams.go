package ui

import (
	"slices"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/say"
)

// streams is what the screen remembers of the event sources.
type streams struct {
	last    []sources.Source // that were wanted when any were
	awaited []sources.Source // a key has just asked for: what becomes of them is said if it is not what was asked for
}

// switchStreams closes the event sources that are open, or opens those that were last:
// cri where there were none. One more reader of a real runtime's events is asked about,
// unless the command line has asked for it, or a person before; and so is the end of the
// stream that the kubelet goes by, which never comes back to it.
func (m *Model) switchStreams() {
	known := m.view.Latest.Sources
	on := m.streams.last
	if len(on) == 0 {
		on = []sources.Source{sources.FromCRI}
	}
	has := func(s sources.Source) bool { return m.view.Latest.Stream(s) != nil }
	switch {
	case slices.ContainsFunc(known, say.StreamOpen) && m.view.Latest.Mode.Mode != pleg.Generic:
		question := "Close the stream that the " + m.view.Latest.Mode.Mode.String() + " mode goes by, and fall back for good?"
		m.Open(layer.NewConfirm(question, func(pane.Host) { m.closeStreams() }))
	case slices.ContainsFunc(known, say.StreamOpen):
		m.closeStreams()
	case !slices.ContainsFunc(on, has):
		m.Say("there are no event sources here")
	case len(m.streams.last) == 0 && !m.cfg.Source.Demo():
		m.Open(layer.NewConfirm("Open one more reader of the runtime's event stream (GetContainerEvents)?", func(pane.Host) { m.openStreams(on) }))
	default:
		m.openStreams(on)
	}
}

func (m *Model) closeStreams() {
	m.setStreams(nil)
	m.Say("event sources off: nobody reads the runtime's events here")
}

func (m *Model) openStreams(on []sources.Source) {
	m.setStreams(on)
	m.streams.last, m.streams.awaited = on, on
	effect := ": one reader more of the runtime's events; "
	if !slices.Contains(on, sources.FromCRI) {
		effect = ": no call is made for it; "
	}
	m.Say("opening " + names(on) + effect + m.Keys(keymap.EventSources) + " closes")
}

// setStreams asks for these event sources and no others.
func (m *Model) setStreams(on []sources.Source) {
	m.cfg.Controls.SetStreams(on...)
	m.streams.awaited = nil
	m.expect(func(s *engine.Snapshot) {
		s.Sources = slices.Clone(s.Sources)
		for i := range s.Sources {
			k := &s.Sources[i]
			if k.State = sources.StreamOff; slices.Contains(on, k.Source) {
				k.State = sources.StreamOpening
			}
		}
	})
}

// followStreams takes in how the event sources stand in the newest snapshot.
func (m *Model) followStreams() {
	var wanted []sources.Source
	for i := range m.view.Latest.Sources {
		k := &m.view.Latest.Sources[i]
		if k.State != sources.StreamOff {
			wanted = append(wanted, k.Source)
		}
		if !k.State.Shown() || !slices.Contains(m.streams.awaited, k.Source) {
			continue
		}
		if m.streams.awaited = nil; k.State != sources.StreamConnected {
			m.Say(k.Source.String() + " " + say.StreamStands(k))
		}
	}
	if wanted != nil {
		m.streams.last = wanted
	}
}

func names(all []sources.Source) string {
	words := make([]string, len(all))
	for i, s := range all {
		words[i] = s.String()
	}
	return strings.Join(words, ", ")
}
