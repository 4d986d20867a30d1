package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/plegtop/plegtop/engine/guard"
	"github.com/plegtop/plegtop/engine/osfile"
)

const (
	// syncEvery is the longest time that a crash of the whole machine may take from a recording.
	syncEvery = 5 * time.Second
	// mostQueued is how many parts wait for a disk that hangs: the parts of twelve minutes.
	mostQueued = 256
	// before is the suffix in the name of the previous file.
	before = ".1"
)

// A file is the file that a recorder writes to. It has its own goroutine for writing, since a
// disk may hang. All methods may be called on nil: then nothing is written.
type file struct {
	path  string
	most  int64 // bytes of it and of the previous file together; 0 for no limit
	queue chan queued
	done  chan struct{}
	out   output // only for the writer

	mu      sync.Mutex // guards what follows
	length  int64      // of the file, with the parts that wait
	written int64      // to it and to the files before, with the parts that wait
	err     error
}

// A queued is a part that waits. It is written in one call.
type queued struct {
	bytes []byte
	anew  bool // it begins a new file
}

// An output is an [os.File].
type output interface {
	io.WriteCloser
	Sync() error
}

// WriteTo makes the recorder write to a new file. Together with the previous file, named
// path.1, it takes at most so many bytes and two segments; 0 for no limit. A recording at path
// becomes the previous file. WriteTo replaces nothing else: it fails then, and also if another
// plegtop records to the file. Call it before the engine begins.
func (r *Recorder) WriteTo(path string, most int64) error {
	for _, name := range []string{path, path + before} {
		if err := replaceable(name); err != nil {
			return fmt.Errorf("record to %s: %w: move it away, or name another file", path, err)
		}
	}
	if err := os.Rename(path, path+before); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("record: %w", err)
	}
	out, err := create(path)
	if err != nil {
		return err
	}
	r.file = newFile(path, most, out)
	return nil
}

// replaceable returns nil if no file has the name, or if it is a recording that nobody writes
// to.
func replaceable(name string) error {
	switch info, err := os.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, headSize)
	n, _ := f.ReadAt(head, 0) // a file that cannot be read is no recording
	switch err := checkHead(head[:n]); {
	case errors.Is(osfile.Lock(f), osfile.ErrLocked): // a file system may have no locks
		return fmt.Errorf("another plegtop records to %s", name)
	case errors.Is(err, ErrNoRecording):
		return fmt.Errorf("%s is %w", name, err)
	}
	return nil
}

func newFile(path string, most int64, out output) *file {
	f := &file{path: path, most: most, out: out, queue: make(chan queued, mostQueued), done: make(chan struct{})}
	guard.Go(f.run)
	f.write(fileHead, false)
	return f
}

// create makes a file for a recording, and locks it. Other users cannot read it, since it says
// what ran where.
func create(path string) (*os.File, error) {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|osfile.NoFollow, 0o600)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	_ = osfile.Lock(out) // see replaceable
	return out, nil
}

// write hands a part to the writer. A part that begins a segment may begin a file.
func (f *file) write(b []byte, begins bool) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return
	}
	q := queued{b, begins && f.most > 0 && f.length >= f.most/2}
	if q.anew {
		f.length = 0
		q.bytes = slices.Concat(fileHead, b)
	}
	select {
	case f.queue <- q:
		f.length, f.written = f.length+int64(len(q.bytes)), f.written+int64(len(q.bytes))
	default:
		f.err = fmt.Errorf("the disk is too slow: %d parts wait to be written", mostQueued)
	}
}

// state returns the name of the file, how many bytes were written to it and to the files
// before, and why nothing more is written.
func (f *file) state() (path string, written int64, fault error) {
	if f == nil {
		return "", 0, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.path, f.written, f.err
}

// close writes what waits, and returns when that is on the disk, or when ctx ends.
func (f *file) close(ctx context.Context) error {
	if f == nil {
		return nil
	}
	close(f.queue)
	select {
	case <-f.done:
	case <-ctx.Done():
		f.fail(errors.New("the disk does not answer"))
	}
	if _, _, err := f.state(); err != nil {
		return fmt.Errorf("record to %s: %w", f.path, err)
	}
	return nil
}

// run is the writer.
func (f *file) run() {
	defer close(f.done)
	synced := time.Now()
	for q := range f.queue {
		_, _, err := f.state()
		if err != nil {
			continue
		}
		if q.anew {
			err = f.rotate()
		}
		if err == nil {
			_, err = f.out.Write(q.bytes)
		}
		if err == nil && time.Since(synced) >= syncEvery {
			synced = time.Now()
			err = f.out.Sync()
		}
		f.fail(err)
	}
	f.fail(errors.Join(f.out.Sync(), f.out.Close()))
}

func (f *file) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p, is := errors.AsType[*fs.PathError](err); is {
		err = p.Err // whoever shows it names the file
	}
	if err != nil && f.err == nil {
		f.err = err
	}
}

// rotate gives the file the name of the previous file, which it replaces, and begins a new
// file.
func (f *file) rotate() error {
	if err := errors.Join(f.out.Sync(), f.out.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.path, f.path+before); err != nil {
		return err
	}
	out, err := create(f.path)
	if err == nil {
		f.out = out
	}
	return err
}
