package host

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/reads"
)

const (
	// slowTime is how long a read may take that a look does not wait for to its end, and
	// slowWait how long it does: most answer by then.
	slowTime = 5 * time.Second
	slowWait = 200 * time.Millisecond

	// hangOver is after how long without a deep look, of which there is one every 5 s while
	// something hangs, what an earlier one found is of another hang.
	hangOver = 15 * time.Second
)

// A slow is what is read while something hangs, and may take longer than a look: what is
// not there after a moment is in the next one. The zero value is ready. It must not be
// used from two goroutines at once.
type slow[T any] struct {
	reads reads.Set[string]
	out   *reads.Read[T] // nil if none is
	asked time.Time      // the last look
	next  time.Time      // before which none is begun
	kept  T
	has   bool // something is kept, of this hang
}

// look begins a look. It forgets what is of another hang, and reports whether it did.
func (s *slow[T]) look(now time.Time) (anew bool) {
	if anew = now.Sub(s.asked) > hangOver; anew {
		var none T
		s.out, s.kept, s.has = nil, none, false
	}
	s.asked = now
	return anew
}

// due reports whether it is time for another read.
func (s *slow[T]) due(now time.Time) bool { return s.out == nil && !now.Before(s.next) }

// get returns what was read last in this hang. It waits a moment for the read that is
// out. If there is nothing, missing says why, and pending whether there will be.
func (s *slow[T]) get(ctx context.Context) (kept T, missing string, pending bool) {
	if s.out == nil {
		return s.kept, "", false
	}
	got, err := s.out.Wait(ctx, slowWait)
	stuck, isOut := errors.AsType[reads.StuckError](err)
	if isOut = isOut || errors.Is(err, reads.ErrBrokenOff); !isOut {
		s.out = nil
	}
	switch {
	case err == nil:
		s.kept, s.has = got, true
	case s.has:
	case !isOut, stuck.Out > slowTime+grace:
		return s.kept, err.Error(), false
	default:
		return s.kept, "still being read", true
	}
	return s.kept, "", false
}

// runtimeWords is the part that tells what CRI does not tell of the runtime: what its
// goroutines do, and then which calls it has not ended. Asked for its metrics it asks all
// its shims, which a dump would show as if they hung.
func runtimeWords(c Config) (part, error) {
	if named := c.Runtime.DebugSocket; named != "" && !filepath.IsAbs(strings.TrimPrefix(named, "unix://")) {
		return part{}, fmt.Errorf("--debug-socket %s: want its whole path, such as /run/containerd/debug.sock", named)
	}
	dumper := newDumper(c)
	caller, err := newCaller(c)
	if err != nil {
		return part{}, err
	}
	return part{
		name: "runtime's words",
		read: func(ctx context.Context) fill {
			var s evidence.Stacks
			var calls evidence.RuntimeCalls
			if s.Missing = "--no-dump forbids it"; !c.Runtime.NoDump {
				s = dumper.look(ctx, time.Now())
			}
			if calls.Missing, calls.Pending = "asked for after the dump", true; !s.Pending {
				calls = caller.look(ctx, time.Now())
			}
			return func(r *evidence.Report) { r.Deep.Stacks, r.Deep.Calls = s, calls }
		},
		missing: func(r *evidence.Report, err error) {
			r.Deep.Stacks.Missing, r.Deep.Calls.Missing = err.Error(), err.Error()
		},
	}, nil
}
