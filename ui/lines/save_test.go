package lines

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/ui/model"
)

func TestSaveKeepsWhatIsThere(t *testing.T) {
	dir, at := t.TempDir(), time.Date(2026, 11, 22, 10, 20, 30, 0, time.FixedZone("", 3600))
	for i, want := range []string{"", "-2", "-3"} {
		rows := []model.Row{{Event: engine.Event{Seq: uint64(i + 1), SeenAt: at}}, {Event: engine.Event{SeenAt: at}, Gap: 7}}
		path, err := Save(dir, "no/de $1", at, rows)
		if want := filepath.Join(dir, "plegtop-no-de--1-20261122T092030Z"+want+".ndjson"); err != nil || path != want {
			t.Fatalf("Save = %q, %v; want %s", path, err, want)
		}
	}
	first, err := os.ReadFile(filepath.Join(dir, "plegtop-no-de--1-20261122T092030Z.ndjson"))
	if all := strings.Split(string(first), "\n"); err != nil || len(all) != 3 || !strings.Contains(all[0], `"seq":1`) || !strings.Contains(all[1], `"gap"`) {
		t.Errorf("the first file holds %q, %v", first, err)
	}
	if kinds := validLines(t, string(first)); kinds["event"] != 1 || kinds["gap"] != 1 {
		t.Errorf("lines %v, want those of watch", kinds)
	}
	info, err := os.Stat(filepath.Join(dir, "plegtop-no-de--1-20261122T092030Z-2.ndjson"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode = %v, %v; want 0600", info.Mode(), err)
	}
}

func TestSaveSaysWhyNot(t *testing.T) {
	if _, err := Save(filepath.Join(t.TempDir(), "missing"), "node", time.Time{}, nil); err == nil {
		t.Error("Save into a folder that is not there succeeded")
	}
}
