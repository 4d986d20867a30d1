package pods

import (
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/say"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

// containers are the lines about each container of a status. There may be thousands:
// they are put into words once to count them, and then when they are drawn.
type containers struct {
	of    *model.Pod
	w     int
	first []int // the line of each
	n     int
}

func (c *containers) write(d *widget.Doc, t *theme.Theme, at time.Time, of *model.Pod) {
	all := of.Pod.Status.Containers
	if c.of != of || c.w != d.Width() {
		*c = containers{of: of, w: d.Width()}
		for i := range all {
			c.first = append(c.first, c.n)
			c.n += len(container(t, at, &all[i], c.w))
		}
	}
	now := *c
	d.Many(now.n, func(i int) []text.Span {
		which, found := slices.BinarySearch(now.first, i)
		if !found {
			which--
		}
		return container(t, at, &all[which], now.w)[i-now.first[which]]
	})
}

// messageLines is in how many lines at most a container's message is shown; all of it is
// in the raw answer.
const messageLines = 6

// container returns the lines about one of a pod, w cells wide.
func container(t *theme.Theme, at time.Time, c *pleg.ContainerStatus, w int) [][]text.Span {
	word := c.State.String()
	symbol, st := say.State(t, c.State)
	if c.State == pleg.Exited {
		word = fmt.Sprintf("%s %d", c.State, c.ExitCode)
		st = say.Code(t, c.ExitCode)
	}
	lines := [][]text.Span{{
		text.Say(t.Text, "  "+c.Name).In(widget.LabelWidth(w)),
		text.Say(st, fmt.Sprintf("%s %s  attempt %d  %s", symbol, word, c.Attempt, pleg.ShortID(c.ID))),
	}}
	more := func(st theme.Style, what string) {
		if what != "" {
			lines = append(lines, []text.Span{{Width: widget.LabelWidth(w)}, text.Say(st, what)})
		}
	}
	more(t.Text, c.Image)
	more(t.Text, times(at, c))
	for _, line := range text.Few(joined(c.Reason, c.Message), max(w-widget.LabelWidth(w), 16), messageLines, t.Symbols.Ellipsis) {
		more(t.Warn, line)
	}
	return lines
}

// times lists the moments of a container's life that the runtime gave.
func times(at time.Time, c *pleg.ContainerStatus) string {
	out := ""
	for _, t := range []struct {
		what string
		at   time.Time
	}{{"created", c.CreatedAt}, {"started", c.StartedAt}, {"finished", c.FinishedAt}} {
		if !t.at.IsZero() {
			out += fmt.Sprintf("%s %s ago  ", t.what, text.AgeCoarse(at.Sub(t.at)))
		}
	}
	return out
}

// A record is both ends of a pod's record, side by side, kept while they are the same.
type record struct {
	ends [2]*pleg.Pod // old and current; nil for none
	rows []recordRow
}

// A recordRow is one sandbox or container in both ends of a record.
type recordRow struct {
	what, id string
	states   [2]pleg.State
}

func (r *record) write(d *widget.Doc, t *theme.Theme, of *model.Pod) {
	p := of.Pod
	d.Section("Pod record")
	head := func(s string, w int) text.Span { return text.Say(t.Head, s).In(w) }
	d.Line(head("  WHAT", 24), head("ID", 15), head("OLD", 12), head("CURRENT", 12))
	now := p.Current
	if now == nil && p.Failure == nil {
		now = p.Old // its change has settled in this relist
	}
	if ends := [2]*pleg.Pod{p.Old, now}; r.ends != ends || r.rows == nil {
		r.ends, r.rows = ends, recordRows(ends)
	}
	rows := r.rows
	d.Many(len(rows), func(i int) []text.Span {
		row, st, sign := &rows[i], t.Text, ""
		if row.states[0] != row.states[1] {
			st, sign = t.Warn, t.Symbols.Warn+" differs"
		}
		return []text.Span{
			text.Say(t.Text, "  "+row.what).In(24), text.Say(t.Dim, pleg.ShortID(row.id)).In(15),
			text.Say(st, row.states[0].String()).In(12), text.Say(st, row.states[1].String()).In(12), text.Say(t.Warn, sign),
		}
	})
}

func recordRows(ends [2]*pleg.Pod) []recordRow {
	var rows []recordRow
	places := make(map[string]int)
	for end, p := range ends {
		note := func(what, id string, s pleg.State) {
			i, known := places[id]
			if !known {
				i = len(rows)
				places[id] = i
				rows = append(rows, recordRow{what: what, id: id})
			}
			rows[i].states[end] = s
		}
		if p == nil {
			continue
		}
		for _, s := range p.Sandboxes {
			note("sandbox", s.ID, s.State)
		}
		for _, c := range p.Containers {
			note(c.Name, c.ID, c.State)
		}
	}
	return rows
}
