// Package history keeps the filters that were typed, from one run to the next, in a
// small file that is nobody else's business. Nothing depends on it: where it cannot be
// read there is none, and where it cannot be written it ends with the run.
package history

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/plegtop/plegtop/engine/osfile"
	"github.com/plegtop/plegtop/engine/smallfile"
)

// How much is kept: lines, runes of one, and bytes of the file.
const (
	maxLines = 100
	maxRunes = 1000
	maxBytes = 64 << 10
)

// A File keeps lines. It is safe for concurrent use; of two programs that write at the
// same time one may lose a line.
type File struct {
	mu   sync.Mutex
	path string
}

// Open returns the file of the person who runs the program: plegtop/history in the state
// folder. One that has no such folder has a file that keeps nothing, and so has root where
// the folder is another's, as sudo leaves it: that person could not write it any more. It
// does no I/O.
func Open() *File {
	dir := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) { // as the specification wants it
		home, err := os.UserHomeDir()
		if err != nil || !filepath.IsAbs(home) {
			return &File{}
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return &File{path: filepath.Join(dir, "plegtop", "history")}
}

// Lines returns what is kept, the newest last; nothing if the file cannot be read. What
// is no line of ours in it is left out.
func (f *File) Lines() []string {
	data, err := smallfile.Read(f.path)
	if err != nil || len(data) > maxBytes {
		return nil
	}
	lines := slices.DeleteFunc(strings.Split(string(data), "\n"), func(s string) bool { return !fits(s) })
	return lines[max(len(lines)-maxLines, 0):]
}

// fits reports whether a line can be kept. It is cleaned where it is shown.
func fits(s string) bool {
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	return strings.TrimSpace(s) != "" && utf8.ValidString(s) && utf8.RuneCountInString(s) <= maxRunes && !strings.ContainsFunc(s, odd)
}

// Remember keeps a line; one that was kept before becomes the newest. It takes the time
// that the disk takes. The file is whole at any moment.
func (f *File) Remember(line string) error {
	if f.path == "" || !fits(line) || os.Geteuid() == 0 && isOthers(filepath.Dir(f.path)) {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	lines := slices.DeleteFunc(f.Lines(), func(s string) bool { return s == line })
	lines = append(lines, line)
	lines = lines[max(len(lines)-maxLines, 0):]
	data := strings.Join(lines, "\n") + "\n"
	for len(data) > maxBytes {
		_, data, _ = strings.Cut(data, "\n")
	}
	if err := f.replace(data); err != nil {
		return fmt.Errorf("keep the filter for the next run: %w", err)
	}
	return nil
}

// isOthers reports whether a folder, or one that it is in, belongs to another user than root.
func isOthers(dir string) bool {
	for ; dir != "/"; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			continue // it is still to be made
		}
		if uid, known := osfile.Owner(info); known && uid != 0 {
			return true
		}
	}
	return false
}

// replace puts a new file in the place of the old one.
func (f *File) replace(data string) error {
	dir := filepath.Dir(f.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, ".history-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = file.WriteString(data)
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), f.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
