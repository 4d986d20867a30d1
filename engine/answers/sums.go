package answers

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/quantile"
)

const (
	secondsKept = 120
	slowestKept = 10
	maxCodes    = 32 // it limits the memory if a runtime invents codes
)

// Calls says how the calls of one operation went.
type Calls struct {
	Op                call.Operation     `line:"operation"`
	Count             uint64             `line:"count"`  // returned so far, failed or not
	Errors            uint64             `line:"errors"` // calls that failed, except those in Gone
	Gone              uint64             `line:"gone"`   // calls for an object that had gone in the meantime: an answer, not an error
	ByCode            []CodeCount        `line:"-"`      // errors by gRPC code, most frequent first
	P50               time.Duration      `line:"p50Seconds"`
	P90               time.Duration      `line:"-"`
	P99               time.Duration      `line:"p99Seconds"`
	Max               time.Duration      `line:"maxSeconds"`
	Last              time.Duration      `line:"-"` // how long the last call that returned took, failed or not
	InFlight          int                `line:"inFlight"`
	RequestBytes      uint64             `line:"-"`                   // over all calls
	ResponseBytes     uint64             `line:"responseBytes"`       // over all calls
	LastResponseBytes uint64             `line:"lastResponseBytes"`   // of the last call that returned; a list of one pod does not count, as it says nothing of the size of the list of all
	LastOK            time.Time          `line:"-"`                   // zero if none succeeded
	LastErr           error              `line:"lastError,omitempty"` // of the last failed call; nil if none
	LastErrAt         time.Time          `line:"-"`
	Histogram         quantile.Histogram `line:"-"` // of the times of all calls, with the kubelet's buckets
	Slowest           []Outcome          `line:"-"` // only for operations about one object: the longest calls for up to 10 objects, one for each, failed or not, the slowest first
	Seconds           []Second           `line:"-"` // the last 120 seconds in which calls returned, oldest first, without the one that is not over
}

// A Second says how the calls of one operation went that returned within one second.
type Second struct {
	At            time.Time     // when it began: a whole number of seconds after the start
	Slowest       time.Duration // of those calls, failed or not
	Count, Errors uint32        // Count calls, Errors of them failed, as in [Calls]
}

// A CodeCount is a gRPC code's name and how often it came.
type CodeCount struct {
	Code  string
	Count uint64
}

// Sums adds up the calls that have returned, by operation.
type Sums struct {
	start time.Time
	byOp  []operationSum
	made  []Calls // what Read returned last; nil when stale, never changed once made
}

// An operationSum has what a [Calls] is made from.
type operationSum struct {
	Calls
	took  quantile.Durations
	codes map[string]uint64
	stale bool   // Calls lacks the quantiles and codes
	now   Second // the second that is not over yet; none if its Count is 0
}

// NewSums returns sums without any call.
func NewSums(now time.Time) Sums {
	s := Sums{start: now}
	for _, op := range call.Operations() {
		s.byOp = append(s.byOp, operationSum{Calls: Calls{Op: op}})
	}
	return s
}

// Began notes that a call was made.
func (s *Sums) Began(op call.Operation) {
	s.byOp[op].InFlight++
	s.made = nil
}

// Ended notes that a call returned.
func (s *Sums) Ended(f call.Flight, at time.Time, carried call.Trace, err error) {
	o := &s.byOp[f.Op]
	o.InFlight--
	s.pass(at)
	if o.now.Count == 0 {
		o.now.At = s.second(at)
		if n := len(o.Seconds); n > 0 && !o.now.At.After(o.Seconds[n-1].At) { // that one is known to be over
			o.now.At = o.Seconds[n-1].At.Add(time.Second)
		}
	}
	o.add(at, at.Sub(f.Since), err)
	if f.Op.AboutObject() {
		o.slow(Outcome{Flight: f, At: at, Took: at.Sub(f.Since), Err: err})
	}
	o.RequestBytes += uint64(max(carried.RequestBytes, 0))
	o.ResponseBytes += uint64(max(carried.ResponseBytes, 0))
	if !f.Op.IsList() || f.Pod.UID == "" {
		o.LastResponseBytes = uint64(max(carried.ResponseBytes, 0))
	}
	s.made = nil
}

// Withdrawn notes that we have ended a call ourselves, which says nothing about the runtime.
func (s *Sums) Withdrawn(op call.Operation) {
	s.byOp[op].InFlight--
	s.made = nil
}

// second returns the start of the second that a moment is in.
func (s *Sums) second(at time.Time) time.Time {
	return s.start.Add(at.Sub(s.start).Truncate(time.Second))
}

// pass closes the seconds that are over.
func (s *Sums) pass(now time.Time) {
	present := s.second(now)
	for i := range s.byOp {
		if o := &s.byOp[i]; o.now.Count > 0 && o.now.At.Before(present) {
			o.Seconds = append(o.Seconds, o.now) // never written to where a snapshot can see it
			o.Seconds = o.Seconds[max(0, len(o.Seconds)-secondsKept):]
			o.now = Second{}
			s.made = nil
		}
	}
}

func (s *operationSum) add(at time.Time, took time.Duration, err error) {
	s.Count++
	s.Last = took
	s.now.Count++
	s.now.Slowest = max(s.now.Slowest, took)
	s.took.Add(took)
	s.Histogram.Add(took)
	s.stale = true
	switch {
	case err == nil:
		s.LastOK = at
		return
	case errors.Is(err, call.ErrNotFound):
		s.Gone++
		s.LastOK = at
		return
	}
	s.Errors++
	s.now.Errors++
	s.LastErr, s.LastErrAt = err, at
	if s.codes == nil {
		s.codes = make(map[string]uint64)
	}
	code := call.Code(err)
	if _, known := s.codes[code]; !known && len(s.codes) >= maxCodes {
		code = "Other"
	}
	s.codes[code]++
}

// slow takes a call in if it is one of the slowest. Most calls are not, and cost nothing.
func (s *operationSum) slow(o Outcome) {
	all := s.Slowest
	if n := len(all); n == slowestKept && o.Took <= all[n-1].Took {
		return
	}
	same := slices.IndexFunc(all, func(was Outcome) bool { return was.ID == o.ID })
	if same >= 0 && o.Took <= all[same].Took {
		return
	}
	next := slices.Clone(all) // never written to where a snapshot can see it
	if same >= 0 {
		next = slices.Delete(next, same, same+1)
	}
	i, _ := slices.BinarySearchFunc(next, o, func(a, b Outcome) int { return cmp.Compare(b.Took, a.Took) })
	next = slices.Insert(next, i, o)
	s.Slowest = next[:min(len(next), slowestKept)]
}

// Read returns the sums by operation, in the order of [call.Operations]. The
// caller may keep them.
func (s *Sums) Read(now time.Time) []Calls {
	s.pass(now)
	if s.made == nil {
		s.made = make([]Calls, len(s.byOp))
		for i := range s.byOp {
			s.made[i] = s.byOp[i].read()
		}
	}
	return s.made
}

// Of returns the sum of one operation. Its quantiles and codes may be out of date.
func (s *Sums) Of(op call.Operation) *Calls { return &s.byOp[op].Calls }

// FoundNobody returns how many calls about the whole runtime found no runtime. A runtime that answers with an
// error of its own is there.
func (s *Sums) FoundNobody() (failed uint64) {
	for i := range s.byOp[:call.PodSandboxStatus] {
		failed += s.byOp[i].codes[unavailable]
	}
	return failed
}

// AnsweredSince reports whether any call except Version was answered well after a moment. A runtime answers
// Version in any state.
func (s *Sums) AnsweredSince(at time.Time) bool {
	return slices.ContainsFunc(s.byOp, func(o operationSum) bool { return o.Op != call.Version && o.LastOK.After(at) })
}

// read returns the operation's Calls with all its derived figures.
func (s *operationSum) read() Calls {
	if s.stale {
		s.P50, s.P90, s.P99 = s.took.Quantiles()
		s.Max = s.took.Max()
		s.ByCode = byCode(s.codes)
		s.stale = false
	}
	return s.Calls
}

// byCode returns the codes, the most frequent first, and equally frequent ones by name.
func byCode(codes map[string]uint64) []CodeCount {
	var list []CodeCount
	for code, count := range codes {
		list = append(list, CodeCount{Code: code, Count: count})
	}
	slices.SortFunc(list, func(a, b CodeCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Code, b.Code))
	})
	return list
}
