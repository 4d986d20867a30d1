package replay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/record"
)

// An incident is a recording in testdata.
type incident struct {
	name      string // of the file, without its ending
	recording *record.Recording
}

// incidents returns the recordings in testdata.
func incidents(t *testing.T) (all []incident) {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.plegrec")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d recordings, %v", len(paths), err)
	}
	for _, path := range paths {
		r, err := record.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		all = append(all, incident{strings.TrimSuffix(filepath.Base(path), ".plegrec"), r})
	}
	return all
}

// testdata/worst.golden has the moment of each recording that tests of other packages look at:
// the last one with the most severe headline and, of these, the most findings as severe.
func TestWorstMoments(t *testing.T) {
	var b []byte
	for _, in := range incidents(t) {
		b = fmt.Appendf(b, "%s %s\n", in.name, worst(t, in.recording, in.name).Format(time.RFC3339Nano))
	}
	const path = "testdata/worst.golden"
	if *update {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if diff := cmp.Diff(string(want), string(b)); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func worst(t *testing.T, r *record.Recording, name string) (at time.Time) {
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
				t.Fatalf("%s: %v", name, err)
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
