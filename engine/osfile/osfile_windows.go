package osfile

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// NoFollow is a flag of [os.OpenFile]: a link is not followed. What is opened is the link itself,
// which is no regular file.
const NoFollow = windows.FILE_FLAG_OPEN_REPARSE_POINT

// Lock keeps others from locking a file, until it is closed or this process has ended, however that
// was; everybody can still read and write it. The error matches [ErrLocked] where another has the
// lock; any other says that the file system has none. It never waits.
func Lock(f *os.File) error {
	// Windows keeps others from the bytes that are locked, so it is one that no file has.
	byteBehindAll := &windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, byteBehindAll)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}

// Owner knows nobody: a user's folders are below a folder of the user's own.
func Owner(fs.FileInfo) (uid int, known bool) { return 0, false }
