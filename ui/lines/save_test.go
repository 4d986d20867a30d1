package lines

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSaveKeepsWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	for i, want := range []string{"events.ndjson", "events-2.ndjson", "events-3.ndjson"} {
		path, err := Save(dir, "events.ndjson", []byte{byte('a' + i)})
		if err != nil || path != filepath.Join(dir, want) {
			t.Fatalf("Save = %q, %v; want %s", path, err, want)
		}
	}
	first, err := os.ReadFile(filepath.Join(dir, "events.ndjson"))
	if err != nil || string(first) != "a" {
		t.Errorf("the first file holds %q, %v", first, err)
	}
	info, err := os.Stat(filepath.Join(dir, "events-2.ndjson"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode = %v, %v; want 0600", info.Mode(), err)
	}
}

func TestSaveSaysWhyNot(t *testing.T) {
	if _, err := Save(filepath.Join(t.TempDir(), "missing"), "events.ndjson", nil); err == nil {
		t.Error("Save into a folder that is not there succeeded")
	}
}
