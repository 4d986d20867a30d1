package record

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"
)

// ErrOff says that there is nothing in memory that could be saved.
var ErrOff = errors.New("nothing is kept in memory (--ring 0)")

const (
	// around is how much before and after something critical a file gets, where it gets only that.
	around = 5 * time.Minute
	// mostBefore is what it gets of the time before at most: all of it waits for the disk at once.
	mostBefore = mostQueued / 2
)

// WriteTo has all that comes from now on written to a file, whose size with the file before it,
// named path.1, is at most so many bytes, and a block; 0 for no limit. A file that is a recording
// already is continued. It fails where the file cannot be written, is something else, is a link, or
// has names where [Options].Scrub has none. With [Options].Critical the file waits for [Recorder.Critical].
func (r *Recorder) WriteTo(path string, most int64) error {
	f, err := create(path, most, r.options.Scrub)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.file, r.writing, r.roll = f, !r.options.Critical, true
	return nil
}

// Critical says whether something is critical, as of a snapshot made then. With
// [Options].Critical the file gets what there is in memory of the 5 minutes before that begins,
// and what comes until 5 minutes after it has ended. May be called from any goroutine.
func (r *Recorder) Critical(at time.Time, is bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.options.Critical || r.file == nil || r.err != nil {
		return
	}
	switch {
	case is:
		r.critical = at
		if !r.writing {
			r.catchUp(at)
		}
	case r.writing && at.Sub(r.critical) >= around:
		r.fail(r.end())
		r.writing, r.roll = false, true
	}
}

// catchUp writes the last minutes to the file, which gets what follows as well.
func (r *Recorder) catchUp(at time.Time) {
	r.writing = true
	size, first := int64(0), len(r.ring)
	for r.options.Ring > 0 && first > 0 && !r.ring[first-1].filed {
		s := r.ring[first-1]
		if size += s.length(); size > mostBefore || first < len(r.ring) && at.Sub(r.ring[first].began) >= around {
			break
		}
		first--
	}
	for _, s := range r.ring[first:] {
		r.write(s, s.head, true)
		r.write(s, s.data, false)
	}
	r.roll = r.roll || first == len(r.ring) // what the file has not from its beginning cannot be played
}

// write writes bytes of a segment to the file, if it goes there.
func (r *Recorder) write(s *segment, b []byte, begins bool) {
	if r.writing && (begins || s.filed) {
		s.filed = true
		r.file.write(b, begins)
	}
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
