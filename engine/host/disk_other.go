//go:build !linux

package host

import (
	"io/fs"

	"github.com/plegtop/plegtop/engine/evidence"
)

// statDisk is for Linux alone.
func statDisk(_, path string) (evidence.Disk, error) {
	return evidence.Disk{}, &fs.PathError{Op: "statfs", Path: path, Err: errNotLinux}
}
