//go:build linux

package e2e

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What the kernel asks the program that serves a FUSE file system for, by the header linux/fuse.h.
const (
	fuseLookup  = 1
	fuseGetattr = 3
	fuseInit    = 26
)

// fuseConnections is where fusectl has them.
const fuseConnections = "/sys/fs/fuse/connections"

type (
	fuseRequest struct {
		Length, Opcode uint32
		Unique, Node   uint64
		_              [16]byte // who asks
	}
	fuseReply struct {
		Length uint32
		Error  int32
		Unique uint64
	}
	fuseInitReply struct {
		Major, Minor uint32
		_            [56]byte
	}
	fuseAttrReply struct {
		_     [16]byte // for how long it holds: it is asked for again each time
		Inode uint64
		_     [52]byte // size and times
		Mode  uint32
		Links uint32
		_     [20]byte
	}
)

// volumeThatHangs mounts a file system whose program knows of an empty folder, and answers nothing
// any more once a name in it is looked up, which closes hangs.
func volumeThatHangs(t *testing.T, folder string) (hangs <-chan struct{}) {
	t.Helper()
	device, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skip("this machine has no FUSE: ", err)
	}
	must(t, os.MkdirAll(folder, 0o755))
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", device)
	must(t, unix.Mount("server:/export", folder, "fuse.e2e", 0, options))
	silent := make(chan struct{})
	go func() {
		defer close(silent)
		serveUntilLookup(device)
	}()
	t.Cleanup(func() {
		_ = unix.Unmount(folder, unix.MNT_FORCE|unix.MNT_DETACH) // what waits goes on; what was typed may have done it
		<-silent
		must(t, unix.Close(device))
	})
	return silent
}

// serveUntilLookup returns at the first name that is looked up, or when nobody can ask any more.
func serveUntilLookup(device int) {
	buffer := make([]byte, 1<<17)
	for {
		n, err := unix.Read(device, buffer)
		if err == unix.EINTR {
			continue
		}
		var ask fuseRequest
		if err != nil || binary.Read(bytes.NewReader(buffer[:n]), binary.NativeEndian, &ask) != nil {
			return
		}
		var body any
		reply := fuseReply{Unique: ask.Unique}
		switch ask.Opcode {
		case fuseLookup:
			return
		case fuseInit:
			body = fuseInitReply{Major: 7, Minor: 31}
		case fuseGetattr:
			body = fuseAttrReply{Inode: ask.Node, Mode: unix.S_IFDIR | 0o755, Links: 2}
		default:
			reply.Error, body = -int32(unix.ENOSYS), struct{}{}
		}
		reply.Length = uint32(binary.Size(reply) + binary.Size(body))
		var answer bytes.Buffer
		_ = binary.Write(&answer, binary.NativeEndian, reply) // a buffer takes all
		_ = binary.Write(&answer, binary.NativeEndian, body)
		_, _ = unix.Write(device, answer.Bytes()) // a question that nobody waits for any more is refused
	}
}

// readsVolume has a container read in a volume that hangs, and be stopped: not even SIGKILL ends it.
func (p *private) readsVolume() {
	volume := filepath.Join(p.folder, "volume")
	hangs := volumeThatHangs(p.t, volume)
	pod := p.runPod("sick", true)
	id := p.create(pod, Container{Name: "main", Args: []string{"read"}, Volume: volume})
	must(p.t, p.Start(p.t.Context(), id))
	eventually(p.t, "the container reads in its volume", func() bool {
		select {
		case <-hangs:
			return true
		default:
			return false
		}
	})
	ctx, cancel := context.WithCancel(context.WithoutCancel(p.t.Context()))
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		_ = p.Stop(ctx, id, time.Second) // it may not end before the test does
	}()
	p.t.Cleanup(func() {
		cancel()
		<-stopped
	})
}

// fusectl mounts the folder where a FUSE connection can be ended until the test ends, as systemd does.
func (p *private) fusectl() {
	if err := unix.Mount("fusectl", fuseConnections, "fusectl", 0, ""); err != unix.EBUSY { // it is there already
		must(p.t, err)
		p.t.Cleanup(func() { must(p.t, unix.Unmount(fuseConnections, 0)) })
	}
}

// noFusectl skips where the node has that folder.
func (p *private) noFusectl() {
	mounts, err := os.ReadFile("/proc/self/mounts")
	must(p.t, err)
	if bytes.Contains(mounts, []byte(" "+fuseConnections+" ")) {
		p.t.Skip("this machine has fusectl mounted")
	}
}
