//go:build linux

package sim

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// The many small files of the nodes lie in memory where there is room for them: what is
// tested is not the disk.
func TestMain(m *testing.M) {
	const shm, room = "/dev/shm", 1 << 30
	var fs unix.Statfs_t
	if unix.Statfs(shm, &fs) == nil && unix.Access(shm, unix.W_OK) == nil && fs.Bavail*uint64(fs.Bsize) > room {
		_ = os.Setenv("TMPDIR", shm)
	}
	m.Run()
}
