package cgroup

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/host/reads"
)

// A processEnds waits for the ends of many processes in one goroutine. It is an epoll that
// Go's own waits for, so that no thread sleeps in it and to close it ends the wait.
type processEnds struct {
	file  *os.File
	fd    int
	ended func(keys []uint64) // called when processes have ended
}

func newProcessEnds() (*processEnds, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		return nil, fmt.Errorf("wait for processes: %w", err)
	}
	return &processEnds{file: os.NewFile(uintptr(fd), "epoll"), fd: fd}, nil
}

// add waits for one more process. Its key is handed over once, when it has ended; to
// close its pidfd ends the wait for it.
func (e *processEnds) add(pidfd int, key uint64) error {
	event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLONESHOT, Fd: int32(key), Pad: int32(key >> 32)}
	return unix.EpollCtl(e.fd, unix.EPOLL_CTL_ADD, pidfd, &event)
}

// watch begins to wait, and has who takes the tasks call e.ended. Stop ends that, and e:
// when it returns no more tasks come. Without e there is nothing to wait for.
func (e *processEnds) watch(tasks chan<- func() error) (waiting *reads.Task, stop func()) {
	if e == nil {
		return nil, func() {}
	}
	closing := make(chan struct{})
	waiting = reads.Go(func() error {
		for {
			keys, err := e.wait()
			if err != nil {
				return err
			}
			select {
			case tasks <- func() error { e.ended(keys); return nil }:
			case <-closing:
				return nil
			}
		}
	})
	return waiting, func() {
		close(closing)
		_ = e.file.Close()
		<-waiting.Done()
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
