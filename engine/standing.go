package engine

import (
	"fmt"
	"time"
)

// A standing is the node's Ready condition, followed over time.
type standing struct {
	since time.Time // when Ready last changed
	last  Node      // but for what moves by itself
}

// take notes what the kubelet says as of now and reports whether people should
// be told: whether more has changed than its figures.
func (s *standing) take(now time.Time, n Node) bool {
	if s.last.Reason != "" && s.last.Ready != n.Ready {
		s.since = now
	}
	n.SyncedAt, n.DownAt, n.Since, n.Message = time.Time{}, time.Time{}, time.Time{}, ""
	if n.PLEG != "" {
		n.PLEG = plegNotHealthy // without the age of the list
	}
	changed := n != s.last
	s.last = n
	return changed
}

// node returns what the modelled kubelet says of its node.
func (d *driver) node(now time.Time) Node {
	s := &d.reader
	c := chain{down: s.down(now), pleg: d.plegErr(now), runtime: s.runtimeErr, network: s.networkErr}
	n := Node{
		Known:       d.log.count > 0 && !d.vitals.statusTook.at.IsZero(),
		Since:       d.standing.since,
		RuntimeDown: c.down,
		PLEG:        c.pleg,
		RuntimeErr:  c.runtime,
		NetworkErr:  c.network,
		SyncedAt:    s.syncedAt,
		DownAt:      s.downAt(),
		LoopStopped: s.stopped,
		LoopNap:     s.nap,
		HealthzAt:   s.healthzAt(),
	}
	n.Ready, n.Reason, n.Message = c.ready()
	return n
}

// plegErr returns what the kubelet says of its PLEG; empty if that is healthy.
// That PLEG "has yet to be successful" only a kubelet that starts would say: one
// that has long been up had its last good list when the engine started, at the
// latest.
func (d *driver) plegErr(now time.Time) string {
	err := d.core.Healthy(now)
	if d.core.ListedAt().IsZero() && !d.starting {
		err = nil
		if age := now.Sub(d.started); age > d.config.Threshold {
			err = fmt.Errorf("pleg was last seen active %v ago; threshold is %v", age, d.config.Threshold)
		}
	}
	if err == nil {
		return ""
	}
	return fmt.Sprintf("%s: %v", plegNotHealthy, err)
}

// nodeDue returns when the node's standing changes though nothing happens, as
// far as no other part of the driver knows; zero if it does not.
func (d *driver) nodeDue(now time.Time) time.Time {
	if at := d.reader.downAt(); now.Before(at) {
		return at
	}
	if d.core.ListedAt().IsZero() {
		if at := d.started.Add(d.config.Threshold + 1); now.Before(at) {
			return at
		}
	}
	return time.Time{}
}
