package ui

import (
	"slices"

	"github.com/plegtop/plegtop/engine/pleg"
)

// record adds both ends of the pod record, side by side.
func (d *detail) record(b pen) {
	d.section(b, "Pod record")
	d.add(slot{b.Head, "  WHAT", 24}, slot{b.Head, "ID", 15}, slot{b.Head, "OLD", 12}, slot{b.Head, "CURRENT", 12})
	now := d.pod.Current
	if now == nil && d.pod.Failure == nil {
		now = d.pod.Old // its change has settled in this relist
	}
	for _, r := range recordRows(d.pod.Old, now) {
		st := b.Text
		sign := ""
		if r.was != r.now {
			st, sign = b.Warn, b.Symbols.Warn+" differs"
		}
		d.add(slot{b.Text, "  " + r.what, 24}, slot{b.Dim, short(r.id), 15},
			slot{st, r.was.String(), 12}, slot{st, r.now.String(), 12}, slot{st, sign, 0})
	}
}

// A recordRow is one sandbox or container in both ends of a record.
type recordRow struct {
	what, id string
	was, now pleg.State
}

func recordRows(was, now *pleg.Pod) []recordRow {
	var rows []recordRow
	put := func(what, id string, set func(*recordRow)) {
		i := slices.IndexFunc(rows, func(r recordRow) bool { return r.id == id })
		if i < 0 {
			i = len(rows)
			rows = append(rows, recordRow{what: what, id: id})
		}
		set(&rows[i])
	}
	each := func(p *pleg.Pod, set func(pleg.State) func(*recordRow)) {
		if p == nil {
			return
		}
		for _, s := range p.Sandboxes {
			put("sandbox", s.ID, set(s.State))
		}
		for _, c := range p.Containers {
			put(c.Name, c.ID, set(c.State))
		}
	}
	each(was, func(s pleg.State) func(*recordRow) { return func(r *recordRow) { r.was = s } })
	each(now, func(s pleg.State) func(*recordRow) { return func(r *recordRow) { r.now = s } })
	return rows
}
