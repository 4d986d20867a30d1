package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/record"
	"github.com/plegtop/plegtop/ui/rewind"
)

// The screen at the worst moment of each recording in the folder is what its goldens show.
func TestIncidents(t *testing.T) {
	const folder = "../engine/record/testdata"
	worst, err := os.ReadFile(filepath.Join(folder, "worst.golden"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(worst)) {
		incident, moment, _ := strings.Cut(strings.TrimSpace(line), " ")
		name := "incident-" + incident + "-120x40"
		t.Run(name, func(t *testing.T) {
			at, err := time.Parse(time.RFC3339Nano, moment)
			if err != nil {
				t.Fatal(err)
			}
			recording, err := record.Open(filepath.Join(folder, incident+".plegrec"))
			if err != nil {
				t.Fatal(err)
			}
			defer recording.Close()
			film, err := rewind.New(recording)
			if err != nil {
				t.Fatal(err)
			}
			s := screened(t, 120, 40, film, func(c *Config) { c.At = at })
			s.m.flash = flash{}
			frame := s.m.frame()
			checkFrame(t, frame, 120, 40)
			compareGolden(t, name, withoutStyles(frame))
			checkFrame(t, s.send(sizeOf(80, 24)).m.frame(), 80, 24)
		})
	}
}
