package ui

import (
	"errors"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/text"
)

// blank says what a person sees in the place of the pods when there are none:
// what is going on, what comes next, and what to type. It returns nil if there
// are pods to show.
func (m *Model) blank(b pen) []span {
	s := m.snap
	switch {
	case s.Pods == nil && s.Failure != nil:
		return m.refused(b)
	case s.Pods == nil:
		return m.waiting(b)
	case len(s.Pods) == 0:
		return []span{
			{b.Strong, "No pods on this node"},
			{},
			{b.Text, "The runtime answers, and lists no sandbox and no container."},
			{b.Dim, "Pods appear here with the relist that first lists them."},
		}
	case len(m.pods.rows) == 0:
		return m.noMatch(b)
	}
	return nil
}

func (m *Model) waiting(b pen) []span {
	s := m.snap
	out := []span{{b.Strong, "Waiting for the first list"}, {}}
	if f := oldest(s); f != nil {
		st := pick(f.Elapsed(s.At) >= stuck, b.Bad, b.Text)
		out = append(out, span{st, f.Op.String() + " has been out for " + outFor(f.Elapsed(s.At)) + "; it is given up after " + text.Took(s.Timeout) + "."})
	}
	if s.Paused {
		out = append(out, span{b.Warn, "The relist is paused: " + m.keys(keymap.PauseRelist) + " resumes it, " + m.keys(keymap.RelistNow) + " relists once."})
	}
	out = append(out, span{b.Dim, m.cfg.Source.Endpoint}, span{})
	if f := oldest(s); f != nil && f.Elapsed(s.At) >= stuck {
		out = append(out, m.advice(b)...)
	}
	return out
}

// refused tells why the runtime does not give a list.
func (m *Model) refused(b pen) []span {
	s := m.snap
	f := s.Failure
	title := "The runtime's list fails"
	switch {
	case errors.Is(f.Err, call.ErrUnavailable):
		title = "The runtime does not answer"
	case errors.Is(f.Err, call.ErrPermission):
		title = "The runtime refuses us: permission denied"
	case errors.Is(f.Err, call.ErrDeadline):
		title = "The runtime takes too long to answer"
	case errors.Is(f.Err, call.ErrUnimplemented):
		title = "The runtime does not speak CRI v1"
	case errors.Is(f.Err, call.ErrTooLarge):
		title = "The runtime's list is larger than 16 MiB"
	}
	out := []span{{b.Bad, b.Symbols.Bad + " " + title}, {}}
	for _, line := range text.Wrap(failureText(s, f), max(20, m.width-6)) {
		out = append(out, span{b.Text, line})
	}
	out = append(out, span{b.Dim, m.cfg.Source.Endpoint}, span{}, span{b.Text, m.next()}, span{})
	return append(out, m.advice(b)...)
}

// next says when the list is tried again.
func (m *Model) next() string {
	s := m.snap
	switch {
	case s.Paused:
		return "The relist is paused: " + m.keys(keymap.PauseRelist) + " resumes it."
	case len(s.InFlight) > 0:
		return "Trying again: " + s.InFlight[0].Op.String() + " has been out for " + text.Age(s.InFlight[0].Elapsed(s.At)) + "."
	}
	return "Tried again every " + s.Period.String() + "; " + m.keys(keymap.RelistNow) + " tries now."
}

// advice names commands to look into it: those of what was found.
func (m *Model) advice(b pen) []span {
	out := []span{{b.Dim, "To look into it:"}}
	for i := range m.findings.all {
		for _, step := range m.findings.all[i].Next {
			if step.Command != "" && !step.Risky {
				out = append(out, span{b.Key, "  " + step.Command})
			}
		}
	}
	if len(out) == 1 {
		out = append(out, span{b.Key, "  crictl -r " + m.cfg.Source.Endpoint + " version"})
	}
	return append(out, span{b.Dim, "plegtop shows the pods as soon as the runtime lists them."})
}

func (m *Model) noMatch(b pen) []span {
	out := []span{{b.Strong, "No pod matches"}, {}}
	if f := m.filter.text; f != "" {
		out = append(out, span{b.Text, "filter      " + f + "   (" + m.keys(keymap.Back) + " drops it)"})
	}
	if len(m.filter.namespaces) > 0 {
		out = append(out, span{b.Text, "namespaces  " + strings.Join(m.filter.namespaces, " ") + "   (" + m.keys(keymap.AllNamespaces) + " shows all)"})
	}
	if m.pods.trouble {
		out = append(out, span{b.Text, "problems only: none of " + text.Count(uint64(len(m.snap.Pods))) + " pods has one   (" + m.keys(keymap.ProblemsOnly) + " shows all)"})
	}
	return out
}

// starting is shown before the engine has said anything.
func starting() *engine.Snapshot {
	return &engine.Snapshot{Phase: engine.Phase{Step: engine.Waiting}}
}
