package model

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/widget"
)

// A field is one thing that can be asked of a pod or an event.
type field struct {
	names   []string // the first is the one that String writes
	ordered bool     // takes < and > as well
	timed   bool     // what it finds can change with the time alone
	want    string   // what its value must be
	set     func(*term) bool
	pod     func(*Pod, time.Time, term) bool // nil: it is about events, and leaves the pods alone
	event   func(engine.Event, time.Time, term) bool
}

func (f *field) ofPod(p *Pod, at time.Time, t term) bool {
	if f.pod == nil {
		return !t.not
	}
	return f.pod(p, at, t)
}

// takes reports whether op may follow the field's name.
func (f *field) takes(op comparison) bool {
	return f.ordered || op == is || op == equal || op == different
}

// word is what stands without a field's name.
var word = &field{
	want: "a word or a field", set: anyText,
	pod: func(p *Pod, _ time.Time, t term) bool {
		return anyName(p.Pod, func(s string) bool { return contains(s, t.lower) })
	},
	event: func(e engine.Event, _ time.Time, t term) bool { return t.matches(contains, eventNames(e)...) },
}

var fields = []*field{
	{ // ns:default, ns:kube-*
		names: []string{"ns", "namespace"}, want: "a namespace, such as default or kube-*", set: anyText,
		pod:   func(p *Pod, _ time.Time, t term) bool { return t.matches(wild, p.Pod.Namespace) },
		event: func(e engine.Event, _ time.Time, t term) bool { return t.matches(wild, e.Pod.Namespace) },
	},
	{ // pod:api
		names: []string{"pod"}, want: "part of a pod's name", set: anyText,
		pod:   func(p *Pod, _ time.Time, t term) bool { return t.matches(contains, p.Pod.Name) },
		event: func(e engine.Event, _ time.Time, t term) bool { return t.matches(contains, e.Pod.Name) },
	},
	{ // container:istio
		names: []string{"container"}, want: "part of a container's name", set: anyText,
		pod:   func(p *Pod, _ time.Time, t term) bool { return t.matches(contains, containerNames(p.Pod)...) },
		event: func(e engine.Event, _ time.Time, t term) bool { return t.matches(contains, e.Container) },
	},
	{ // id:3f2a1, of a container, a sandbox or a pod (its UID)
		names: []string{"id", "uid"}, want: "the start of an id", set: anyText,
		pod:   func(p *Pod, _ time.Time, t term) bool { return t.matches(hasPrefix, ids(p.Pod)...) },
		event: func(e engine.Event, _ time.Time, t term) bool { return t.matches(hasPrefix, e.ID, string(e.Pod.UID)) },
	},
	{ // re:^api-, against each of the names that a word looks at
		names: []string{"re"}, want: "a regular expression", set: setPattern,
		pod: func(p *Pod, _ time.Time, t term) bool {
			return anyName(p.Pod, t.pattern.MatchString) != (t.op == different)
		},
		event: func(e engine.Event, _ time.Time, t term) bool {
			return slices.ContainsFunc(eventNames(e), t.pattern.MatchString) != (t.op == different)
		},
	},
	{ // state:error: the pod's state is, or that of one of its containers; the event leads there
		names: []string{"state"}, want: "one of " + strings.Join(states, ", "), set: func(t *term) bool { return slices.Contains(states, t.lower) },
		pod:   func(p *Pod, _ time.Time, t term) bool { return inState(p, t.lower) != (t.op == different) },
		event: func(e engine.Event, _ time.Time, t term) bool { return compared(e.To.String(), t.op, t.lower) },
	},
	{ // kind:died, kind:netfail: the event is
		names: []string{"kind", "type"}, want: "started, died, removed, changed, podsync, netup or netfail",
		set:   func(t *term) (ok bool) { t.kind, ok = named(t.lower, pleg.Started, pleg.NetworkFailed); return ok },
		event: func(e engine.Event, _ time.Time, t term) bool { return compared(e.Kind, t.op, t.kind) },
	},
	{ // delivery:discarded: the event was
		names: []string{"delivery"}, want: "delivered, filtered, discarded, unseen or derived",
		set:   func(t *term) (ok bool) { t.delivery, ok = named(t.lower, pleg.Delivered, pleg.Derived); return ok },
		event: func(e engine.Event, _ time.Time, t term) bool { return compared(e.Delivery, t.op, t.delivery) },
	},
	{ // seen:cri: who saw the event first
		names: []string{"seen"}, want: "relist, cri, cgroup or pidfd",
		set: func(t *term) (ok bool) { t.source, ok = named(t.lower, ledger.FromRelist, ledger.FromPidfd); return ok },
		event: func(e engine.Event, _ time.Time, t term) bool {
			first, _ := e.Seen.First()
			return compared(first, t.op, t.source)
		},
	},
	{ // reason:oom
		names: []string{"reason"}, want: "part of the reason for which a container ended", set: anyText,
		pod:   func(p *Pod, _ time.Time, t term) bool { return t.matches(contains, reasons(p.Pod)...) },
		event: func(e engine.Event, _ time.Time, t term) bool { return t.matches(contains, e.Reason) },
	},
	{ // has:problem, has:error
		names: []string{"has"}, want: "problem or error", set: func(t *term) bool { return t.lower == "problem" || t.lower == "error" },
		pod: func(p *Pod, _ time.Time, t term) bool {
			return (p.Pod.StatusErr != nil || t.lower == "problem" && p.Problem != "") != (t.op == different)
		},
		event: func(e engine.Event, _ time.Time, t term) bool {
			return (t.lower == "problem" && EventProblem(e) != "") != (t.op == different)
		},
	},
	{ // exit!=0: one of the pod's containers ended so; the event says so
		names: []string{"exit"}, ordered: true, want: "an exit code, such as 137", set: setNumber,
		pod: func(p *Pod, _ time.Time, t term) bool {
			return slices.ContainsFunc(statuses(p.Pod), func(c pleg.ContainerStatus) bool {
				return c.State == pleg.Exited && compared(int64(c.ExitCode), t.op, t.number)
			})
		},
		event: func(e engine.Event, _ time.Time, t term) bool {
			return e.Exited && compared(int64(e.ExitCode), t.op, t.number)
		},
	},
	{ // restarts>3: of the container that was restarted most
		names: []string{"restarts"}, ordered: true, want: "a number", set: setNumber,
		pod:   func(p *Pod, _ time.Time, t term) bool { return compared(int64(p.Restarts), t.op, t.number) },
		event: func(engine.Event, time.Time, term) bool { return false },
	},
	{ // lat>500ms: the pod's last inspection; the event's detection lag
		names: []string{"lat", "lag"}, ordered: true, want: "a duration, such as 500ms", set: setDuration,
		pod: func(p *Pod, _ time.Time, t term) bool {
			return p.Pod.Inspected > 0 && compared(p.Pod.InspectLast, t.op, t.duration)
		},
		event: func(e engine.Event, _ time.Time, t term) bool { return e.HasLag && compared(e.Lag, t.op, t.duration) },
	},
	age,
}

var age = &field{ // age<5m: since the pod was made, as far as the runtime says; since the event was seen
	names: []string{"age"}, ordered: true, timed: true, want: "a duration, such as 5m or 2d", set: setDuration,
	pod: func(p *Pod, at time.Time, t term) bool {
		return !p.Created.IsZero() && compared(at.Sub(p.Created), t.op, t.duration)
	},
	event: func(e engine.Event, at time.Time, t term) bool { return compared(at.Sub(e.SeenAt), t.op, t.duration) },
}

func fieldOf(name string) *field {
	name = strings.ToLower(name)
	i := slices.IndexFunc(fields, func(f *field) bool { return slices.Contains(f.names, name) })
	if i < 0 {
		return nil
	}
	return fields[i]
}

// fieldNames lists what may stand before a colon.
func fieldNames() string {
	all := make([]string, len(fields))
	for i, f := range fields {
		all[i] = f.names[0]
	}
	return "one of " + strings.Join(all, ", ")
}

func anyText(*term) bool { return true }

func setPattern(t *term) (ok bool) {
	var err error
	t.pattern, err = regexp.Compile(t.text)
	return err == nil
}

func setDuration(t *term) (ok bool) { t.duration, ok = duration(t.lower); return ok }

func setNumber(t *term) bool {
	var err error
	t.number, err = strconv.ParseInt(t.text, 10, 32)
	return err == nil
}

// onScreen are the words of the screen for kinds whose names it shortens.
var onScreen = map[string]string{"networksetup": "netup", "networkfailed": "netfail"}

// named returns which of first to last has that name, in lower case and perhaps
// without what the kubelet puts before the kinds of events.
func named[T interface {
	~uint8
	String() string
}](name string, first, last T) (T, bool) {
	for v := first; v <= last; v++ {
		if known := strings.ToLower(v.String()); name == known || name == strings.TrimPrefix(known, "container") || name == onScreen[known] {
			return v, true
		}
	}
	return first, false
}

// A FilterColumn is a column of a table, as a person names it. A filter asks by its name for what it
// has of a pod or an event, unless a field of the language is called so.
type FilterColumn struct {
	Name, Head string
	Pod        func(p *Pod, at time.Time) widget.Cell          // nil if its rows are no pods
	Event      func(e *engine.Event, at time.Time) widget.Cell // nil if they are no events
}

// FilterColumns are those of all tables, by what their rows are in lower case.
type FilterColumns map[string][]FilterColumn

// All returns the columns in the order of the tables' names.
func (c FilterColumns) All() (all []FilterColumn) {
	for _, name := range slices.Sorted(maps.Keys(c)) {
		all = append(all, c[name]...)
	}
	return all
}

// ColumnCalled returns the column that a person may mean by a name: its own or its head, in any case;
// false if there is none.
func ColumnCalled(columns []FilterColumn, name string) (FilterColumn, bool) {
	i := slices.IndexFunc(columns, func(c FilterColumn) bool { return widget.Called(c.Name, c.Head, name) })
	if i < 0 {
		return FilterColumn{}, false
	}
	return columns[i], true
}

// columnOf returns the field of the column that is called so; nil if no filter can ask for it.
func columnOf(columns []FilterColumn, name string) *field {
	columns = slices.DeleteFunc(slices.Clone(columns), func(c FilterColumn) bool { return c.Pod == nil && c.Event == nil })
	c, ok := ColumnCalled(columns, name)
	if !ok {
		return nil
	}
	f := &field{names: []string{c.Name}, ordered: true, want: "a text, or a number or duration to compare with", set: setFigure}
	f.event = func(e engine.Event, at time.Time, t term) bool {
		return c.Event != nil && t.holds(c.Event(&e, at), at)
	}
	if c.Pod != nil {
		f.pod = func(p *Pod, at time.Time, t term) bool { return t.holds(c.Pod(p, at), at) }
	}
	return f
}

// setFigure reads what may be a number or a duration. What is to be less or more has to be one.
func setFigure(t *term) bool {
	t.isNumber, t.isDuration = setNumber(t), setDuration(t)
	return t.isNumber || t.isDuration || t.op == is || t.op == equal || t.op == different
}

// holds reports whether a cell is what the term asks for: a figure is compared with one of its
// kind; of a text, also of one before a figure, a part is enough.
func (t term) holds(c widget.Cell, at time.Time) bool {
	d, isDuration := c.Duration(at)
	n, isNumber := c.Number()
	switch {
	case isDuration && t.isDuration:
		return compared(d, t.op, t.duration)
	case isNumber && t.isNumber:
		return compared(n, t.op, t.number)
	case (isDuration || isNumber) && c.Text == "":
		return false
	}
	return (t.op == is || t.op == equal || t.op == different) && t.matches(contains, c.Text)
}
