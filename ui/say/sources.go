package say

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/text"
)

// A Source is one of those that are read where something hangs, the kernel's log now and
// then elsewhere, too. Its Missing is never empty if it was not read.
type Source struct {
	Name string `line:"name"`
	evidence.Source
	Said  string   `line:"-"`     // what it gave, from where; or why it gave nothing
	Lines []string `line:"lines"` // the first of what it gave
}

// mostLines is how much of what a source gave is told.
const mostLines = 8

// Sources says of each source how it went.
func Sources(r *evidence.Report) []Source {
	d, idle := r.Deep, "not read"
	if d == nil {
		d, idle = &evidence.Deep{}, "not read: nothing hangs"
	}
	all := []Source{
		source("goroutines", d.Stacks.Source, dumped(r, d.Stacks), append(each(d.Stacks.Locks, Lock), each(AtWork(d.Stacks), Goroutine)...)),
		source("calls in flight", d.Calls.Source, strconv.Itoa(len(d.Calls.InFlight))+" methods", each(d.Calls.InFlight, inFlight)),
		source("kernel", r.Kernel.Source, strconv.Itoa(len(r.Kernel.Lines))+" lines of note", each(r.Kernel.Lines, kernelLine)),
		source("units", d.Units.Source, strconv.Itoa(len(d.Units.All)), each(d.Units.All, unit)),
		source("runtime's folders", d.Objects.Source, strconv.Itoa(len(d.Objects.All))+" sandboxes and containers", nil),
	}
	for i := range all {
		if all[i].Source == (evidence.Source{}) {
			all[i] = Source{Name: all[i].Name, Source: evidence.Source{Missing: idle}, Said: idle}
		}
	}
	return all
}

func source(name string, s evidence.Source, gave string, lines []string) Source {
	switch {
	case s.Pending:
		return Source{name, s, s.Missing, nil}
	case s.Missing != "":
		const missing = "not available: " // as some that were asked say of themselves
		return Source{name, s, missing + strings.TrimPrefix(s.Missing, missing), nil}
	}
	if s.Bytes > 0 {
		gave += ", " + text.Bytes(uint64(s.Bytes))
	}
	if s.From != "" {
		gave += " from " + s.From
	}
	if gave += " in " + text.Took(s.Took); s.Partial != "" {
		gave += "; " + s.Partial
	}
	return Source{name, s, gave, lines}
}

// AtWork returns the goroutines with a call open but for those that hold a lock, of which
// that is told already.
func AtWork(s evidence.Stacks) []evidence.Goroutine {
	return slices.DeleteFunc(slices.Clone(s.Open), func(g evidence.Goroutine) bool {
		return slices.ContainsFunc(s.Locks, func(l evidence.Lock) bool { return l.Holder.Number == g.Number })
	})
}

// dumped says whose goroutines were read, and how old they are where another wrote them.
func dumped(r *evidence.Report, s evidence.Stacks) string {
	said := strings.TrimSuffix(fmt.Sprintf("%d of %s", s.Total, s.Program), " of ")
	if age := diagnose.DumpOld(r, s); age > 0 {
		said += ", " + text.Age(age) + " old"
	}
	return said
}

// each returns a line for each of the first few, and how many more there are.
func each[T any](all []T, line func(T) string) (lines []string) {
	for _, one := range all[:min(len(all), mostLines)] {
		lines = append(lines, line(one))
	}
	if n := len(all) - mostLines; n > 0 {
		lines = append(lines, "and "+strconv.Itoa(n)+" more")
	}
	return lines
}

// Lock says who waits for a lock, and who holds it.
func Lock(l evidence.Lock) string {
	said := fmt.Sprintf("%d wait for %s (%s), for %s at most", l.Waiters, l.Of, l.Address, text.Age(l.Longest))
	if len(l.Calls) > 0 {
		said += ": " + strings.Join(l.Calls, ", ")
	}
	if l.Holder.Number == 0 {
		return said + "; who holds it was not found"
	}
	holds := "holds it"
	if l.Likely {
		holds = "likely holds it"
	}
	return said + "; " + Goroutine(l.Holder) + " " + holds
}

// Goroutine says what a goroutine does, and since when.
func Goroutine(g evidence.Goroutine) string {
	did := []string{g.Call, cmp.Or(g.Doing, g.State)}
	if g.For > 0 {
		did = append(did, "for "+text.Age(g.For))
	}
	if g.Container != "" {
		did = append(did, "container "+pleg.ShortID(g.Container))
	}
	did = slices.DeleteFunc(did, func(s string) bool { return s == "" })
	return fmt.Sprintf("goroutine %d (%s)", g.Number, strings.Join(did, ", "))
}

func inFlight(c evidence.InFlight) string {
	said := fmt.Sprintf("%s %d in flight", c.Method, c.Count)
	if c.For > 0 {
		said += " for at least " + text.Age(c.For)
	}
	return said
}

func kernelLine(l evidence.KernelLine) string {
	said := l.Kind + " " + text.Age(l.Age) + " ago"
	if l.Count > 1 {
		said += fmt.Sprintf(", the last of %d", l.Count)
	}
	return said + ": " + l.Text
}

func unit(u evidence.Unit) string {
	said := strings.TrimRight(u.Name+" "+u.State, " ")
	if u.Restarts > 0 {
		said += fmt.Sprintf(", restarts: %d", u.Restarts)
	}
	if u.Up > 0 {
		said += ", up " + text.Age(u.Up)
	}
	return said
}

// Seen says how many sandboxes and containers the node shows by itself, and where.
func Seen(r *evidence.Report) string {
	said := fmt.Sprintf("%d sandboxes and containers: %d by control groups, %d by shims", len(r.Objects()), len(r.Processes.Objects), len(r.Processes.Shims))
	if r.Deep != nil && r.Deep.Objects.Missing == "" {
		said += fmt.Sprintf(", %d by folders", len(r.Deep.Objects.All))
	}
	return said
}

// Helpers puts the helpers of the node into words: the first few, the oldest first. The
// names of their containers are those that s has listed, else those that the node shows.
func Helpers(s *engine.Snapshot, r *evidence.Report) []string {
	if len(r.Processes.Helpers) == 0 {
		return nil
	}
	names, programs := namesByID(s, r), map[int]string{}
	for _, p := range slices.Concat(r.Processes.Daemons, r.Processes.Shims, r.Processes.Helpers) {
		programs[p.PID] = p.Command + " "
	}
	byAge := func(a, b evidence.Process) int { return cmp.Compare(b.Age, a.Age) }
	oldest := slices.SortedStableFunc(slices.Values(r.Processes.Helpers), byAge)
	return each(oldest, func(p evidence.Process) string {
		said := p.Command
		if p.Verb != "" && p.Verb != p.Command {
			said += " " + p.Verb
		}
		if whom := whom(p, names); whom != "" {
			said += " of " + whom
		}
		said += ", " + text.Age(p.Age) + " old"
		if limit := p.HelperLimit(); limit > 0 && p.Age > limit {
			said += " (" + text.Age(limit) + " at most is usual)"
		}
		said += fmt.Sprintf(", pid %d, child of %s%d, %v", p.PID, programs[p.Parent], p.Parent, p.State)
		if p.Wchan != "" {
			said += " in " + p.Wchan
		}
		return said
	})
}

// whom names the container of a helper, with its id; empty if it is not known.
func whom(p evidence.Process, names map[string]string) string {
	name := names[p.Container]
	if name == "" && p.Pod.Name != "" {
		name = p.Pod.String()
	}
	return strings.Trim(name+" "+pleg.ShortID(p.Container), " ")
}

// namesByID names sandboxes and containers by their ids. What no list has is named by its
// pod, where that is known.
func namesByID(s *engine.Snapshot, r *evidence.Report) map[string]string {
	names, pods := map[string]string{}, map[pleg.UID]string{}
	for _, p := range s.Pods {
		pods[p.UID] = p.String()
	}
	for _, o := range r.Objects() {
		pod := pods[o.Pod.UID]
		if o.Pod.Name != "" {
			pod = o.Pod.String()
		}
		if pod != "" {
			names[o.ID] = strings.TrimRight(pod+"/"+o.Container, "/")
		}
	}
	for _, p := range s.Pods {
		for _, b := range p.Seen().Sandboxes {
			names[b.ID] = p.String()
		}
		for _, c := range p.Seen().Containers {
			names[c.ID] = p.String() + "/" + c.Name
		}
	}
	return names
}
