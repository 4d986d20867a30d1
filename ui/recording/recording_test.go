package recording

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
)

// states is a feed of snapshots whose recording stands so.
type states []engine.Recording

func (s *states) Next(context.Context) (u diagnose.Update, err error) {
	u.Snapshot = &engine.Snapshot{Recording: (*s)[0]}
	*s = (*s)[1:]
	return u, nil
}

// TestTheEndOfARecordingIsSaidOnce holds that views without a footer say that, too.
func TestTheEndOfARecordingIsSaidOnce(t *testing.T) {
	goesOn, ended := engine.Recording{File: "f"}, engine.Recording{File: "f", Ended: "no room", EndedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)}
	feed, said := states{goesOn, ended, ended}, []string(nil)
	watched := Watched(&feed, func(s string) { said = append(said, s) })
	for len(feed) > 0 {
		if _, err := watched.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"recording ended at 03:04:05: no room (f)"}; !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
}
