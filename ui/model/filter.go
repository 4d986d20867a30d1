package model

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A Filter says which pods and events to show: those for which all its terms hold. The zero
// Filter shows all. A person writes it as:
//
//	api            a word: part of the namespace, pod, container or namespace/pod
//	"a b"          the same with a space or a quote in it (\" and \\)
//	ns:kube-*      a field: see the table in filterfield.go for all of them
//	age<5m         a field that is a duration: < or >
//	!word, !ns:x   everything but
//	a b            both
//
// Case never matters, except in re: where the expression says so itself.
//
// It is immutable and may be used from several goroutines at once. It reads no clock: the
// caller says what time it is, by the time of a snapshot.
type Filter struct {
	terms []term
}

// A term is one condition.
type term struct {
	written string // as [ParseFilter] reads it
	not     bool
	timed   bool // what it finds can change with the time alone
	match
}

// A match says for which pods and events a condition holds.
type match struct {
	pod   func(p *Pod, at time.Time) bool // nil: it is about events, and leaves the pods alone
	event func(e engine.Event, at time.Time) bool
}

// A FilterError says where a text is no filter, and what should stand there.
type FilterError struct {
	Offset int    // in bytes, from the start; at most the length of the text
	Want   string // what was expected there
	Found  string // what stands there; empty at the end of the text
}

// Error returns one line: column (from 1, in bytes), what was expected and what
// was found.
func (e *FilterError) Error() string {
	if e.Found == "" {
		return fmt.Sprintf("column %d: want %s", e.Offset+1, e.Want)
	}
	return fmt.Sprintf("column %d: want %s, not %q", e.Offset+1, e.Want, e.Found)
}

// String returns f as [ParseFilter] reads it, with single spaces.
func (f Filter) String() string {
	all := make([]string, len(f.terms))
	for i, t := range f.terms {
		all[i] = t.written
	}
	return strings.Join(all, " ")
}

// Pod reports whether f shows p. Ages are measured as of at.
func (f Filter) Pod(p *Pod, at time.Time) bool {
	for _, t := range f.terms {
		if t.pod != nil && t.pod(p, at) == t.not {
			return false
		}
	}
	return true
}

// OfEvents reports whether f asks only for what events have: it leaves the pods alone.
func (f Filter) OfEvents() bool {
	return len(f.terms) > 0 && !slices.ContainsFunc(f.terms, func(t term) bool { return t.pod != nil })
}

// Event reports whether f shows e. Ages are measured as of at. A field that
// events do not have, such as inspect, shows none.
func (f Filter) Event(e engine.Event, at time.Time) bool {
	for _, t := range f.terms {
		if t.event(e, at) == t.not {
			return false
		}
	}
	return true
}

// Timed reports whether what f shows can change though nothing but the time does.
func (f Filter) Timed() bool {
	return slices.ContainsFunc(f.terms, func(t term) bool { return t.timed })
}

// states are the words of states that mean something: those that pods are shown with,
// and those of a container, which are among them but for absent.
var states = append([]string{pleg.Absent.String()}, diagnose.PodWords()...)

// inState reports whether a pod is shown as in that state, or one of its containers is
// in it, or one of its sandboxes where it has no container. A pod is absent when it was
// not in the last list.
func inState(p *Pod, state string) bool {
	switch {
	case state == pleg.Absent.String():
		return p.Pod.Current == nil
	case state == p.Word():
		return true
	case len(p.Seen.Containers) == 0:
		return slices.ContainsFunc(p.Seen.Sandboxes, func(b pleg.Sandbox) bool { return b.State.String() == state })
	}
	return slices.ContainsFunc(p.Seen.Containers, func(c pleg.Container) bool { return c.State.String() == state })
}

// EventProblem says, in a few words, what is bad about an event, or "" if
// nothing is: the channel was full and the kubelet never saw it, a container
// ended with another code than 0, its state became unknown, or a network failed.
func EventProblem(e engine.Event) string {
	switch {
	case e.Delivery == pleg.Discarded:
		return "discarded"
	case e.Exited && e.ExitCode != 0:
		return "exited with an error"
	case e.Kind == pleg.NetworkFailed:
		return "network failed"
	case e.To == pleg.Unknown:
		return "state unknown"
	}
	return ""
}

// FilterSyntax returns what can be written in a filter, and what it asks for: the forms, then
// each field with what its value must be.
func FilterSyntax() [][2]string {
	all := [][2]string{
		{"api", "a word: part of the namespace, of the pod's or a container's name"},
		{`"a b"`, "the same with a space in it"},
		{"a b", "both"},
		{"!a", "everything but"},
	}
	for _, f := range fields {
		form := f.name + ":"
		if f.compare != nil {
			form = f.name + " < >"
		}
		all = append(all, [2]string{form, f.want})
	}
	return all
}
