package ui

import (
	"fmt"
	"slices"

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
}

// eventsInDetail is how many of the pod's events the detail shows.
const eventsInDetail = 100

// observe brings the detail up to date with s.
func (d *detail) observe(b pen, s *engine.Snapshot, e *events, troubles map[pleg.UID]diagnose.Trouble) {
	if d.pod == nil {
		return
	}
	i := slices.IndexFunc(s.Pods, func(p *engine.Pod) bool { return p.UID == d.pod.UID })
	d.gone = i < 0
	if i >= 0 {
		d.pod = s.Pods[i]
	}
	d.anew()
	d.summary(b, s, troubles[d.pod.UID])
	d.record(b)
	d.status(b, s)
	d.history(b, e)
	d.clamp(len(d.lines))
}

func (d *detail) summary(b pen, s *engine.Snapshot, t diagnose.Trouble) {
	p := d.pod
	f := inform(p, s, t)
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
