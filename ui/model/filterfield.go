package model

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A field is one thing that can be asked of a pod or an event.
type field struct {
	name string
	want string // what its value must be

	// compile returns what the field asks for with a value; false if that is none.
	compile func(value string) (match, bool)
	// compare likewise, for a duration that is less or more than the value. Nil: the field
	// takes a colon.
	compare func(holds func(time.Duration) bool) match
}

// takes returns what may stand between the field's name and its value.
func (f *field) takes() string {
	if f.compare != nil {
		return `"<" or ">"`
	}
	return `":"`
}

var fields = []*field{
	{name: "ns", want: "a namespace, such as default or kube-*", compile: inNamespace},
	{name: "state", want: "one of " + strings.Join(states, ", "), compile: withState},
	{name: "kind", want: "started, died, removed, changed, podsync, netup or netfail", compile: ofKind},
	{name: "has", want: "problem", compile: withProblem},
	{name: "re", want: "a regular expression", compile: expression},
	{name: "age", want: "a duration, such as 5m or 2d", compare: aged},
	{name: "inspect", want: "a duration, such as 500ms", compare: inspected},
}

// named returns what asks for one of the names by which a word finds a pod or an event.
func named(is func(name string) bool) match {
	return match{
		func(p *Pod, _ time.Time) bool {
			return is(p.Pod.Name) || is(p.Pod.Namespace) || is(p.Pod.PodRef.String()) ||
				slices.ContainsFunc(p.Seen.Containers, func(c pleg.Container) bool { return is(c.Name) })
		},
		func(e engine.Event, _ time.Time) bool {
			return is(e.Pod.Name) || is(e.Container) || is(e.Pod.Namespace) || is(e.Pod.String())
		},
	}
}

func word(value string) match {
	value = strings.ToLower(value)
	return named(func(name string) bool { return strings.Contains(strings.ToLower(name), value) })
}

func expression(value string) (match, bool) {
	e, err := regexp.Compile(value)
	if err != nil {
		return match{}, false
	}
	return named(e.MatchString), true
}

// inNamespace takes a star for anything.
func inNamespace(value string) (match, bool) {
	value = strings.ToLower(value)
	in := func(namespace string) bool {
		ok, _ := path.Match(value, strings.ToLower(namespace))
		return ok
	}
	_, err := path.Match(value, "")
	return match{
		func(p *Pod, _ time.Time) bool { return in(p.Pod.Namespace) },
		func(e engine.Event, _ time.Time) bool { return in(e.Pod.Namespace) },
	}, err == nil
}

// withState asks for the pod's state or that of one of its containers; of an event for the
// one that it leads to.
func withState(value string) (match, bool) {
	value = strings.ToLower(value)
	return match{
		func(p *Pod, _ time.Time) bool { return inState(p, value) },
		func(e engine.Event, _ time.Time) bool { return e.To.String() == value },
	}, slices.Contains(states, value)
}

// onScreen are the words of the screen for kinds of events.
var onScreen = map[string]pleg.Kind{
	"started": pleg.Started, "died": pleg.Died, "removed": pleg.Removed, "changed": pleg.Changed,
	"podsync": pleg.PodSync, "netup": pleg.NetworkSetUp, "netfail": pleg.NetworkFailed,
}

func ofKind(value string) (match, bool) {
	kind, ok := onScreen[strings.ToLower(value)]
	return match{event: func(e engine.Event, _ time.Time) bool { return e.Kind == kind }}, ok
}

func withProblem(value string) (match, bool) {
	return match{
		func(p *Pod, _ time.Time) bool { return p.Pod.StatusErr != nil || p.Problem != "" },
		func(e engine.Event, _ time.Time) bool { return EventProblem(e) != "" },
	}, strings.EqualFold(value, "problem")
}

// aged asks for how long ago the pod was made, as far as the runtime says; of an event, when it
// was seen.
func aged(holds func(time.Duration) bool) match {
	return match{
		func(p *Pod, at time.Time) bool { return !p.Created.IsZero() && holds(at.Sub(p.Created)) },
		func(e engine.Event, at time.Time) bool { return holds(at.Sub(e.SeenAt)) },
	}
}

// inspected asks for how long the last inspection of the pod took, or hangs.
func inspected(holds func(time.Duration) bool) match {
	return match{
		func(p *Pod, at time.Time) bool {
			if p.Out != nil {
				return holds(p.Out.Elapsed(at))
			}
			return p.Pod.Inspected > 0 && holds(p.Pod.InspectLast)
		},
		func(engine.Event, time.Time) bool { return false },
	}
}

// duration reads what time.ParseDuration reads, and days before that: "2d", or "2d1h" as the screen
// writes it.
func duration(s string) (time.Duration, bool) {
	days, rest, ok := strings.Cut(s, "d")
	if !ok {
		days, rest = "0", s
	}
	n, err := strconv.ParseUint(days, 10, 16)
	if err != nil || ok && rest == "" {
		return time.Duration(n) * 24 * time.Hour, err == nil
	}
	d, err := time.ParseDuration(rest)
	return time.Duration(n)*24*time.Hour + d, err == nil
}
