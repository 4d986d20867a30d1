package sim

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// A start removes what a killed one has left, and nothing else.
func TestLeftFoldersAreRemoved(t *testing.T) {
	base := t.TempDir()
	living, lock, err := newFolder(base)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	long := time.Now().Add(-time.Hour)
	for _, name := range []string{"plegtop-demo-left", "plegtop-demo-young", "plegtop-other"} {
		if err := os.MkdirAll(filepath.Join(base, name, "node"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(base, "plegtop-demo-link")); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{living, base + "/plegtop-demo-left", base + "/plegtop-other", outside} {
		if err := os.Chtimes(dir, long, long); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Start(t.Context(), Config{Scenario: "empty", Dir: base})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var left []string
	entries, err := os.ReadDir(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		left = append(left, e.Name())
	}
	want := []string{filepath.Base(living), "plegtop-demo-link", "plegtop-demo-young", "plegtop-other"}
	slices.Sort(want)
	if !slices.Equal(left, want) {
		t.Errorf("left are %v, want %v", left, want)
	}
}

func TestTempDir(t *testing.T) {
	want := t.TempDir()
	t.Setenv("TMPDIR", want)
	if got := tempDir(); got != want {
		t.Errorf("with a folder of a person's choice it is %s, want %s", got, want)
	}
	t.Setenv("TMPDIR", "")
	if _, err := os.Stat(inMemory); err == nil {
		want = inMemory
	} else {
		want = os.TempDir()
	}
	if got := tempDir(); got != want {
		t.Errorf("else it is %s, want %s", got, want)
	}
}
