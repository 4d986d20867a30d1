package model

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
)

// A Filter says which pods and events to show. The zero Filter shows all. A person writes it as:
//
//	api            a word: part of the namespace, pod, container or namespace/pod
//	"a b"          the same with a space, a bar or a quote in it (\" and \\)
//	ns:kube-*      a field: see the table in filterfield.go for all of them
//	worst>1s       a column by its name: part of its text, or a comparison with its figure
//	exit!=0        a field and a comparison: = != < <= > >=
//	!word, !ns:x   everything but
//	a b | c        space is and, | is or; and binds tighter
//
// Case never matters, except in re: where the expression says so itself.
//
// It is immutable and may be used from several goroutines at once. It reads no clock: the
// caller says what time it is, by the time of a snapshot.
type Filter struct {
	any [][]term // one of these, all terms of which hold; empty: everything
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
	var s strings.Builder
	for i, all := range f.any {
		if i > 0 {
			s.WriteString(" | ")
		}
		for j, t := range all {
			if j > 0 {
				s.WriteByte(' ')
			}
			s.WriteString(t.String())
		}
	}
	return s.String()
}

// Pod reports whether f shows p. Ages are measured as of at.
func (f Filter) Pod(p *Pod, at time.Time) bool {
	return f.holds(func(t term) bool { return t.field.ofPod(p, at, t) })
}

// OfEvents reports whether f asks only for what events have: it leaves the pods alone.
func (f Filter) OfEvents() bool {
	return len(f.any) > 0 && !slices.ContainsFunc(f.any, func(all []term) bool {
		return slices.ContainsFunc(all, func(t term) bool { return t.field.pod != nil })
	})
}

// Event reports whether f shows e. Ages are measured as of at. A field that
// events do not have, such as restarts, shows none.
func (f Filter) Event(e engine.Event, at time.Time) bool {
	return f.holds(func(t term) bool { return t.field.event(e, at, t) })
}

// Timed reports whether what f shows can change though nothing but the time does.
func (f Filter) Timed() bool {
	return slices.ContainsFunc(f.any, func(all []term) bool {
		return slices.ContainsFunc(all, func(t term) bool { return t.field.timed || t.isDuration })
	})
}

func (f Filter) holds(match func(term) bool) bool {
	for _, all := range f.any {
		if every(all, match) {
			return true
		}
	}
	return len(f.any) == 0 // nothing was asked for
}

func every(all []term, match func(term) bool) bool {
	for _, t := range all {
		if match(t) == t.not {
			return false
		}
	}
	return true
}
