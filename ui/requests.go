package ui

import (
	"cmp"
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/say"
)

const (
	// many is how many pods may be swept without a question.
	many = 20
	// The period of the relist can be changed by halves and doubles within these
	// bounds, or within what it was set to by hand. Below quick a runtime is asked
	// so often that a person is asked before.
	shortestPeriod = 250 * time.Millisecond
	longestPeriod  = 64 * time.Second
	quick          = time.Second // a kubelet relists so often
)

func (m *Model) relistNow() {
	m.cfg.Controls.RelistNow()
	m.Say("relisting now")
}

// changePeriod doubles or halves the period.
func (m *Model) changePeriod(longer bool) {
	if s := m.view.Latest; longer {
		m.setPeriod(max(s.Period, min(s.Period*2, longestPeriod)))
	} else {
		m.shorter()
	}
}

func (m *Model) pause() {
	defer m.expect(func(s *engine.Snapshot) { s.Paused = !s.Paused })
	if m.view.Latest.Paused {
		m.cfg.Controls.Resume()
		m.Say("relist resumed")
		return
	}
	m.cfg.Controls.Pause()
	m.Say("relist paused: no call is made, the list age grows; " + m.Keys(keymap.PauseRelist) + " resumes")
}

// expect notes what the engine was just asked for, so that a second press that
// comes before its next snapshot goes on from there.
func (m *Model) expect(change func(*engine.Snapshot)) {
	next := *m.view.Latest
	change(&next)
	m.view.Latest = &next
}

// shorter halves the period, after a question if a real runtime is asked more often
// than by a kubelet then.
func (m *Model) shorter() {
	now := m.view.Latest.Period
	d := min(now, max(now/2, shortestPeriod))
	if d < now && d < quick && !m.cfg.Source.Demo() {
		m.Open(layer.NewConfirm("Relist every "+d.String()+", more often than a kubelet does?", func(pane.Host) { m.setPeriod(d) }))
		return
	}
	m.setPeriod(d)
}

func (m *Model) setPeriod(d time.Duration) {
	if d == m.view.Latest.Period {
		m.Say("the relist period stays " + d.String())
		return
	}
	m.cfg.Controls.SetPeriod(d)
	m.expect(func(s *engine.Snapshot) { s.Period = d })
	m.Say("relist period " + d.String() + rate(d))
}

// rate says how often a relist of that period is made, beside a kubelet's.
func rate(d time.Duration) string {
	switch of := float64(quick) / float64(d); {
	case of > 1:
		return fmt.Sprintf(": %.3g times the kubelet's rate", of)
	case of < 1:
		return fmt.Sprintf(": one for every %.3g of the kubelet's", 1/of)
	}
	return ": the kubelet's rate"
}

// sweep begins a sweep, after a question if that means many calls, or cancels
// the one under way.
func (m *Model) sweep() {
	switch c := m.view.Latest.Counts; {
	case m.cancelSweep():
	case len(m.view.Latest.Pods) > many:
		question := fmt.Sprintf("Ask for every one of %d sandboxes and %d containers, 4 at a time?", c.Sandboxes, c.Containers)
		if m.view.Latest.Health.ListedAt.IsZero() {
			question = fmt.Sprintf("Ask for every one of %d sandboxes, and what the node shows, 4 at a time?", c.Sandboxes)
		}
		m.Open(layer.NewConfirm(question, func(pane.Host) { m.beginSweep() }))
	default:
		m.beginSweep()
	}
}

func (m *Model) beginSweep() {
	m.cfg.Controls.Sweep()
	m.Say("check all: asking for every sandbox and container, 4 at a time; " + m.Keys(keymap.Sweep) + " cancels")
}

// cancelSweep cancels the sweep under way, and reports whether there was one.
func (m *Model) cancelSweep() bool {
	if !say.Sweeping(m.view.Latest) {
		return false
	}
	m.cfg.Controls.CancelSweep()
	m.Say("check all cancelled")
	return true
}

// actSubject does what a key asks for of that which the cursor is on.
func (m *Model) actSubject(a keymap.Action) bool {
	s := m.active().Subject()
	led := m.view.Led && m.top() == nil && !m.moved
	if led {
		s = pane.Subject{ObjectRef: s.ObjectRef, Finding: &m.view.Answer.Finding}
	}
	switch {
	case a == keymap.Copy && led:
		m.later(pane.CopyCommand(m, m.view.Answer.Check.Command))
	case a == keymap.Detail:
		if !m.OpenSheet(s) {
			m.Say("nothing is known of what is under the cursor")
		}
	case a == keymap.Copy:
		m.later(pane.Copy(m, cmp.Or(s.ID, s.Pod.Name, string(s.Pod.UID), s.Operation)))
	case a != keymap.ReinspectPod && a != keymap.Raw:
		return false
	case s.Pod.UID == "":
		m.Say("no pod under the cursor")
	case a == keymap.ReinspectPod:
		m.cfg.Controls.Reinspect(s.Pod.UID)
		m.Say("inspecting " + s.Pod.String() + " again")
	default:
		m.askRaw(s)
	}
	return true
}

// dropRaw gives up the raw answer that is awaited, and reports whether one was.
func (m *Model) dropRaw() bool {
	if m.raw == nil {
		return false
	}
	m.raw()
	m.raw = nil
	return true
}

// askRaw asks the runtime for all it says about a pod. A second question cancels
// the first.
func (m *Model) askRaw(s pane.Subject) {
	m.dropRaw()
	ctx, cancel := context.WithCancel(m.cfg.Context)
	m.raw = cancel
	m.Say("asking the runtime about " + s.Pod.String() + "; " + m.Keys(keymap.Back) + " gives up")
	controls := m.cfg.Controls
	m.later(func() tea.Msg {
		data, err := controls.Raw(ctx, s.Pod.UID)
		return pane.Reply(func(pane.Host) {
			if ctx.Err() == nil { // else it was given up
				m.dropRaw()
				m.showRaw(s, data, err)
			}
		})
	})
}

func (m *Model) showRaw(s pane.Subject, data []byte, err error) {
	if err != nil {
		m.Say("raw answer: " + err.Error())
		return
	}
	m.flash.text = ""
	m.Open(layer.NewViewer("Raw answer: "+s.Pod.String(), string(data)))
}

// saveTape saves what is kept of the last minutes as a recording.
func (m *Model) saveTape() {
	save := m.cfg.SaveTape
	switch {
	case m.cfg.replays():
		m.Say("this is a recording already: copy its file to keep it")
		return
	case save == nil:
		m.Say("nothing is kept of the last minutes")
		return
	}
	m.later(func() tea.Msg {
		said, err := save()
		if err != nil {
			said = "not saved: " + err.Error()
		}
		return pane.Reply(func(h pane.Host) { h.Say(said) })
	})
}

// note waits for what others have to say, and says it.
func (m *Model) note() tea.Msg {
	select {
	case said := <-m.cfg.Notes:
		return pane.Reply(func(h pane.Host) {
			h.Say(said)
			m.later(m.note)
		})
	case <-m.cfg.Context.Done():
		return nil
	}
}
