package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// mode is what the machine makes of the runtime's event stream, beside what the core does.
type mode struct {
	attempts int       // in a row to have a stream that did not last
	reason   string    // why the stream is given up for good; empty if it is not
	touchAt  time.Time // when the cache's time moves next
	asks     asks

	applied, ignored, asked, repeated uint64
}

// mode returns what is made of the stream: nothing by a look that is made once.
func (p Policy) mode(c Config) pleg.Mode {
	if p.Once {
		return pleg.Generic
	}
	return c.Mode
}

// applyStream takes in one event of the runtime's stream.
func (m *machine) applyStream(e SourceEvent) {
	if m.core.Mode() == pleg.Generic {
		return
	}
	out := m.core.Apply(m.now, e.Upstream)
	if out.Ignored != "" {
		m.mode.ignored++
		return
	}
	m.mode.applied++
	if out.Relist != "" {
		m.mode.asked++
		m.mode.asks.add(ask{e.Status.PodRef, m.now})
	}
	if m.core.Evented() {
		m.pods.streamed(m.core, e.Upstream)
		m.release()
	}
}

// streamUp says that the runtime's stream has been open for a second: what failed before
// does not count any more.
func (m *machine) streamUp() { m.mode.attempts = 0 }

// streamBroke says that the runtime's stream is over, though we did not end it. It
// returns whether the mode gives it up for good, and why. Where the mode goes by the
// stream a relist makes up for what was lost. (kubelet 1.36, EventedPLEG.watchEventsChannel)
func (m *machine) streamBroke(err error, notEnabled bool) (giveUp bool, reason string) {
	if m.core.Mode() == pleg.Generic {
		return false, ""
	}
	if m.pause.on {
		m.pause.deferred.relist = true
	} else {
		m.wanted.relist = true
	}
	m.mode.attempts++
	if m.core.Mode() == pleg.Preview || m.mode.attempts < pleg.StreamAttempts && !notEnabled {
		return false, ""
	}
	m.mode.reason = gaveUp(err, notEnabled, m.mode.attempts)
	return true, m.mode.reason
}

// gaveUp says in plain words why a stream is given up.
func gaveUp(err error, notEnabled bool, attempts int) string {
	switch {
	case errors.Is(err, call.ErrUnimplemented):
		return "the runtime has no event stream"
	case notEnabled:
		return "the runtime ends its event stream at once: it is switched off there"
	}
	return fmt.Sprintf("the event stream broke %d times in a row: %v", attempts, err)
}

// reopensAtOnce reports whether the mode has a stream opened again without a wait.
func (m *machine) reopensAtOnce() bool { return m.core.Evented() }

// relistPeriod returns the time from the end of one relist to the start of the next: the
// kubelet's where it goes by the stream, whatever people asked for.
func (m *machine) relistPeriod() time.Duration {
	if m.core.Evented() {
		return pleg.EventedPeriod
	}
	return m.period
}

// advance moves the cache's time, and falls back from a stream that was given up once the
// relist that its last loss has asked for is over: the kubelet waits for that.
func (d *mode) advance(m *machine) {
	if d.reason != "" && m.core.Mode() != pleg.Generic && m.relists.now == nil && !m.wanted.relist && !m.pause.deferred.relist {
		m.core.FallBack()
		m.relists.schedule(m.relistPeriod())
		m.changed = true
	}
	if m.core.Evented() && !m.now.Before(d.touchAt) {
		m.core.Touch(m.now)
		d.touchAt = m.now.Add(pleg.TouchEvery)
	}
}

// due returns when the cache's time moves next; zero if it does not by itself.
func (d *mode) due(m *machine) time.Time {
	if !m.core.Evented() {
		return time.Time{}
	}
	return d.touchAt
}

func (m *machine) modeState() ModeState {
	d := &m.mode
	s := ModeState{
		Mode: m.core.Mode(), Asked: m.config.Mode, Attempts: d.attempts,
		Applied: d.applied, Ignored: d.ignored, Asks: d.asked, AsksLost: d.asks.lost, Repeated: d.repeated,
	}
	switch {
	case s.Mode == s.Asked:
	case d.reason != "":
		s.Reason = d.reason
	default:
		s.Reason = fmt.Sprintf("kubelet %v knows no event stream", m.config.Release)
	}
	return s
}

// verdict returns what the kubelet says of its PLEG by both of its health checks; nil if
// that is healthy.
func (m *machine) verdict(now time.Time) error {
	err, evented := m.core.Healthy(now), m.core.HealthyEvented(now)
	if err == nil {
		err = evented
	}
	return err
}

// eventedErr returns what the kubelet says of its second PLEG, which has a health check of
// its own; empty if that is healthy, or there is none.
func (m *machine) eventedErr(now time.Time) string {
	if err := m.core.HealthyEvented(now); err != nil {
		return "EventedPLEG is not healthy: " + err.Error()
	}
	return ""
}
