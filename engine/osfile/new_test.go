package osfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestNew holds that a new file replaces none, follows no link, is its owner's alone, and is not left
// behind where writing fails.
func TestNew(t *testing.T) {
	dir := t.TempDir()
	base, elsewhere := filepath.Join(dir, "events"), filepath.Join(dir, "elsewhere")
	write := func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }
	if err := os.Symlink(elsewhere, base+".txt"); err != nil {
		t.Skipf("no links here: %v", err)
	}
	for _, want := range []string{base + "-2.txt", base + "-3.txt"} {
		got, err := New(base, ".txt", write)
		text, _ := os.ReadFile(want)
		if err != nil || got != want || string(text) != "new" {
			t.Errorf("%s, %v with %q, want %s", got, err, text, want)
		}
		if is, err := os.Stat(want); err != nil || is.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", want, is.Mode(), err)
		}
	}
	full := errors.New("full")
	if got, err := New(base, ".log", func(io.Writer) error { return full }); got != "" || !errors.Is(err, full) {
		t.Errorf("%q, %v, want %v", got, err, full)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(left) != 3 { // the link and two files
		t.Errorf("there are %v", left)
	}
}
