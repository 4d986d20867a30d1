package cgroup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/host/proc"
	"github.com/plegtop/plegtop/engine/pleg"
)

// helperTime is within how long of being found a process that has ended may have been
// one that only made the container: a busy node takes seconds for that.
const helperTime = 5 * time.Second

// A pidfdWatch waits for the end of each container's first process. It belongs to the
// goroutine of its groupWatch.
type pidfdWatch struct {
	proc    string // the folder
	ends    *processEnds
	most    int // processes that are waited for
	deliver func(pleg.Upstream)
	all     map[string]*waitedFor // by the container
	keys    map[uint64]*waitedFor // by what is in the events of ends
	lastKey uint64
}

// A waitedFor is one container.
type waitedFor struct {
	id     string
	groups []*groupDir // that are there
	first  *proc.Held  // nil while none is known
	key    uint64
	since  time.Time // of first
	ended  bool
}

// Pidfds hands the end of the first process of each container and sandbox to deliver when
// the kernel tells it, which is the moment of death, without asking the runtime. The
// processes are found in the containers' control groups, as [Sources.Cgroups] finds these.
// The kernel says no time.
//
// It ends as Cgroups does, and refuses what it refuses; further where the kernel or its
// permissions have no pidfd_open, plegtop is in another process namespace than the node,
// the node is a picture, or there are more containers than half of the files that
// plegtop may have open. What was said of deliver and of calls there holds here.
func (s *Sources) Pidfds(ctx context.Context, deliver func(pleg.Upstream)) error {
	trees, err := hierarchies(s.root)
	if err != nil {
		return err
	}
	if err := s.checkPidfds(); err != nil {
		return err
	}
	ends, err := newProcessEnds()
	if err != nil {
		return err
	}
	p := &pidfdWatch{
		proc: filepath.Join("/", s.root, "proc"), ends: ends, most: mostPidfds(), deliver: deliver,
		all: map[string]*waitedFor{}, keys: map[uint64]*waitedFor{},
	}
	defer func() {
		for _, c := range p.keys {
			c.first.Close()
		}
	}()
	e := &groupEar{changed: p.changed, wantsV1: "cgroup.procs"}
	ends.ended = func(keys []uint64) { e.fail(p.take(keys)) }
	return s.hear(ctx, trees, e, ends)
}

// changed looks for the first process of a container that has none yet.
func (p *pidfdWatch) changed(g *groupDir) error {
	c := p.all[g.id]
	if c == nil {
		c = &waitedFor{id: g.id}
		p.all[g.id] = c
	}
	c.groups = withGroup(c.groups, g)
	p.forget(c)
	if c.ended || c.first != nil || !g.isAlive {
		return nil
	}
	first, err := c.hold(p.proc)
	if err != nil || first == nil {
		return err
	}
	return p.waitFor(c, first)
}

// hold holds the process that the container stands or falls with; nil if there is none now.
func (c *waitedFor) hold(folder string) (*proc.Held, error) {
	var dirs []string
	for _, g := range c.groups {
		dirs = append(dirs, g.path)
	}
	first, err := proc.HoldFirst(folder, dirs)
	return first, pidfdError(err)
}

// forget forgets a container of which nothing is there any more.
func (p *pidfdWatch) forget(c *waitedFor) {
	if len(c.groups) == 0 && c.first == nil {
		delete(p.all, c.id)
	}
}

func (p *pidfdWatch) waitFor(c *waitedFor, first *proc.Held) error {
	if len(p.keys) >= p.most {
		first.Close()
		return tooManyPidfds(p.most)
	}
	p.lastKey++
	if err := p.ends.add(first.FD, p.lastKey); err != nil {
		first.Close()
		return fmt.Errorf("wait for process %d: %w", first.PID, err)
	}
	c.first, c.key, c.since = first, p.lastKey, time.Now()
	p.keys[c.key] = c
	return nil
}

// take takes in that processes have ended.
func (p *pidfdWatch) take(keys []uint64) error {
	for _, key := range keys {
		c := p.keys[key]
		if c == nil {
			continue
		}
		was := c.first
		delete(p.keys, key)
		c.first = nil
		was.Close()
		next, err := p.next(c, was)
		if err != nil {
			return err
		}
		if next != nil {
			if err := p.waitFor(c, next); err != nil {
				return err
			}
			continue
		}
		c.ended = true
		p.deliver(pleg.Upstream{Signal: pleg.SignalStopped, ID: c.id, Ran: time.Since(c.since)})
		p.forget(c)
	}
	return nil
}

// next returns the process that a container stands or falls with after one that has ended
// and may only have made it; nil if the container has ended. Runtimes begin with up to
// two processes in the container's group that end before its own one runs.
func (p *pidfdWatch) next(c *waitedFor, was *proc.Held) (*proc.Held, error) {
	if was.IsInit {
		return nil, nil
	}
	next, err := c.hold(p.proc)
	if err != nil || next == nil {
		return nil, err
	}
	if next.IsInit || was.MakesContainers(p.proc) || time.Since(c.since) < helperTime {
		return next, nil
	}
	next.Close() // it has outlived the first one
	return nil, nil
}

// mostPidfds returns how many processes may be waited for: half of the files that may be
// open.
func mostPidfds() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 512
	}
	return int(min(limit.Cur/2, mostWatches))
}

func tooManyPidfds(most int) error {
	return refusal(fmt.Sprintf("there are more than %d containers, each of which takes one of plegtop's open files: raise ulimit -n to twice as many", most))
}

// checkPidfds says why processes of the node cannot be waited for, if they cannot.
func (s *Sources) checkPidfds() error {
	if s.picture {
		return refusal("the processes of this node are only drawn: there is none whose end could be waited for")
	}
	text, err := os.ReadFile(filepath.Join("/", s.root, "proc/self/status"))
	if err != nil {
		return refusal("plegtop is not among the processes in " + filepath.Join("/", s.root, "proc") + ": its pod needs hostPID: true")
	}
	// as many numbers as there are namespaces from that of this /proc down to our own
	if pids := proc.StatusField(string(text), "NSpid"); len(pids) != 1 || pids[0] != strconv.Itoa(os.Getpid()) {
		return refusal("plegtop is in another process namespace than the node: its pod needs hostPID: true")
	}
	fd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return pidfdError(fmt.Errorf("pidfd_open: %w", err))
	}
	return unix.Close(fd)
}

// pidfdError says what to do where no process can be held.
func pidfdError(err error) error {
	switch {
	case errors.Is(err, proc.ErrForeign):
		return refusal("plegtop is in another process namespace than the node's containers: its pod needs hostPID: true")
	case errors.Is(err, unix.ENOSYS):
		return refusal("the kernel has no pidfd_open, which came with Linux 5.3")
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return refusal("plegtop is not allowed to call pidfd_open: a filter of system calls (seccomp) may have to be lifted")
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		return refusal("no more files may be open, of which each container takes one: raise ulimit -n")
	}
	return err
}
