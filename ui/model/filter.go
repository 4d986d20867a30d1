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
	fails := func(t term) bool { return match(t) == t.not }
	return len(f.any) == 0 || slices.ContainsFunc(f.any, func(all []term) bool { return !slices.ContainsFunc(all, fails) })
}

// anyName reports whether match holds for one of the names by which a word
// finds a pod.
func anyName(p *engine.Pod, match func(string) bool) bool {
	if match(p.Name) || match(p.Namespace) || match(p.PodRef.String()) {
		return true
	}
	return slices.ContainsFunc(p.Seen().Containers, func(c pleg.Container) bool { return match(c.Name) })
}

func eventNames(e engine.Event) []string {
	return []string{e.Pod.Name, e.Container, e.Pod.Namespace, e.Pod.String()}
}

func containerNames(p *engine.Pod) []string {
	var all []string
	for _, c := range p.Seen().Containers {
		all = append(all, c.Name)
	}
	return all
}

func ids(p *engine.Pod) []string {
	all := []string{string(p.UID)}
	for _, s := range p.Seen().Sandboxes {
		all = append(all, s.ID)
	}
	for _, c := range p.Seen().Containers {
		all = append(all, c.ID)
	}
	return all
}

func reasons(p *engine.Pod) []string {
	var all []string
	for _, c := range statuses(p) {
		if c.Reason != "" {
			all = append(all, c.Reason)
		}
	}
	return all
}

// statuses returns what the last inspection found of each container; none if
// it failed.
func statuses(p *engine.Pod) []pleg.ContainerStatus {
	if p.Status == nil {
		return nil
	}
	return p.Status.Containers
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
		return slices.ContainsFunc(p.Seen.Sandboxes, func(b pleg.Sandbox) bool { return p.Listed(b.ID, b.State) == state })
	}
	return slices.ContainsFunc(p.Seen.Containers, func(c pleg.Container) bool { return p.Listed(c.ID, c.State) == state })
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
		{`"a b"`, "the same with spaces or bars in it"},
		{"a b", "both"},
		{"a | b", "either; a space binds tighter"},
		{"!a", "everything but"},
		{"worst>1s", "a column by its name: part of its text, or a comparison with its figure"},
	}
	for _, f := range fields {
		form := strings.Join(f.names, ": ") + ":"
		if f.ordered {
			form = strings.Join(f.names, " ") + " = != < >"
		}
		all = append(all, [2]string{form, f.want})
	}
	return all
}
