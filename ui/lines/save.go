package lines

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/text"
)

// mode is that of a saved file: events name what runs on a node, which is
// nobody else's business.
const mode = 0o600

// most is how many files of one name are kept apart by a number.
const most = 1000

// Save writes events and gaps as NDJSON to a new file in the folder dir, and returns its
// path. Its name has that of the node and the time at. On an error no file of ours is left
// behind.
func Save(dir, node string, at time.Time, rows []model.Row) (string, error) {
	var data []byte
	for _, r := range rows {
		if r.Gap > 0 {
			data = appendGap(data, r.SeenAt, r.Gap)
		} else {
			data = appendEvent(data, r.Event)
		}
	}
	return save(filepath.Join(dir, text.FileBase(node, at.UTC().Format("20060102T150405Z"))), ".ndjson", data)
}

// save writes data to a new file of that base and ending. One that is there already is
// never touched: a number is put before the ending instead.
func save(base, ending string, data []byte) (string, error) {
	path := base + ending
	for n := 2; ; n++ {
		err := write(path, data)
		if err == nil {
			return path, nil
		}
		if !errors.Is(err, fs.ErrExist) || n > most {
			return "", fmt.Errorf("save events: %w", err)
		}
		path = fmt.Sprintf("%s-%d%s", base, n, ending)
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
