// Package osfile has locks, owners and links of files, and a new file that replaces none.
package osfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// ErrLocked says that another process has locked a file.
var ErrLocked = errors.New("another process has locked it")

// NoFollow is a flag of [os.OpenFile]: a link is not followed. Opening one fails.
const NoFollow = syscall.O_NOFOLLOW

// Lock keeps others from locking a file, until it is closed or this process has ended, however that
// was; everybody can still read and write it. The error matches [ErrLocked] where another has the
// lock; any other says that the file system has none. It never waits.
func Lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

// Owner returns the user whose file it is, and false where nobody knows.
func Owner(info fs.FileInfo) (uid int, known bool) {
	stat, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, false
	}
	return int(stat.Uid), true
}
