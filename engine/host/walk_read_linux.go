package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

const (
	// fileTimeout is how long one small file of /proc may take. On a busy node the
	// slow ones take some milliseconds: whoever takes longer sleeps in the kernel.
	fileTimeout = 250 * time.Millisecond

	// mostStuck bounds the reads of risky files that are left behind. With so
	// many out, no further one is begun.
	mostStuck = 2
)

var errRefused = errors.New("not read, since other reads do not come back")

// fetch returns what read returns, or an error once that takes too long. Files
// are read one after the other. A read that does not come back is left behind,
// and nothing of the kind is read of that process until it has.
func fetch[T any](l *walk, f procFile, read func() (T, error)) (value T, err error) {
	if err := l.ctx.Err(); err != nil {
		return value, err
	}
	if err := l.admit(f); err != nil {
		return value, err
	}
	type answer struct {
		value T
		err   error
	}
	a, err := start(&l.reads, f, func() (a answer) {
		defer func() { // package procfs counts on files that are whole
			if cause := recover(); cause != nil {
				a.err = fmt.Errorf("malformed: %v", cause)
			}
		}()
		a.value, a.err = read()
		return a
	}).wait(l.ctx, l.timeout)
	if err != nil {
		return value, err
	}
	return a.value, a.err
}

// admit says why a file must not be read now: at most mostStuck reads of risky
// files are left behind, and one more that should not have been.
func (w *walker) admit(f procFile) error {
	stuck := w.reads.keys()
	if slices.ContainsFunc(stuck, func(s procFile) bool { return s.pid == f.pid && s.risky == f.risky }) {
		return stuckError{}
	}
	if len(stuck) > mostStuck || (f.risky && len(stuck) == mostStuck) {
		return errRefused
	}
	return nil
}

// hanging returns the reads that were left behind and have not come back, by
// process.
func (w *walker) hanging() []procFile {
	return slices.SortedFunc(slices.Values(w.reads.keys()), func(a, b procFile) int { return a.pid - b.pid })
}

// text returns a file in a folder below /proc, for what package procfs does not
// know or takes long over.
func (l *walk) text(f procFile, folder, name string) (string, error) {
	return l.textAt(f, filepath.Join(l.root, "proc", folder, name))
}

func (l *walk) textAt(f procFile, path string) (string, error) {
	return fetch(l, f, func() (string, error) {
		data, err := os.ReadFile(path)
		return string(data), err
	})
}

// miss reports whether a read failed, and counts it unless the process is gone.
func (l *walk) miss(err error) bool {
	_, stuck := errors.AsType[stuckError](err)
	switch {
	case err == nil:
		return false
	case stuck, errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ESRCH), l.ctx.Err() != nil:
	case errors.Is(err, fs.ErrPermission):
		l.gaps.denied++
	default:
		l.gaps.unread++
	}
	return true
}
