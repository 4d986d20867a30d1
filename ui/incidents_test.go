package ui

import (
	"fmt"
	"testing"

	"github.com/plegtop/plegtop/engine/replay"
	"github.com/plegtop/plegtop/engine/replay/replaytest"
)

// The screen at the worst moment of each recording in the folder is what its goldens show.
func TestIncidents(t *testing.T) {
	for _, in := range replaytest.Incidents(t, "../engine/replay/testdata") {
		for _, size := range []size{{120, 40}, {80, 24}} {
			name := fmt.Sprintf("incident-%s-%dx%d", in.Name, size.w, size.h)
			t.Run(name, func(t *testing.T) {
				film, err := replay.New(in.Recording, in.Recording.Heads()[0].Endpoint)
				if err != nil {
					t.Fatal(err)
				}
				s := screened(t, size.w, size.h, film, func(c *Config) { c.At = in.Worst })
				s.m.flash = flash{}
				frame := s.m.frame()
				checkFrame(t, frame, size.w, size.h)
				compareGolden(t, name, frame)
			})
		}
	}
}
