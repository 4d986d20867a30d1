package record

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// A Recording is what was recorded: a file, or what a ring had at a moment. Safe for concurrent
// use. The zero value is empty.
type Recording struct {
	segments []*segment
	damage   error // what comes after them; nil for nothing
	file     *os.File
}

// Open opens a recording. A file that is damaged can be played up to there, see
// [Recording.Damage]. One that ends in the midst of a block, as whoever wrote it was ended, is
// whole but for that block. It fails with [ErrNoRecording] and [ErrNewer], and
// where the file cannot be read. The caller closes it.
func Open(path string) (*Recording, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would have us wait for who writes to it
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no regular file: name a recording")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("replay %s: %w", path, err), f.Close())
	}
	r := &Recording{file: f}
	r.segments, _, err = scan(f, info.Size())
	cut := err == nil || errors.Is(err, errCut)
	if len(r.segments) == 0 {
		if cut {
			err = fmt.Errorf("%w: it is empty, or ends before anything in it is whole", ErrNoRecording)
		}
		return nil, errors.Join(fmt.Errorf("replay %s: %w", path, err), f.Close())
	}
	if !cut {
		r.damage = err
	}
	return r, nil
}

// Close closes the file, after which nothing more can be played.
func (r *Recording) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// Damage says why the recording can be played no further than to its last segment's end; nil
// if it is whole.
func (r *Recording) Damage() error { return r.damage }

// Heads returns what the segments say of themselves, in their order.
func (r *Recording) Heads() []Head {
	heads := make([]Head, len(r.segments))
	for i, s := range r.segments {
		heads[i] = s.Head
	}
	return heads
}

// before returns the place of the last segment that begins at or before a moment; 0 if none does,
// and for the zero time: a damaged head may name an earlier one.
func (r *Recording) before(at time.Time) int {
	place := 0
	for i, s := range r.segments {
		if !at.IsZero() && !s.At.After(at) {
			place = i
		}
	}
	return place
}
