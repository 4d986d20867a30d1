package host

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// A processEnds waits for the ends of many processes in one goroutine. It is an epoll that
// Go's own waits for, so that no thread sleeps in it and to close it ends the wait.
type processEnds struct {
	file *os.File
	fd   int
}

func newProcessEnds() (*processEnds, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		return nil, fmt.Errorf("wait for processes: %w", err)
	}
	return &processEnds{os.NewFile(uintptr(fd), "epoll"), fd}, nil
}

// add waits for one more process. Its key is handed over once, when it has ended; to
// close its pidfd ends the wait for it.
func (e *processEnds) add(pidfd int, key uint64) error {
	event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLONESHOT, Fd: int32(key), Pad: int32(key >> 32)}
	return unix.EpollCtl(e.fd, unix.EPOLL_CTL_ADD, pidfd, &event)
}

// watch begins to send what do makes of the keys of processes that have ended. Stop ends
// that, and e, and waits for it.
func (e *processEnds) watch(do func(keys []uint64) func() error, to chan<- func() error) (stop func()) {
	closing, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			keys, err := e.wait()
			if err != nil {
				return
			}
			select {
			case to <- do(keys):
			case <-closing:
				return
			}
		}
	}()
	return func() {
		close(closing)
		_ = e.file.Close()
		<-ended
	}
}

// wait waits for the next ones. It fails when e has been closed.
func (e *processEnds) wait() (keys []uint64, err error) {
	conn, err := e.file.SyscallConn()
	if err != nil {
		return nil, err
	}
	var events [64]unix.EpollEvent
	err = conn.Read(func(fd uintptr) (done bool) {
		n, _ := unix.EpollWait(int(fd), events[:], 0) // it fails when a signal comes, and is called again
		for _, event := range events[:max(n, 0)] {
			keys = append(keys, uint64(uint32(event.Fd))|uint64(uint32(event.Pad))<<32)
		}
		return len(keys) > 0
	})
	return keys, err
}
