// Package smallfile reads files that people and nodes name: settings, tokens,
// certificates, another program's configuration. Such a name may lead to anything.
package smallfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Limit is how many bytes a file may have, more than any of these has.
const Limit = 1 << 20

// Read returns what a file holds. It neither waits for a pipe nor opens a device, and
// reads no more than [Limit]: what is no regular file, or larger, is an error, a
// [*fs.PathError] like every other. A file on a server that is gone may hang. It is safe
// for concurrent use.
func Read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a pipe
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, Limit+1))
	if err == nil && len(text) > Limit {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("larger than %d bytes", Limit)}
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}
