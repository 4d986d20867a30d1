package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/plegtop/plegtop/keymap"
)

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
// there is one. What is wrong inside the file is an [*Error].
func Load(path string) (Settings, error) {
	named := path != ""
	if !named {
		path = Path()
	}
	if path == "" {
		return Settings{Keys: keymap.Default()}, nil
	}
	data, err := os.ReadFile(path)
	switch {
	case err == nil:
		return Parse(path, data)
	case !named && errors.Is(err, fs.ErrNotExist):
		return Settings{Keys: keymap.Default()}, nil
	}
	return Settings{}, fmt.Errorf("read settings: %w", err)
}
