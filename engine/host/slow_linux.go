package host

import (
	"context"
	"errors"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/host/reads"
)

const (
	// slowTime is how long a read may take that outlasts a look, and slowWait how long a look waits for
	// it: most answer by then.
	slowTime = 5 * time.Second
	slowWait = 200 * time.Millisecond

	// hangOver is the time without a deep look after which the next one is of another hang: while something
	// hangs there is one every 5 s.
	hangOver = 15 * time.Second
)

// A slow is a read that may outlast a look: what is not there in a moment is in the next look. The zero
// value is ready. It must not be used by two goroutines at once.
type slow[T any] struct {
	reads reads.Set[string]
	out   *reads.Read[T] // nil if none is
	asked time.Time      // the last look
	next  time.Time      // before which no read begins
	kept  *T             // the last result of this hang; nil for none
}

// look begins a look. It forgets what belongs to another hang, and reports whether this is a new one.
func (s *slow[T]) look(now time.Time) (isNew bool) {
	if isNew = now.Sub(s.asked) > hangOver; isNew {
		s.out, s.kept = nil, nil
	}
	s.asked = now
	return isNew
}

// isDue reports whether it is time for another read.
func (s *slow[T]) isDue(now time.Time) bool { return s.out == nil && !now.Before(s.next) }

// get returns the last result of this hang, and waits a moment for the read that is out. If there is no
// result, missing says why not, unless no read has begun.
func (s *slow[T]) get(ctx context.Context) (kept T, missing evidence.Source) {
	if s.out != nil {
		got, err := s.out.Wait(ctx, slowWait)
		stuck, isOut := errors.AsType[reads.StuckError](err)
		if isOut = isOut || errors.Is(err, reads.ErrBrokenOff); !isOut {
			s.out = nil
		}
		switch {
		case err == nil:
			s.kept = &got
		case !isOut, stuck.Out > slowTime+grace:
			missing.Missing = err.Error()
		default:
			missing.Missing, missing.Pending = "still being read", true
		}
	}
	if s.kept != nil {
		return *s.kept, evidence.Source{}
	}
	return kept, missing
}
