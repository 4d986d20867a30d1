package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

// maxCodes bounds the memory that a runtime with made-up codes can take.
const maxCodes = 32

// A ledger has every call that is out and sums up those that returned. It also
// keeps a call from being made while its like is out. Safe for concurrent use.
type ledger struct {
	clock clock

	mu    sync.Mutex // guards what follows
	out   []*flight  // oldest first
	sums  []operationSum
	calls []Calls // made from sums; nil when stale, never changed once made
	meter meter
}

// A flight is a call that is out; done is closed when it has returned.
type flight struct {
	Flight
	done chan struct{}
}

// like says whether two calls would ask the runtime for the same thing. All
// lists of one kind are alike, of one pod or of all.
func (f Flight) like(g Flight) bool { return f.Op == g.Op && f.ID == g.ID }

// An operationSum is the source of one [Calls].
type operationSum struct {
	Calls
	took  durations
	codes map[string]uint64
	stale bool // Calls lacks the quantiles and codes
}

func newLedger(c clock) *ledger {
	l := &ledger{clock: c, meter: meter{began: time.Now()}}
	for _, op := range call.Operations() {
		l.sums = append(l.sums, operationSum{Calls: Calls{Op: op}})
	}
	return l
}

// enter notes that a call starts. It waits while the call's like is out, and
// returns the cause if ctx ends meanwhile.
func (l *ledger) enter(ctx context.Context, f Flight) (*flight, error) {
	for {
		entered, like := l.tryEnter(f)
		if like == nil {
			return entered, nil
		}
		select {
		case <-like.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// giveWay waits while the like of a call is out, but not longer than until that
// has been out for the given time, or ctx ends. It returns the call that is
// still in the way, and false if there is none.
func (l *ledger) giveWay(ctx context.Context, f Flight, limit time.Duration) (Flight, bool) {
	for {
		like := l.like(f)
		if like == nil {
			return Flight{}, false
		}
		timer := time.NewTimer(l.clock.wait(limit - like.Elapsed(l.clock.now())))
		select {
		case <-like.done:
			timer.Stop()
		case <-timer.C:
			return like.Flight, true
		case <-ctx.Done():
			timer.Stop()
			return like.Flight, true
		}
	}
}

// like returns the call that is in the way of f, nil if there is none.
func (l *ledger) like(f Flight) *flight {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.likeOf(f)
}

func (l *ledger) likeOf(f Flight) *flight {
	for _, other := range l.out {
		if other.like(f) {
			return other
		}
	}
	return nil
}

// tryEnter returns either the new call or the one that is in its way.
func (l *ledger) tryEnter(f Flight) (entered, like *flight) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if like = l.likeOf(f); like != nil {
		return nil, like
	}
	f.Since = l.clock.now()
	entered = &flight{Flight: f, done: make(chan struct{})}
	l.out = append(l.out, entered)
	l.sums[f.Op].InFlight++
	l.calls = nil
	return entered, nil
}

// leave notes that a call returned.
func (l *ledger) leave(f *flight, trace call.Trace, err error) {
	now := l.clock.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out = slices.DeleteFunc(l.out, func(other *flight) bool { return other == f })
	close(f.done)

	s := &l.sums[f.Op]
	s.InFlight--
	s.add(now, now.Sub(f.Since), err)
	s.RequestBytes += uint64(max(trace.RequestBytes, 0))
	s.ResponseBytes += uint64(max(trace.ResponseBytes, 0))
	s.LastResponseBytes = uint64(max(trace.ResponseBytes, 0))
	l.meter.add(time.Now(), uint64(max(trace.RequestBytes+trace.ResponseBytes, 0)))
	l.calls = nil
}

func (s *operationSum) add(now time.Time, took time.Duration, err error) {
	s.Count++
	s.Last = took
	s.took.add(took)
	s.stale = true
	if err == nil {
		s.LastOK = now
		return
	}
	if errors.Is(err, call.ErrNotFound) {
		s.Gone++
		s.LastOK = now
		return
	}
	s.Errors++
	s.LastErr, s.LastErrAt = err, now
	if s.codes == nil {
		s.codes = make(map[string]uint64)
	}
	code := call.Code(err)
	if _, known := s.codes[code]; !known && len(s.codes) >= maxCodes {
		code = "Other"
	}
	s.codes[code]++
}

// sum returns the operation's Calls with all its derived figures.
func (s *operationSum) sum() Calls {
	if !s.stale {
		return s.Calls
	}
	s.P50, s.P90, s.P99 = s.took.quantiles()
	s.Max = s.took.max
	if s.codes != nil {
		s.ByCode = byCode(s.codes)
	}
	s.stale = false
	return s.Calls
}

// byCode returns the most frequent code first; equals by name.
func byCode(codes map[string]uint64) []CodeCount {
	list := make([]CodeCount, 0, len(codes))
	for code, count := range codes {
		list = append(list, CodeCount{Code: code, Count: count})
	}
	slices.SortFunc(list, func(a, b CodeCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Code, b.Code))
	})
	return list
}

// read returns the calls that are out, oldest first, the sums by operation, and
// the present cost. The caller may keep all of them.
func (l *ledger) read() ([]Flight, []Calls, Cost) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.calls == nil {
		l.calls = make([]Calls, len(l.sums))
		for i := range l.sums {
			l.calls[i] = l.sums[i].sum()
		}
	}
	return l.flights(), l.calls, l.meter.cost(time.Now())
}

func (l *ledger) flights() []Flight {
	if len(l.out) == 0 {
		return nil
	}
	flights := make([]Flight, len(l.out))
	for i, f := range l.out {
		flights[i] = f.Flight
	}
	return flights
}

// answeredSince reports whether any call but Version, which a runtime answers
// whatever state it is in, was answered well after that.
func (l *ledger) answeredSince(at time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.sums, func(s operationSum) bool { return s.Op != call.Version && s.LastOK.After(at) })
}

// oldest returns the call that is out longest, and false if none is.
func (l *ledger) oldest() (Flight, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.out) == 0 {
		return Flight{}, false
	}
	return l.out[0].Flight, true
}

// oldestBy returns the call of that asker that is out longest, and false if
// none is.
func (l *ledger) oldestBy(by Asker) (Flight, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.out {
		if f.By == by {
			return f.Flight, true
		}
	}
	return Flight{}, false
}
