package ui

import (
	"fmt"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/text"
)

// detail is the screen of one pod. It keeps the pod after that has gone, so
// that the end of a pod can be read.
type detail struct {
	sheet
	pod  *engine.Pod // nil while no pod is open
	gone bool
	ends [2]*pleg.Pod // of its record, of which rows are
	rows []recordRow
}

// eventsInDetail is how many of the pod's events the detail shows.
const eventsInDetail = 100

// observe brings the detail up to date with s.
func (d *detail) observe(b pen, s *engine.Snapshot, e *events, pods *pods) {
	if d.pod == nil {
		return
	}
	f := pods.info(d.pod.UID)
	d.gone = f == nil
	if d.gone {
		f = inform(d.pod, nil, diagnose.Trouble{})
	}
	d.pod = f.pod
	d.anew()
	d.summary(b, s, f)
	d.record(b)
	d.status(b, s)
	d.history(b, e)
	d.clamp(d.size())
}

func (d *detail) summary(b pen, s *engine.Snapshot, f *podInfo) {
	p := d.pod
	symbol, st := podLook(b, f)
	d.section(b, "Pod")
	d.field(b, "name", b.Strong, p.PodRef.String())
	d.field(b, "uid", b.Text, string(p.UID))
	d.field(b, "state", st, symbol+" "+f.word(s.At)+fmt.Sprintf(", %d of %d running", f.running, f.wanted))
	d.field(b, "problem", b.Warn, f.problem)
	if d.gone {
		d.field(b, "gone", b.Warn, "the runtime lists it no more; this is the last of it")
	}
	if !f.created.IsZero() {
		d.field(b, "age", b.Text, text.AgeCoarse(s.At.Sub(f.created)))
	}
	d.inspections(b, s)
}

// inspections adds what the inspections of the pod cost and how they went.
func (d *detail) inspections(b pen, s *engine.Snapshot) {
	p := d.pod
	if p.Inspected == 0 {
		d.field(b, "inspections", b.Dim, "none yet")
		return
	}
	d.field(b, "inspections", b.Text, fmt.Sprintf("%d, the last one took %s, the worst %s; %s ago",
		p.Inspected, text.Took(p.InspectLast), text.Took(p.InspectWorst), text.AgeCoarse(s.At.Sub(p.InspectedAt))))
	if f := p.Failure; f != nil {
		d.field(b, "failing", b.Bad, fmt.Sprintf("%d times in a row, for %s", f.InRow, text.AgeCoarse(s.At.Sub(f.First))))
	}
	if p.StatusErr != nil {
		d.field(b, "error", b.Bad, p.StatusErr.Error())
	}
	if p.Reinspect {
		d.field(b, "next", b.Info, "will be inspected again at the next relist, though nothing changed")
	}
}

// history adds the pod's events, the newest first.
func (d *detail) history(b pen, e *events) {
	d.section(b, "Events")
	n := 0
	for i := len(e.rows) - 1; i >= 0 && n < eventsInDetail; i-- {
		r := &e.rows[i]
		if r.gap > 0 || r.Pod.UID != d.pod.UID {
			continue
		}
		d.add(eventSlots(b, r)...)
		n++
	}
	if n == 0 {
		d.add(slot{b.Dim, "  none since plegtop started", 0})
	}
}

func eventSlots(b pen, r *eventRow) []slot {
	symbol, st := eventLook(b, r.Event)
	what := subject(r.Event)
	out := []slot{
		{b.Dim, "  " + r.SeenAt.Local().Format("15:04:05"), 12}, {st, symbol + " " + r.Kind.String(), 19}, {b.Text, what, 20},
		{b.Dim, r.From.String() + " " + b.Symbols.Step + " " + r.To.String(), 20},
	}
	if r.Exited {
		out = append(out, slot{pick(r.ExitCode != 0, b.Bad, b.Dim), fmt.Sprintf("exit %d %s", r.ExitCode, r.Reason), 16})
	}
	if r.HasLag {
		out = append(out, slot{b.Dim, "lag " + text.Took(r.Lag), 11})
	}
	return append(out, slot{deliveryLook(b, r.Delivery), r.Delivery.String(), 0})
}

// status adds what the pod cache holds.
func (d *detail) status(b pen, s *engine.Snapshot) {
	d.section(b, "Cached status")
	st := d.pod.Status
	if st == nil {
		d.add(slot{b.Dim, pick(d.pod.StatusErr != nil, "  the cache holds the error above in its place", "  none: the pod has not been inspected yet"), 0})
		return
	}
	for _, ip := range st.IPs {
		d.field(b, "ip", b.Text, ip)
	}
	d.field(b, "as of", b.Text, text.AgeCoarse(s.At.Sub(d.pod.StatusAt))+" ago")
	for _, sb := range st.Sandboxes {
		symbol, look := stateLook(b, sb.State)
		d.field(b, "sandbox", look, fmt.Sprintf("%s %s  attempt %d  %s", symbol, sandboxWord(sb.State), sb.Attempt, text.ShortID(sb.ID)))
	}
	d.containers(b, s, st.Containers)
}

// containers adds a few lines about each container.
func (d *detail) containers(b pen, s *engine.Snapshot, all []pleg.ContainerStatus) {
	first := make([]int, 0, len(all)) // line of each
	n := 0
	for i := range all {
		c := &all[i]
		first = append(first, n)
		n++
		for _, there := range [...]bool{c.Image != "", timed(c), joined(c.Reason, c.Message) != ""} {
			if there {
				n++
			}
		}
	}
	d.many(n, func(i int) []slot {
		which, found := slices.BinarySearch(first, i)
		if !found {
			which--
		}
		var one sheet
		one.container(b, s.At, &all[which])
		return one.lines[i-first[which]]
	})
}

func (s *sheet) container(b pen, at time.Time, c *pleg.ContainerStatus) {
	symbol, look := stateLook(b, c.State)
	line := fmt.Sprintf("%s %s  attempt %d  %s", symbol, c.State, c.Attempt, text.ShortID(c.ID))
	if c.State == pleg.Exited {
		line = fmt.Sprintf("%s %s %d  attempt %d  %s", symbol, c.State, c.ExitCode, c.Attempt, text.ShortID(c.ID))
		look = pick(c.ExitCode != 0, b.Bad, look)
	}
	s.add(slot{b.Text, "  " + c.Name, labelWidth}, slot{look, line, 0})
	s.field(b, "", b.Text, c.Image)
	s.field(b, "", b.Text, times(at, c))
	s.field(b, "", b.Warn, joined(c.Reason, c.Message))
}

func timed(c *pleg.ContainerStatus) bool {
	return !c.CreatedAt.IsZero() || !c.StartedAt.IsZero() || !c.FinishedAt.IsZero()
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

func joined(reason, message string) string {
	if reason == "Completed" {
		return message
	}
	if reason != "" && message != "" {
		return reason + ": " + message
	}
	return reason + message
}

// record adds both ends of the pod record, side by side.
func (d *detail) record(b pen) {
	d.section(b, "Pod record")
	d.add(slot{b.Head, "  WHAT", 24}, slot{b.Head, "ID", 15}, slot{b.Head, "OLD", 12}, slot{b.Head, "CURRENT", 12})
	now := d.pod.Current
	if now == nil && d.pod.Failure == nil {
		now = d.pod.Old // its change has settled in this relist
	}
	if ends := [2]*pleg.Pod{d.pod.Old, now}; d.ends != ends || d.rows == nil {
		d.ends, d.rows = ends, recordRows(ends[0], ends[1])
	}
	rows := d.rows
	d.many(len(rows), func(i int) []slot {
		r := &rows[i]
		st := b.Text
		sign := ""
		if r.was != r.now {
			st, sign = b.Warn, b.Symbols.Warn+" differs"
		}
		return []slot{
			{b.Text, "  " + r.what, 24}, {b.Dim, text.ShortID(r.id), 15},
			{st, r.was.String(), 12}, {st, r.now.String(), 12}, {st, sign, 0},
		}
	})
}

// A recordRow is one sandbox or container in both ends of a record.
type recordRow struct {
	what, id string
	was, now pleg.State
}

func recordRows(was, now *pleg.Pod) []recordRow {
	var rows []recordRow
	places := make(map[string]int)
	at := func(what, id string) *recordRow {
		i, known := places[id]
		if !known {
			i = len(rows)
			places[id] = i
			rows = append(rows, recordRow{what: what, id: id})
		}
		return &rows[i]
	}
	each := func(p *pleg.Pod, set func(*recordRow, pleg.State)) {
		if p == nil {
			return
		}
		for _, s := range p.Sandboxes {
			set(at("sandbox", s.ID), s.State)
		}
		for _, c := range p.Containers {
			set(at(c.Name, c.ID), c.State)
		}
	}
	each(was, func(r *recordRow, s pleg.State) { r.was = s })
	each(now, func(r *recordRow, s pleg.State) { r.now = s })
	return rows
}
