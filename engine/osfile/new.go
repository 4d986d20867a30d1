package osfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// mode is that of a new file: it names what runs on a node, which is nobody else's business.
const mode = 0o600

// most is how many files of one name are kept apart by a number.
const most = 1000

// New has write write a new file of that base and ending, and returns its path. One that is there
// already is never touched: a number is put before the ending instead. On an error no file of ours
// is left behind.
func New(base, ending string, write func(w io.Writer) error) (path string, err error) {
	path = base + ending
	for n := 2; ; n++ {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|NoFollow, mode)
		switch {
		case err == nil:
			if err = errors.Join(write(f), f.Close()); err != nil {
				return "", errors.Join(err, os.Remove(path))
			}
			return path, nil
		case !errors.Is(err, fs.ErrExist) || n > most:
			return "", err
		}
		path = fmt.Sprintf("%s-%d%s", base, n, ending)
	}
}
