package call

import (
	"errors"
	"fmt"
)

// What a failed call means to a caller that has to decide what comes next.
// Branch on them with [errors.Is]. The gRPC status codes behind them are in
// each comment.
var (
	ErrUnavailable   = errors.New("runtime unavailable")      // UNAVAILABLE: nothing listens, or the connection broke
	ErrPermission    = errors.New("permission denied")        // PERMISSION_DENIED, UNAUTHENTICATED, EACCES on the socket
	ErrDeadline      = errors.New("no answer in time")        // DEADLINE_EXCEEDED
	ErrNotFound      = errors.New("not found")                // NOT_FOUND
	ErrTooLarge      = errors.New("answer too large")         // RESOURCE_EXHAUSTED: over the 16 MiB limit of a message, or one of ours
	ErrUnreadable    = errors.New("unreadable answer")        // INTERNAL: by us, of an answer that breaks the rules of protobuf
	ErrUnimplemented = errors.New("not implemented")          // UNIMPLEMENTED
	ErrCanceled      = errors.New("canceled")                 // CANCELED: by us
	ErrOther         = errors.New("failed in another manner") // any other code
)

// ErrSilent is an [ErrUnavailable] of a socket that takes connections and says nothing
// on them: somebody is there, as when a runtime is stopped.
var ErrSilent = fmt.Errorf("%w: it says nothing", ErrUnavailable)

// An Error is a call that failed. It matches its Kind under [errors.Is].
type Error struct {
	Op   Operation
	Kind error  // one of the sentinels above
	Code string // the gRPC code's name, such as "DeadlineExceeded"
	Text string // the runtime's own words, 4 KiB at most, not cleaned: hostile until then
	Why  Reason // where the words are not the runtime's
}

// A Reason is why a call failed where it is not the runtime that says so. Nobody goes by
// the words.
type Reason uint8

// The reasons. The zero value is that the runtime says so, or that the Kind tells.
const (
	Theirs    Reason = iota
	Expired          // its deadline has passed
	GivenUp          // we wait for it no longer
	OutOfTurn        // it was never made: one for the same object has not returned
	Broken           // its connection broke
)

// Late returns the error for a call that we wait for no longer, or never made.
func Late(op Operation, why Reason, text string) *Error {
	return &Error{Op: op, Kind: ErrDeadline, Code: "DeadlineExceeded", Text: text, Why: why}
}

// Error returns the operation, the code and the runtime's own words.
func (e *Error) Error() string { return fmt.Sprintf("%v: %s: %s", e.Op, e.Code, e.Text) }

// Unwrap returns the sentinel that says what the failure means.
func (e *Error) Unwrap() error { return e.Kind }

// Code returns the gRPC code's name for err: "OK" for nil, the code of the
// [Error] in its chain, "Unknown" where there is none.
func Code(err error) string {
	if err == nil {
		return "OK"
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return "Unknown"
}
