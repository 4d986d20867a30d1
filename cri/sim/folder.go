package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	folderPattern = "plegtop-demo-*"
	// folderYoung is how old a folder must be to be taken for left behind: one that
	// is being made has no lock yet.
	folderYoung = time.Minute
)

// newFolder makes a folder below base for one server, which is locked until lock is
// closed or the process has ended, however that was. It removes the folders of those
// that were killed.
func newFolder(base string) (dir string, lock *os.File, err error) {
	if base == "" {
		base = tempDir()
	}
	removeLeft(base)
	if dir, err = os.MkdirTemp(base, folderPattern); err != nil {
		return "", nil, fmt.Errorf("make a folder for the demo's socket: %w", err)
	}
	if lock, err = lockFolder(dir); err != nil {
		_ = os.RemoveAll(dir)
		return "", nil, fmt.Errorf("lock the demo's folder: %w", err)
	}
	return dir, lock, nil
}

// inMemory is a file system that holds nothing on a disk.
const inMemory = "/dev/shm"

// tempDir returns inMemory where there is one, unless a person wants another folder: a node
// is a thousand small files, and to make or to remove them on a busy disk takes up to a second.
func tempDir() string {
	const write = 2
	if os.Getenv("TMPDIR") == "" && syscall.Access(inMemory, write) == nil {
		return inMemory
	}
	return os.TempDir()
}

// removeLeft removes the folders of this user that nobody holds. What cannot be
// looked at or removed stays.
func removeLeft(base string) {
	all, _ := filepath.Glob(filepath.Join(base, folderPattern))
	for _, dir := range all {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < folderYoung {
			continue
		}
		if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Getuid() {
			continue
		}
		if lock, err := lockFolder(dir); err == nil {
			_ = os.RemoveAll(dir)
			_ = lock.Close()
		}
	}
}

// lockFolder locks a folder, unless another process has.
func lockFolder(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
