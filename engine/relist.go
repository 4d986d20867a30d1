package engine

import (
	"context"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A relist is one relist under way, of all pods or of one.
type relist struct {
	pod       pleg.PodRef // the only one; empty for a relist of all
	asked     bool        // goes on while paused
	began     time.Time
	listTook  time.Duration
	listed    bool // the lists are over
	moved     bool // records have changed since the lists were taken in
	out       bool // a task makes calls for it
	done      int
	total     int
	failures  int
	heldSince time.Time // zero if not held
	held      time.Duration
}

func (r *relist) onDemand() bool { return r.pod.UID != "" }

// advance takes the relist as far as it goes without an answer from the
// runtime.
func (d *driver) advance(now time.Time) {
	for {
		switch {
		case d.relist == nil:
			if !d.beginNext(now) {
				return
			}
		case d.relist.out, d.holds(now):
			return
		default:
			d.inspectNext(now)
		}
	}
}

// relistDue returns when the driver will begin a relist by itself; zero if it
// will not.
func (d *driver) relistDue() time.Time {
	if d.relist != nil || d.paused {
		return time.Time{}
	}
	return d.log.nextAt
}

// beginNext begins what is due or asked for, if anything is. A relist that is
// due comes before a request, as in the kubelet.
func (d *driver) beginNext(now time.Time) bool {
	if due := d.relistDue(); d.asked.relist || !due.IsZero() && !now.Before(due) {
		d.beginAll(now)
		return true
	}
	for {
		uid, ok := d.asked.next()
		if !ok {
			return false
		}
		if pod, known := d.pods.byUID[uid]; known {
			d.beginOne(now, pod.PodRef)
			return true
		}
	}
}

func (d *driver) beginAll(now time.Time) {
	r := &relist{began: now, asked: d.asked.relist}
	d.asked.relist = false
	d.log.begin(now, d.core.ListedAt())
	d.list(r, func(l listing) { d.listedAll(r, l) })
}

// beginOne relists one pod, or, for a release that cannot, inspects it.
func (d *driver) beginOne(now time.Time, pod pleg.PodRef) {
	r := &relist{pod: pod, asked: true, began: now}
	if d.config.Release >= onDemand {
		d.core.RequestReinspect(pod.UID)
		d.list(r, func(l listing) { d.listedOne(r, l) })
		return
	}
	must(d.core.BeginInspect(pod.UID))
	r.listed, r.total = true, 1
	d.relist = r
}

// list makes both list calls for r and then has the outcome taken in.
func (d *driver) list(r *relist, take func(listing)) {
	d.relist = r
	r.out = true
	d.do(func(ctx context.Context) func() {
		l := d.lists(ctx, r.pod)
		return func() {
			r.out, r.listed = false, true
			r.listTook = d.clock.now().Sub(r.began)
			take(l)
		}
	})
}

// listedAll takes in the lists of all pods. If one failed nothing changes, as
// in the kubelet: what was known stays, and its age goes on growing.
func (d *driver) listedAll(r *relist, l listing) {
	if l.err != nil {
		d.vitals.suspect(l.err)
		d.failure = d.failure.again(l.failed, l.err, d.clock.now())
		d.endAll(r, true)
		return
	}
	pods, found := pleg.Assemble(l.sandboxes, l.containers, r.began)
	d.found = l.found.Add(found)
	d.failure, d.podFailure = nil, nil
	if d.first.IsZero() {
		d.first = r.began
	}
	must(d.core.Begin(r.began, pods))
	r.total = d.core.Pending()
	d.pods.renewAll(d.core)
}

// listedOne takes in the lists of one pod. If they failed, or show the pod no
// more, it is left to the next relist of all, as in the kubelet.
func (d *driver) listedOne(r *relist, l listing) {
	d.relist = nil
	d.press.dirty = true
	if l.err != nil {
		d.vitals.suspect(l.err)
		if d.podFailure != nil && d.podFailure.Pod != r.pod {
			d.podFailure = nil // a row of failures is of one pod
		}
		d.podFailure = d.podFailure.again(l.failed, l.err, d.clock.now())
		d.pods.renew(d.core, r.pod.UID)
		return
	}
	d.podFailure = nil
	pods, _ := pleg.Assemble(l.sandboxes, l.containers, r.began)
	for _, pod := range pods {
		if pod.UID == r.pod.UID {
			d.relist = r
			must(d.core.BeginPod(r.began, pod))
			r.total = d.core.Pending()
		}
	}
	d.pods.renew(d.core, r.pod.UID)
}

// holds reports whether the relist must wait because of a pause, and keeps
// account of how long it did. A request lets it go on: relists cannot overlap.
func (d *driver) holds(now time.Time) bool {
	r := d.relist
	holds := d.paused && !r.asked && !d.asked.any()
	if holds == !r.heldSince.IsZero() {
		return holds
	}
	if holds {
		r.heldSince = now
	} else {
		r.held += now.Sub(r.heldSince)
		r.heldSince = time.Time{}
	}
	d.press.dirty = true
	return holds
}

// inspectNext starts the next inspection, or ends the relist if none is left.
func (d *driver) inspectNext(now time.Time) {
	r := d.relist
	next, more := d.core.Next()
	r.moved = d.release(now) || r.moved || more
	if !more {
		d.end(r)
		return
	}
	r.out = true
	r.total = max(r.total, r.done+1)
	d.do(func(ctx context.Context) func() {
		at := d.clock.now()
		i := d.inspect(ctx, next)
		return func() { d.inspected(r, next.Pod.UID, at, i) }
	})
}

func (d *driver) inspected(r *relist, uid pleg.UID, at time.Time, i inspection) {
	now := d.clock.now()
	r.out = false
	r.done++
	if i.err != nil {
		r.failures++
		d.vitals.suspect(i.err)
	}
	must(d.core.Settle(uid, at, i.status, i.err))
	d.pods.inspected(d.core, uid, now, now.Sub(at), i)
	d.release(now)
	d.press.dirty = true
}

// end ends a relist whose inspections are all settled.
func (d *driver) end(r *relist) {
	must(d.core.End())
	d.forget()
	if r.onDemand() {
		d.relist = nil
		d.pods.renew(d.core, r.pod.UID)
		return
	}
	if r.moved {
		d.pods.renewAll(d.core)
	}
	d.endAll(r, false)
}

// endAll counts a relist of all pods that is over and sets the time of the
// next. The time for which a pause held it does not count: it says nothing of
// the runtime.
func (d *driver) endAll(r *relist, failed bool) {
	d.relist = nil
	now := d.clock.now()
	d.log.end(r, now, now.Sub(r.began)-r.held, failed)
	d.log.schedule(d.period)
	if d.press.seq == 0 {
		d.press.hurry()
	}
	if failed || r.done > 0 || r.asked || d.log.count == 1 || d.press.step != Waiting {
		d.press.dirty = true
	}
}

// forget drops the records that the kubelet would keep for ever. No event
// depends on them, and a node that has run for months has many.
func (d *driver) forget() {
	var leaked []pleg.UID
	for uid := range d.core.Leaked() {
		leaked = append(leaked, uid)
	}
	for _, uid := range leaked {
		d.core.Forget(uid)
	}
}
