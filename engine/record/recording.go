// Package record writes down the observations of an engine, and plays them. An [engine.Model]
// depends only on its observations, their order and their moments. So it shows the same
// snapshots and events when they are played.
//
// A recording is a row of segments. Each begins with a checkpoint of the model, so that it can be
// played by itself. So a seek plays only one segment, the ring in memory can drop the oldest
// segments, and a file can get more segments. docs/recording.md describes the format.
//
// Recorder and Recording are safe for concurrent use, Player is not.
package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A Recording is a recorded file, or the contents of a ring at a moment. Safe for concurrent
// use. The zero value is empty.
type Recording struct {
	segments []*segment
	damage   error // what is wrong after these segments; nil if nothing is
	file     *os.File
	as       pleg.Release // the kubelet whose relist the player follows; 0 for the recorded kubelet
}

// Open opens a recording. A recording that is damaged, or ends in the middle, is played up to there.
// Open fails with [ErrNoRecording], [ErrFormat] or [ErrEmpty], and if the file cannot be read. The
// caller closes it.
func Open(path string) (*Recording, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would make us wait for its writer
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	r := &Recording{file: f}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = errors.New("it is no regular file: name a recording")
	default:
		head := make([]byte, headSize)
		n, _ := f.ReadAt(head, 0) // what cannot be read is no recording
		if err = checkHead(head[:n]); err == nil {
			r.segments, r.damage = scan(f, info.Size())
			_, err = r.Head()
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("replay %s: %w", path, err), f.Close())
	}
	return r, nil
}

// Close closes the file. Nothing more can be played after that.
func (r *Recording) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// ErrEmpty says that nothing is recorded: a ring that is off or has only begun, or a file that ends
// before its first segment is whole.
var ErrEmpty = errors.New("nothing is recorded yet")

// Head returns the head of the last segment that can be read. It fails if there is none.
func (r *Recording) Head() (Head, error) {
	err := ErrEmpty
	for _, s := range slices.Backward(r.segments) {
		var i items
		defer i.close()
		var o opening
		if err = i.open(s); err == nil {
			err = i.next(&o)
		}
		if err == nil {
			return o.Head, nil
		}
	}
	if errors.Is(err, io.EOF) {
		err = ErrEmpty
	}
	return Head{}, err
}

// Span returns when the recording begins and ends, by the clock on the wall and in the time zone
// of whoever looks.
func (r *Recording) Span() (first, last time.Time) {
	if n := len(r.segments); n > 0 {
		first, last = r.segments[0].began, r.segments[n-1].last
	}
	return first, last
}

// Recording returns what the ring has now. It is empty if no ring is kept.
func (r *Recorder) Recording() *Recording {
	r.pack()
	r.packing.Lock()
	defer r.packing.Unlock()
	var all Recording
	for _, s := range r.ring {
		if b := slices.Clip(s.bytes); len(b) > 0 { // bytes that are there already never change
			of, _ := scan(bytes.NewReader(append(slices.Clip(fileHead), b...)), int64(len(fileHead)+len(b)))
			all.segments = append(all.segments, of...)
		}
	}
	return &all
}

// WriteTo writes the recording as the bytes of a file.
func (r *Recording) WriteTo(w io.Writer) (n int64, err error) {
	parts := []io.Reader{bytes.NewReader(fileHead)}
	for _, s := range r.segments {
		parts = append(parts, io.NewSectionReader(s.bytes, s.at, s.size))
		if !s.ended {
			parts = append(parts, bytes.NewReader(appendPart(nil, ends, s.last, lastBlock)))
		}
	}
	return io.Copy(w, io.MultiReader(parts...))
}
