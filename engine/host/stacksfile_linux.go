package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// freshDump is how old a file with a dump may be: it is of another moment than the hang,
// and by then of another hang.
const freshDump = 5 * time.Minute

var errNoStacksFile = errors.New("there is no fresh file with a dump of goroutines")

// A stacksFile is a file that the runtime has written its goroutines to, as it does when
// somebody sends it a signal.
type stacksFile struct {
	*os.File
	name string // on the host
	at   time.Time
}

// openStacksFile opens the youngest file that the runtime's process has written, if it is
// fresh: one of containerd's bears the number of its process, one of CRI-O's the time.
// (containerd 1.6 to 2.4: on SIGUSR1; CRI-O 1.25 to 1.37: likewise.)
func openStacksFile(root string, of server, now time.Time) (*stacksFile, error) {
	if of.process.pid == 0 {
		return nil, errNoStacksFile
	}
	dir := of.setting(of.temp)
	names := []string{filepath.Join(dir, fmt.Sprintf("containerd.%d.stacks.log", of.process.pid))}
	if of.comm == "crio" {
		names = matching(root, filepath.Join(dir, "crio-goroutine-stacks-*.log"))
	}
	var owner unix.Stat_t
	if err := unix.Stat(filepath.Join("/", root, "proc", strconv.Itoa(of.process.pid)), &owner); err != nil {
		return nil, errNoStacksFile
	}
	oldest := now.Add(-freshDump)
	if began := of.process.since(root, now); began.After(oldest) {
		oldest = began
	}
	var best *stacksFile
	for _, name := range names {
		file, err := openOwn(root, name, owner.Uid)
		switch {
		case err != nil:
		case file.at.Before(oldest), file.at.After(now.Add(time.Second)), best != nil && file.at.Before(best.at):
			_ = file.Close() // nothing was read
		default:
			if best != nil {
				_ = best.Close() // nor of this
			}
			best, oldest = file, file.at
		}
	}
	if best == nil {
		return nil, errNoStacksFile
	}
	return best, nil
}

// openOwn opens a regular file on the host that belongs to the user: anybody may put one
// of that name into a folder for all.
func openOwn(root, name string, user uint32) (*stacksFile, error) {
	fd, is, err := openNamed(root, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	if is.Mode&unix.S_IFMT != unix.S_IFREG || is.Uid != user {
		return nil, errNoStacksFile
	}
	file, err := os.OpenFile(ownFile(fd), os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return &stacksFile{file, name, time.Unix(is.Mtim.Unix())}, nil
}
