package record

import (
	"bytes"
	"context"
	"errors"
	"io"
)

// ErrOff says that there is nothing in memory that could be saved.
var ErrOff = errors.New("nothing is kept in memory (--ring 0)")

// WriteTo has all that happens written to a file, whose size with the file before it, named path.1,
// is at most so many bytes, and a block; 0 for no limit. A file that is a recording already is
// continued. It fails where the file cannot be written, is something else, or is a link. It must be
// called before the engine begins.
func (r *Recorder) WriteTo(path string, most int64) error {
	f, err := create(path, most)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.file = f
	return nil
}

// Close ends the recording, and returns when the file is on the disk, or when ctx ends. It returns
// why the recording had ended before, if it had.
func (r *Recorder) Close(ctx context.Context) error {
	r.mu.Lock()
	if r.err == nil && r.zstd != nil {
		r.fail(r.end())
		r.fail(errClosed)
	}
	f, err := r.file, r.err
	r.mu.Unlock()
	if errors.Is(err, errClosed) {
		err = nil
	}
	return errors.Join(err, f.close(ctx))
}

var errClosed = errors.New("the recording is closed")

// WriteTo writes the recording as the bytes of a file.
func (r *Recording) WriteTo(w io.Writer) (n int64, err error) {
	for _, s := range r.segments {
		parts := []io.Reader{bytes.NewReader(s.head), s.open()}
		if s.unfinished() {
			parts = append(parts, bytes.NewReader(lastBlock))
		}
		m, err := io.Copy(w, io.MultiReader(parts...))
		if n += m; err != nil {
			return n, err
		}
	}
	return n, nil
}
