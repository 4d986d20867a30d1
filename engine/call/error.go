package call

import (
	"errors"
	"fmt"
	"io"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A Kind is the meaning of a failed call for a caller that must decide what to do next. Branch
// on it with [errors.Is]. It is a number, so that it keeps its meaning when it is written down
// and read. The comment of each Kind has its gRPC status codes.
type Kind uint8

const (
	ErrOther         Kind = iota // any other code
	ErrUnavailable               // UNAVAILABLE: nothing listens, or the connection broke
	ErrSilent                    // an ErrUnavailable: the socket takes connections and sends nothing, as when a runtime is stopped
	ErrPermission                // PERMISSION_DENIED, UNAUTHENTICATED, EACCES on the socket
	ErrDeadline                  // DEADLINE_EXCEEDED
	ErrNotFound                  // NOT_FOUND
	ErrTooLarge                  // RESOURCE_EXHAUSTED: over the 16 MiB limit of a message, or one of ours
	ErrUnreadable                // none: we found that the answer breaks the rules of protobuf
	ErrUnimplemented             // UNIMPLEMENTED
	ErrCanceled                  // CANCELED: by us
	ErrClosed                    // the other side has closed a stream
)

var kindTexts = [...]string{
	"failed in another manner", "runtime unavailable", "runtime unavailable: it says nothing", "permission denied", "no answer in time",
	"not found", "answer too large", "unreadable answer", "not implemented", "canceled", "closed",
}

// Error returns what k means, in plain words.
func (k Kind) Error() string { return pleg.Word(k, kindTexts[:]) }

// Is reports whether k is a special case of target.
func (k Kind) Is(target error) bool { return k == ErrSilent && target == ErrUnavailable }

// KindOf returns the Kind in an error's chain. Without one it returns ErrClosed for io.EOF, and
// else ErrOther.
func KindOf(err error) Kind {
	if k, ok := errors.AsType[Kind](err); ok {
		return k
	}
	if errors.Is(err, io.EOF) {
		return ErrClosed
	}
	return ErrOther
}

// An Error is a call that failed. It matches its Kind under [errors.Is].
type Error struct {
	Op   Operation
	Kind Kind
	Code string // the gRPC code's name, such as "DeadlineExceeded"; empty if it is none of gRPC's
	Text string // the runtime's own words, 4 KiB at most, not cleaned: it may be hostile
	Why  Reason // why it failed, where Text is not the runtime's
}

// A Reason is why a call failed, where the runtime did not say so. Decide by the Reason, never
// by the words.
type Reason uint8

// The reasons. The zero value means that the runtime or the Kind says why.
const (
	Theirs    Reason = iota
	Expired          // its deadline has passed
	GivenUp          // we wait for it no longer
	OutOfTurn        // it was never made: another call for the same object has not returned
	Broken           // its connection broke
)

// NoAnswer returns the error for a call that we wait for no longer, or never made.
func NoAnswer(op Operation, why Reason, text string) *Error {
	return &Error{Op: op, Kind: ErrDeadline, Code: "DeadlineExceeded", Text: text, Why: why}
}

// ErrorOf returns the error of a call as a plain value: the [Error] in its chain, or else a new
// [Error] with its kind and its words. It returns nil for nil.
func ErrorOf(op Operation, err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Op: op, Kind: KindOf(err), Text: err.Error()}
}

// Error returns the operation, the code and the runtime's own words.
func (e *Error) Error() string {
	if e.Code == "" {
		return e.Text
	}
	return fmt.Sprintf("%v: %s: %s", e.Op, e.Code, e.Text)
}

// Unwrap returns what the failure means.
func (e *Error) Unwrap() error { return e.Kind }

// Code returns the gRPC code's name for err: "OK" for nil, the code of the [Error] in its
// chain, or "no code" if nobody sent a code.
func Code(err error) string {
	if err == nil {
		return "OK"
	}
	if e, ok := errors.AsType[*Error](err); ok && e.Code != "" {
		return e.Code
	}
	return "no code"
}
