package replaytest

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/record"
)

// An Incident is a recording that is kept for tests.
type Incident struct {
	Path      string
	Name      string // of the file, without its ending
	Recording *record.Recording
	Worst     time.Time // the last moment with the most severe headline and, of these, the most findings as severe
}

// Incidents returns the recordings in a folder. It fails the test where there are none, and
// where one cannot be played to its end.
func Incidents(t *testing.T, folder string) []Incident {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.plegrec"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %d recordings, %v", folder, len(paths), err)
	}
	all := make([]Incident, len(paths))
	for i, path := range paths {
		r, err := record.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		all[i] = Incident{Path: path, Name: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), Recording: r, Worst: worst(t, r, path)}
	}
	return all
}

func worst(t *testing.T, r *record.Recording, path string) (at time.Time) {
	t.Helper()
	most := 0
	for run := r.Play(time.Time{}).Feed(); run != nil; run = run.Rest() {
		live := diagnose.NewLive(run, "")
		for {
			u, err := live.Next(t.Context())
			if errors.Is(err, engine.ErrStopped) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			bad := int(u.Headline.Severity) << 16
			for _, f := range u.Findings {
				if f.Severity >= u.Headline.Severity {
					bad++
				}
			}
			if bad >= most {
				most, at = bad, u.Snapshot.At.Round(0)
			}
		}
	}
	return at
}
