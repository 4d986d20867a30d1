package engine

import (
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// The longest real time between two snapshots.
const (
	heartbeat = time.Second
	anxious   = 250 * time.Millisecond // while a call is slow: people watch its seconds
	debut     = 50 * time.Millisecond  // before the first one: it is to be in the first frame
)

// A press decides when the next snapshot is made: at once if something changed,
// but not before the pace allows it; otherwise with the next heartbeat. The
// first one waits for the first relist, but not for long, so that the first
// frame of a screen is a full one wherever that is possible.
type press struct {
	seq   uint64
	dirty bool
	at    time.Time // real time of the last snapshot; of the start before the first
	slow  Flight    // the oldest call, once it takes longer than a glance
	step  Step      // in the last snapshot
}

// wait returns the real time until the next snapshot is due.
func (p *press) wait(real time.Time) time.Duration {
	rest := heartbeat
	switch {
	case p.seq == 0:
		rest = debut
	case p.dirty:
		rest = pace
	case p.slow != Flight{}:
		rest = anxious
	}
	return max(rest-real.Sub(p.at), 0)
}

// publish makes a snapshot if it is time for one.
func (d *driver) publish(now time.Time) {
	if slow := d.slow(now); slow != d.press.slow {
		d.press.slow = slow
		d.press.dirty = true
	}
	real := time.Now()
	if d.show == nil || d.press.wait(real) > 0 {
		return
	}
	d.press.seq++
	d.press.at, d.press.dirty = real, false
	s := d.snapshot(now)
	d.press.step = s.Phase.Step
	d.show(s)
}

// hurry lets the next snapshot be made without regard to the pace.
func (p *press) hurry() { p.at = time.Time{} }

// publishLast makes a snapshot if there is something in it that readers would
// never get otherwise.
func (d *driver) publishLast() {
	d.cancelSweep(d.clock.now())
	if d.press.dirty {
		d.press.hurry()
		d.publish(d.clock.now())
	}
}

// slow returns the call that has been out longest if that is long enough for
// people to be told.
func (d *driver) slow(now time.Time) Flight {
	f, out := d.ledger.oldest()
	if !out || d.clock.wait(f.Elapsed(now)) < glance {
		return Flight{}
	}
	return f
}

func (d *driver) snapshot(now time.Time) *Snapshot {
	s := &Snapshot{
		Seq:        d.press.seq,
		At:         now,
		Started:    d.started,
		Resumed:    d.resumed,
		Evidence:   d.evidence,
		Once:       d.starting,
		Release:    d.config.Release,
		Period:     d.period,
		Threshold:  d.config.Threshold,
		Timeout:    d.config.Timeout,
		Version:    d.vitals.version,
		Partial:    d.partial,
		Paused:     d.paused,
		Health:     d.health(now),
		Phase:      d.phase(now),
		Relists:    d.log.relists(),
		Failure:    d.failure,
		PodFailure: d.podFailure,
		Conditions: d.vitals.conditions,
		StatusErr:  d.vitals.failure,
		VersionErr: d.vitals.versionErr,
		Channel:    d.channel,
	}
	s.Probes = d.probes.read()
	if d.sweep != nil {
		s.Sweep = d.sweep.result()
	}
	s.Node = d.node(now)
	s.Channel.Len, s.Channel.Capacity = d.core.Len(), d.core.Capacity()
	s.Pods, s.Counts, s.Anomalies = d.pods.read()
	for _, found := range []pleg.Anomalies{d.found, d.vitals.versionFound, d.vitals.statusFound} {
		s.Anomalies = s.Anomalies.Add(found)
	}
	s.InFlight, s.Calls, s.Cost = d.ledger.read()
	return s
}

func (d *driver) phase(now time.Time) Phase {
	r := d.relist
	if r == nil {
		p := d.log.phase
		p.NextAt = d.relistDue()
		if d.paused {
			p.Step = Stopped
		}
		return p
	}
	p := Phase{Began: r.began, ListTook: r.listTook, Done: r.done, Total: r.total, OnDemand: r.onDemand()}
	switch {
	case !r.listed:
		p.Step = Listing
		p.ListTook = now.Sub(r.began)
	case r.out:
		p.Step = Inspecting
	default:
		p.Step = Stopped
	}
	return p
}
