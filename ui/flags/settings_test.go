package flags

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A flag wins over the file, and the file over a flag that was not given.
func TestFlagsWinOverTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte("period: 5s\ntheme: bright\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args   string
		period time.Duration
		theme  string
		ascii  bool
	}{
		{"", 5 * time.Second, "bright", false},
		{"--relist-period 1s --theme mono --ascii", time.Second, "mono", true},
	} {
		o, err := Parse(append(strings.Fields(tt.args), "--config", file))
		if err != nil {
			t.Fatal(err)
		}
		set, _, err := o.Settings()
		if err != nil {
			t.Fatal(err)
		}
		if set.Period != tt.period || set.Theme != tt.theme || set.ASCII != tt.ascii {
			t.Errorf("%q: %+v, want period %v, theme %s, ascii %v", tt.args, set, tt.period, tt.theme, tt.ascii)
		}
	}
}

func TestWrongSettingsAreAnError(t *testing.T) {
	if _, _, err := (Options{Config: filepath.Join(t.TempDir(), "none.yaml")}).Settings(); err == nil {
		t.Error("no error for a file that is not there")
	}
}
