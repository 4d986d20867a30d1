package ui

import (
	"testing"

	"github.com/plegtop/plegtop/engine/replay"
	"github.com/plegtop/plegtop/engine/replay/replaytest"
)

// The screen at the worst moment of each recording in the folder is what its goldens show.
func TestIncidents(t *testing.T) {
	for _, in := range replaytest.Incidents(t, "../engine/replay/testdata") {
		name := "incident-" + in.Name + "-120x40"
		t.Run(name, func(t *testing.T) {
			film, err := replay.New(in.Recording, in.Recording.Heads()[0].Endpoint)
			if err != nil {
				t.Fatal(err)
			}
			s := screened(t, 120, 40, film, func(c *Config) { c.At = in.Worst })
			s.m.flash = flash{}
			frame := s.m.frame()
			checkFrame(t, frame, 120, 40)
			compareGolden(t, name, withoutStyles(frame))
			checkFrame(t, s.send(sizeOf(80, 24)).m.frame(), 80, 24)
		})
	}
}
