package rewind

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestStretches(t *testing.T) {
	first := time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC)
	mark := func(s int, level Level, events int) Mark {
		return Mark{At: first.Add(time.Duration(s) * time.Second), Level: level, Events: events}
	}
	marks := []Mark{mark(0, Sound, 1), mark(5, Warning, 0), mark(13, Critical, 2), mark(20, Sound, 0), mark(40, Unknown, 0)}
	want := []Stretch{{Warning, 1}, {Critical, 2}, {Sound, 0}, {}, {}}
	if diff := cmp.Diff(want, Stretches(marks, first, first.Add(50*time.Second), 5)); diff != "" {
		t.Errorf("five parts of 50 s (-want +got):\n%s", diff)
	}
	fine := Stretches(marks, first, first.Add(50*time.Second), 50)
	if fine[7].Level != Warning || fine[12].Level != Warning || fine[13].Level != Critical || fine[19].Level != Critical || fine[20].Level != Sound || fine[25].Level != Unknown {
		t.Errorf("50 parts: %v", fine)
	}
	if got := Stretches(marks[:1], first, first, 3); got[0].Level != Sound {
		t.Errorf("a film of one moment: %v", got)
	}
}
