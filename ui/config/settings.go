// Package config reads the settings of the screen from a YAML file. Nothing in
// a file is ignored: what is not understood is an error that names file, line
// and key, so that a typing error never goes unseen.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/plegtop/plegtop/engine/smallfile"
	"github.com/plegtop/plegtop/keymap"
)

// Settings is what a file may set. A zero field was not set: the flag or
// default holds. Keys is always a whole map, the default one if no file changes
// it.
type Settings struct {
	Keys       keymap.Map
	Theme      string // a name of package theme
	ASCII      bool
	Sort       string // one of Columns
	Descending bool
	TimeFormat string        // one of TimeFormats
	Filter     string        // in the language of package filter; known to parse
	Namespaces []string      // to show; empty for all
	Problems   bool          // show only pods with a problem
	Period     time.Duration // of the relist
}

// Columns lists the columns by which the pods can be sorted: their heads on the
// screen, in lower case and without spaces.
var Columns = []string{
	"namespace", "pod", "state", "ready", "ctrs", "exit", "rst", "age", "lastevent", "inspect", "worst", "remark",
}

// TimeFormats lists how the time of an event can be shown.
var TimeFormats = []string{"clock", "age", "full"}

// Path returns where the file is looked for that nobody named:
// plegtop/config.yaml in the user's configuration folder. It is empty where
// the user has no such folder.
func Path() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "plegtop", "config.yaml")
}

// Load reads the file called path, or, for an empty path, the one at [Path] if
// there is one. What is wrong inside the file is an [*Error]. A file that nobody named
// and that cannot be read is no error: note says why it was left out.
func Load(path string) (set Settings, note string, err error) {
	named := path != ""
	if !named {
		path = Path()
	}
	none := Settings{Keys: keymap.Default()}
	if path == "" {
		return none, "", nil
	}
	data, err := smallfile.Read(path)
	switch {
	case err == nil:
		set, err = Parse(path, data)
		return set, "", err
	case named:
		return Settings{}, "", fmt.Errorf("read settings: %w", err)
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return none, "", nil
	}
	return none, fmt.Sprintf("settings are left out: %v", err), nil
}
