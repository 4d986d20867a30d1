package answers

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/call"
)

// IsAnswer reports whether the runtime answered a call, even if only with an error.
func IsAnswer(err error) bool {
	return !errors.Is(err, call.ErrDeadline) && !errors.Is(err, call.ErrUnavailable) && !errors.Is(err, call.ErrCanceled)
}

// TimedOut reports whether a call was given up after its time. A deadline error that came earlier does not
// count: the runtime may pass on at once that somebody else did not answer in time.
func TimedOut(err error, took, limit time.Duration) bool {
	return errors.Is(err, call.ErrDeadline) && took >= limit-limit/10
}

// IsAway reports whether a call found no runtime.
func IsAway(err error) bool { return errors.Is(err, call.ErrUnavailable) }

// IsUnreadable reports whether an answer came that cannot be read.
func IsUnreadable(err error) bool { return errors.Is(err, call.ErrUnreadable) }

// IsBad reports whether an error may mean that the runtime does not work at all: the error came at once, and
// not because of the size of the answer.
func IsBad(err error) bool {
	return !errors.Is(err, call.ErrDeadline) && !IsTooLarge(err) && !errors.Is(err, call.ErrCanceled)
}

// aboutSize are the words that gRPC and runtimes use for a message over its limit. The same code comes if the
// runtime has run out of calls or threads.
var aboutSize = []string{"larger than max", "message size", "exceeds", "too large"}

// IsTooLarge reports whether an error says that a list is larger than a message may be.
func IsTooLarge(err error) bool {
	if !errors.Is(err, call.ErrTooLarge) && call.Code(err) != "ResourceExhausted" {
		return false
	}
	text := err.Error()
	if e, ok := errors.AsType[*call.Error](err); ok {
		text = e.Text
	}
	text = strings.ToLower(text)
	return slices.ContainsFunc(aboutSize, func(s string) bool { return strings.Contains(text, s) })
}

// A Failure is a call that failed, and since when calls like it have failed in a row.
type Failure struct {
	call.Flight           // the last call that failed
	Err         error     // never nil; has a [call.Kind] in its chain
	At          time.Time // when the last one returned
	First       time.Time // when the first one in a row returned
	InRow       int       // how many in a row
}

// Took returns how long the call was out.
func (f *Failure) Took() time.Duration { return f.At.Sub(f.Since) }

// Again returns the failure that follows f in a row; f may be nil. tries is how many tries the new failure
// stands for, and each counts.
func (f *Failure) Again(next call.Flight, at time.Time, err error, tries int) *Failure {
	n := &Failure{Flight: next, Err: err, At: at, First: at, InRow: max(tries, 1)}
	if f != nil {
		n.First = f.First
		n.InRow += f.InRow
	}
	return n
}

// An Outcome is the result of a call of our own. It is a probe, made while another call hangs to see whether
// the runtime still answers, or the call for one object of a [Sweep].
type Outcome struct {
	call.Flight
	At    time.Time     `line:"-"` // when it returned; zero while it is out
	Took  time.Duration `line:"tookSeconds"`
	Err   error         `line:"error,omitempty"` // nil if it was answered
	InRow int           `line:"-"`               // for an object: how often in a row there was no answer
}
