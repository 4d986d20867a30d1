package engine

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// onDemand is the first release that relists one pod alone.
const onDemand pleg.Release = 36

// asked is what was asked for and is not done yet.
type asked struct {
	relist    bool
	reinspect []pleg.UID
}

func (a *asked) any() bool { return a.relist || len(a.reinspect) > 0 }

// add adds what is not in a yet.
func (a *asked) add(b asked) {
	a.relist = a.relist || b.relist
	for _, uid := range b.reinspect {
		if !slices.Contains(a.reinspect, uid) {
			a.reinspect = append(a.reinspect, uid)
		}
	}
}

// next returns the next pod to reinspect.
func (a *asked) next() (pleg.UID, bool) {
	if len(a.reinspect) == 0 {
		return "", false
	}
	uid := a.reinspect[0]
	a.reinspect = a.reinspect[1:]
	return uid, true
}

// heed takes over what was asked for since the last turn.
func (d *driver) heed(now time.Time) {
	w := d.requests.take()
	if w.paused != d.paused {
		d.pause(now, w.paused)
	}
	if w.period != 0 && w.period != d.period {
		d.period = w.period
		d.log.schedule(d.period)
		d.press.dirty = true
	}
	d.asked.add(asked{relist: w.relist})
	d.reinspect(w)
	switch w.sweep {
	case sweepBegins:
		d.askSweep(now)
	case sweepEnds:
		d.cancelSweep(now)
	}
}

// pause begins or ends a pause. What was asked for before it waits for its end,
// and comes then before what was asked for in it and is not done.
func (d *driver) pause(now time.Time, paused bool) {
	d.paused, d.resumed = paused, time.Time{}
	if !paused {
		d.resumed = now
	}
	d.reader.hold(now, paused)
	d.press.dirty = true
	if !paused {
		d.deferred.add(d.asked)
		d.asked, d.deferred = d.deferred, asked{}
		return
	}
	d.asked, d.deferred = asked{}, d.asked
	if d.relist != nil && !d.relist.onDemand() {
		d.relist.asked = false
	}
}

func (d *driver) reinspect(w wishes) {
	for _, uid := range w.reinspect {
		if _, known := d.pods.byUID[uid]; known {
			d.asked.add(asked{reinspect: []pleg.UID{uid}})
		}
	}
}
