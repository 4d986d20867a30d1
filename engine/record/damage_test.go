package record

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// told is all that a reader of a file sees of it, moment by moment, and what is wrong with the rest.
func told(t *testing.T, path string, content []byte) (all []string, damage error) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	shown, damage := play(r)
	for _, s := range shown {
		all = append(all, fmt.Sprint(s.Snapshot.At.Round(0), s.Snapshot.Cost, s.Snapshot.Health, s.Snapshot.Counts, s.Events))
	}
	return all, damage
}

// A byte that is not what it was is reported, with what comes before it played, or changes
// nothing. Never is less played, or something else, and nothing said.
func TestAByteThatIsWrong(t *testing.T) {
	path := recorded(t, 35*time.Second)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all, err := told(t, path, whole)
	if err != nil || len(all) < 25 {
		t.Fatalf("%d moments, %v", len(all), err)
	}
	bad, reported := filepath.Join(t.TempDir(), "bad"), 0
	structure := make(map[int]bool) // the heads, and the beginnings and ends of frames: there every byte counts
	for _, s := range segments(t, path) {
		for i := range 40 {
			structure[int(s.at)-20+i] = true
		}
		structure[int(s.at+s.size)-2], structure[int(s.at+s.size)-3] = true, true
	}
	for at := range whole {
		if at%307 != 0 && !structure[at] { // each takes some milliseconds
			continue
		}
		b := bytes.Clone(whole)
		b[at] ^= 1 << (at % 8)
		got, err := told(t, bad, b)
		for i := range got {
			if i >= len(all) || got[i] != all[i] {
				t.Fatalf("byte %d of %d: moment %d of %d is another one; %v", at, len(whole), i, len(all), err)
			}
		}
		if err == nil && len(got) != len(all) {
			t.Errorf("byte %d of %d: %d moments of %d, and nothing is said", at, len(whole), len(got), len(all))
		}
		if err != nil {
			reported++
		}
	}
	if reported < 100 {
		t.Errorf("only %d are reported", reported)
	}
}

func segments(t *testing.T, path string) []*segment {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return r.segments
}
