package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/plegtop/plegtop/engine/guard"
	"github.com/plegtop/plegtop/engine/osfile"
)

const (
	// syncFor is how much a crash of the whole machine may take.
	syncFor = 5 * time.Second
	// mostQueued is what waits for a slow disk, at most: one that takes more time has ended.
	mostQueued = 32 << 20
)

// errSlow says that a disk has taken nothing for long.
var errSlow = fmt.Errorf("the disk is too slow: %d MiB wait to be written", mostQueued>>20)

// A file is what a recorder writes to. A goroutine of its own writes, since a disk may hang. All
// methods may be called of nil, which takes nothing.
type file struct {
	path string
	most int64 // bytes of it and of the one before, together; 0 for no limit

	mu     sync.Mutex // guards what follows
	queue  []part
	queued int           // bytes that are not written yet
	length int64         // of the file, with what waits
	added  int64         // by us, also to those before
	wake   chan struct{} // holds one token while there is something to write
	closed bool
	err    error

	out   output        // the writer's alone, as is what follows
	done  chan struct{} // closed when the writer has ended
	dirty time.Time     // since when something is not synced; zero if all is
}

// An output is an [os.File].
type output interface {
	io.WriteCloser
	Sync() error
}

// A part is what is written at once.
type part struct {
	bytes []byte
	anew  bool // it is the first of a new file
}

// create opens a file for a recording: a new one, or one that is a recording already, which is
// continued. Others cannot read it, since it says what ran where, and no link is followed.
func create(path string, most int64) (*file, error) {
	out, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|osfile.NoFollow|syscall.O_NONBLOCK, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("record to %s: it is a link: name the file itself", path)
	}
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	size, err := resume(out)
	if err == nil && most > 0 {
		err = replaceable(path + before1)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("record to %s: %w", path, err), out.Close())
	}
	return begun(path, most, out, size), nil
}

// begun returns a file of that size whose writer runs.
func begun(path string, most int64, out output, size int64) *file {
	f := &file{path: path, most: most, out: out, length: size, wake: make(chan struct{}, 1), done: make(chan struct{})}
	guard.Go(f.run)
	return f
}

// before1 is what the name of the file before has more.
const before1 = ".1"

// resume goes to where a recording is to be continued: behind its last whole block, after which
// the frame is ended. Nobody else can do that meanwhile.
func resume(out *os.File) (size int64, err error) {
	info, err := out.Stat()
	switch {
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, errors.New("it is no regular file: name another one")
	}
	if err := lock(out); err != nil {
		return 0, err
	}
	if info.Size() == 0 {
		return 0, ownersAlone(out, info)
	}
	all, whole, err := scan(out, info.Size())
	switch {
	case errors.Is(err, ErrNewer), len(all) == 0 && !errors.Is(err, ErrCut):
		return 0, fmt.Errorf("%w: name another file, or remove it", err)
	case errors.Is(err, errDamaged) && !isCut(out, whole, info.Size()):
		return 0, fmt.Errorf("it is damaged at byte %d, and %d bytes after that would be lost: name another file", whole, info.Size()-whole)
	}
	if err := ownersAlone(out, info); err != nil {
		return 0, err
	}
	if err := out.Truncate(whole); err != nil {
		return 0, err
	}
	if _, err := out.Seek(whole, io.SeekStart); err != nil {
		return 0, err
	}
	if len(all) > 0 && all[len(all)-1].cut {
		n, err := out.Write(lastBlock)
		return whole + int64(n), err
	}
	return whole, nil
}

// ownersAlone has nobody but the owner read a file: somebody else may have made it, or copied it.
func ownersAlone(out *os.File, info os.FileInfo) error {
	if info.Mode().Perm() == 0o600 {
		return nil
	}
	if err := out.Chmod(0o600); err != nil {
		return fmt.Errorf("its mode is %#o and cannot be set to 0600, so that others could read it: %w: run chmod 600 on it as its owner, or name another file", info.Mode().Perm(), err)
	}
	return nil
}

// mostCut is what a crash leaves behind the last whole block: part of a head, or of another one.
const mostCut = mostHead + 1<<18

// replaceable returns an error if there is a file of a name that is no recording.
func replaceable(path string) error {
	r, err := Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: it would be replaced by what was recorded before: name another file, or remove it", err)
	}
	return r.Close()
}

// lock keeps others from continuing a file, as long as it is open.
func lock(out *os.File) error {
	if errors.Is(osfile.Lock(out), osfile.ErrLocked) {
		return errors.New("another plegtop records to it: name another file")
	}
	return nil // a file system may have no locks
}

// write hands bytes to the writer. Those that begin a segment may begin a file.
func (f *file) write(b []byte, begins bool) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.err != nil || f.closed:
	case f.queued+len(b) > mostQueued:
		f.err = fmt.Errorf("record to %s: %w", f.path, errSlow)
	default:
		anew := begins && f.isFull()
		if anew {
			f.length = 0
		}
		f.queue, f.queued = append(f.queue, part{append([]byte(nil), b...), anew}), f.queued+len(b)
		f.length, f.added = f.length+int64(len(b)), f.added+int64(len(b))
	}
	f.rouse()
}

// full reports whether the next segment is to begin a new file.
func (f *file) full() bool {
	if f == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.isFull()
}

func (f *file) isFull() bool { return f.most > 0 && f.length >= f.most/2 }

// state returns the name of the file, and how many bytes it, and those before, got from us.
func (f *file) state() (path string, added int64) {
	if f == nil {
		return "", 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.path, f.added
}

func (f *file) rouse() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// fault returns why nothing more is written; nil if it is.
func (f *file) fault() error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// close writes what waits, and returns when that is on the disk, or when ctx ends.
func (f *file) close(ctx context.Context) error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.rouse()
	select {
	case <-f.done:
		return f.fault()
	case <-ctx.Done():
		return errors.Join(f.fault(), fmt.Errorf("record to %s: the disk does not answer", f.path))
	}
}

// run is the writer.
func (f *file) run() {
	defer close(f.done)
	timer := time.NewTimer(syncFor)
	defer timer.Stop()
	for {
		select {
		case <-f.wake:
		case <-timer.C:
		}
		timer.Reset(syncFor)
		parts, closed := f.take()
		err := f.put(parts)
		f.written(parts)
		if closed {
			err = errors.Join(err, f.out.Sync(), f.out.Close())
		} else if err == nil && !f.dirty.IsZero() && time.Since(f.dirty) >= syncFor {
			f.dirty = time.Time{}
			err = f.out.Sync()
		}
		if err != nil {
			f.fail(err)
		}
		if closed {
			return
		}
	}
}

func (f *file) take() (parts []part, closed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	parts, f.queue = f.queue, nil
	return parts, f.closed
}

func (f *file) written(parts []part) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range parts {
		f.queued -= len(p.bytes)
	}
}

func (f *file) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p, is := errors.AsType[*fs.PathError](err); is {
		err = p.Err // the path is said already
	}
	if f.err == nil {
		f.err = fmt.Errorf("record to %s: %w", f.path, err)
	}
}

// over reports whether nothing more is written, for a reason that fault has.
func (f *file) over() bool { return f.fault() != nil }

func (f *file) put(parts []part) error {
	if f.over() {
		return nil
	}
	for _, p := range parts {
		if p.anew {
			if err := f.rotate(); err != nil {
				return err
			}
		}
		if _, err := f.out.Write(p.bytes); err != nil {
			return err
		}
		if f.dirty.IsZero() {
			f.dirty = time.Now()
		}
	}
	return nil
}

// rotate keeps what was written under another name, in place of what that had, and begins anew.
func (f *file) rotate() error {
	if err := errors.Join(f.out.Sync(), f.out.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.path, f.path+before1); err != nil {
		return err
	}
	out, err := os.OpenFile(f.path, os.O_RDWR|os.O_CREATE|os.O_EXCL|osfile.NoFollow, 0o600)
	if err != nil {
		return err
	}
	f.out = out
	return lock(out)
}
