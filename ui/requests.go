package ui

import (
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/keymap"
)

// many is how many pods may be swept without a question.
const many = 20

// The period of the relist can be changed within these bounds, by halves and
// doubles.
const (
	shortestPeriod = 250 * time.Millisecond
	longestPeriod  = 64 * time.Second
)

// actEngine makes a request of the engine, which returns at once.
func (m *Model) actEngine(a keymap.Action) bool {
	c := m.cfg.Controls
	switch a {
	case keymap.PauseRelist:
		m.pause()
	case keymap.RelistNow:
		c.RelistNow()
		m.say("relisting now")
	case keymap.ReinspectPod:
		m.reinspect()
	case keymap.Sweep:
		m.sweep()
	case keymap.PeriodUp:
		m.setPeriod(m.latest.Period * 2)
	case keymap.PeriodDown:
		m.setPeriod(m.latest.Period / 2)
	default:
		return false
	}
	return true
}

func (m *Model) pause() {
	defer m.expect(func(s *engine.Snapshot) { s.Paused = !s.Paused })
	if m.latest.Paused {
		m.cfg.Controls.Resume()
		m.say("relist resumed")
		return
	}
	m.cfg.Controls.Pause()
	m.say("relist paused: no call is made, the list age grows; " + m.keys(keymap.PauseRelist) + " resumes")
}

// expect notes what the engine was just asked for, so that a second press that
// comes before its next snapshot goes on from there.
func (m *Model) expect(change func(*engine.Snapshot)) {
	next := *m.latest
	change(&next)
	m.latest = &next
}

func (m *Model) reinspect() {
	ref, ok := m.subject()
	if !ok {
		m.say("no pod under the cursor")
		return
	}
	m.cfg.Controls.Reinspect(ref.UID)
	m.say("inspecting " + ref.String() + " again")
}

func (m *Model) setPeriod(d time.Duration) {
	d = max(shortestPeriod, min(d, longestPeriod))
	m.cfg.Controls.SetPeriod(d)
	m.expect(func(s *engine.Snapshot) { s.Period = d })
	m.say("relist period " + d.String())
}
