package lines

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// mode is that of a saved file: events name what runs on a node, which is
// nobody else's business.
const mode = 0o600

// most is how many files of one name are kept apart by a number.
const most = 1000

// Save writes data to a new file called name in the folder dir and returns its
// path. A file that is there already is never touched: a number is put before
// the name's ending instead. On an error no file of ours is left behind.
func Save(dir, name string, data []byte) (string, error) {
	ext := filepath.Ext(name)
	base := filepath.Join(dir, strings.TrimSuffix(name, ext))
	path := base + ext
	for n := 2; ; n++ {
		err := write(path, data)
		if err == nil {
			return path, nil
		}
		if !errors.Is(err, fs.ErrExist) || n > most {
			return "", fmt.Errorf("save events: %w", err)
		}
		path = fmt.Sprintf("%s-%d%s", base, n, ext)
	}
}

// write writes a file that is not there yet, or leaves none.
func write(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
