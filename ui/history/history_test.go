package history

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// opened returns the file of a person with that state folder.
func opened(t *testing.T, dir string) *File {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", dir)
	return Open()
}

func remember(t *testing.T, f *File, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if err := f.Remember(line); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRemember(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	f := opened(t, dir)
	if got := f.Lines(); got != nil {
		t.Errorf("a file that is not there has %q", got)
	}
	remember(t, f, "ns:shop", "has:problem", "ns:shop", " ", "", "\x1b[2J", "a\nb", strings.Repeat("x", 1001), "größer|日本")
	if diff := cmp.Diff([]string{"has:problem", "ns:shop", "größer|日本"}, Open().Lines()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	for path, want := range map[string]os.FileMode{"plegtop": 0o700 | os.ModeDir, "plegtop/history": 0o600} {
		info, err := os.Stat(filepath.Join(dir, path))
		if err != nil || info.Mode() != want {
			t.Errorf("%s: mode %v, %v, want %v", path, info.Mode(), err, want)
		}
	}
	if left, err := os.ReadDir(filepath.Join(dir, "plegtop")); err != nil || len(left) != 1 {
		t.Errorf("%v, %v: want the one file", left, err)
	}
}

func TestBounds(t *testing.T) {
	f := opened(t, t.TempDir())
	for i := range 150 {
		remember(t, f, fmt.Sprint("filter ", i))
	}
	if got := f.Lines(); len(got) != 100 || got[99] != "filter 149" {
		t.Errorf("%d lines, the last %q", len(got), got[len(got)-1])
	}
	for i := range 30 {
		remember(t, f, fmt.Sprint(i, " ", strings.Repeat("語", 990)))
	}
	info, err := os.Stat(f.path)
	if err != nil || info.Size() > 64<<10 || len(f.Lines()) < 20 || !strings.Contains(f.Lines()[len(f.Lines())-1], "語") {
		t.Errorf("%v bytes, %d lines, %v", info.Size(), len(f.Lines()), err)
	}
}

// What somebody else put there is not shown, and a file too large is not taken.
func TestLinesOfOthers(t *testing.T) {
	f := opened(t, t.TempDir())
	remember(t, f, "first")
	write := func(text string) {
		if err := os.WriteFile(f.path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("good\r\n\x1b]0;x\x07\nalso good\n\xff\n" + strings.Repeat("y", 5000))
	if diff := cmp.Diff([]string{"also good"}, f.Lines()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	write(strings.Repeat("many\n", 20_000))
	if got := f.Lines(); got != nil {
		t.Errorf("%d lines of a file that is too large", len(got))
	}
	remember(t, f, "new")
	if diff := cmp.Diff([]string{"new"}, f.Lines()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// Where nothing can be kept that is an error of Remember, and of nothing else.
func TestNowhereToKeep(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := opened(t, file)
	if err := f.Remember("a"); err == nil || f.Lines() != nil {
		t.Errorf("%v, %q: want an error and no lines", err, f.Lines())
	}
	t.Setenv("HOME", "")
	f = opened(t, "relative")
	if err := f.Remember("a"); err != nil || f.Lines() != nil {
		t.Errorf("without a home: %v, %q", err, f.Lines())
	}
	t.Setenv("HOME", "/home/somebody")
	if f = opened(t, ""); f.path != "/home/somebody/.local/state/plegtop/history" {
		t.Errorf("path %s", f.path)
	}
}

// A pipe or a link to a device in the place of the file does not hang.
func TestDevice(t *testing.T) {
	f := opened(t, t.TempDir())
	remember(t, f, "first")
	if err := os.Remove(f.path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", f.path); err != nil {
		t.Fatal(err)
	}
	if got := f.Lines(); got != nil {
		t.Errorf("%q", got)
	}
	remember(t, f, "new")
	if info, err := os.Lstat(f.path); err != nil || !info.Mode().IsRegular() {
		t.Errorf("%v, %v: want a file in the place of the link", info.Mode(), err)
	}
}

// What sudo leaves as HOME is another's: root makes nothing there that its owner could not
// change any more.
func TestRootKeepsNothingAtAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root writes where others own the folder")
	}
	for name, own := range map[string]string{"all": ".", "the home alone": "home"} {
		base := t.TempDir()
		home := filepath.Join(base, "home")
		state := filepath.Join(home, ".local", "state")
		if err := os.MkdirAll(state, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(filepath.Join(base, own), 1000, 1000); err != nil {
			t.Skip(err)
		}
		f := opened(t, state)
		remember(t, f, "ns:shop")
		if left, err := os.ReadDir(state); err != nil || len(left) != 0 {
			t.Errorf("%s: %v, %v", name, left, err)
		}
	}
}
