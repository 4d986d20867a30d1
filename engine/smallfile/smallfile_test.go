package smallfile

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, size := range map[string]int64{"whole": Limit, "large": Limit + 1, "huge": 20 << 30} {
		if err := os.WriteFile(at(name), []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(at(name), size); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("whole", at("link")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ path, err string }{
		{at("whole"), ""},
		{at("link"), ""},
		{at("large"), "larger than 1048576 bytes"},
		{at("huge"), "larger than 1048576 bytes"},
		{at("pipe"), "not a regular file"},
		{dir, "not a regular file"},
		{"/dev/zero", "not a regular file"},
		{at("gone"), "no such file"},
	} {
		text, err := Read(tt.path)
		if tt.err == "" && (err != nil || len(text) != Limit) || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err) || text != nil) {
			t.Errorf("%s: %d bytes, error %v, want %q", tt.path, len(text), err, tt.err)
		}
	}
}
