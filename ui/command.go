package ui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/text"
)

// A savedMsg says where the events went; a rawMsg is the runtime's answer.
type (
	savedMsg struct {
		path   string
		events int
		err    error
	}
	rawMsg struct {
		asked int // which question this answers
		pod   pleg.PodRef
		data  []byte
		err   error
	}
)

// actCommand does what needs time or the terminal, in a command.
func (m *Model) actCommand(a keymap.Action) tea.Cmd {
	switch a {
	case keymap.Save:
		return m.save()
	case keymap.Copy:
		return m.copy()
	case keymap.Raw:
		return m.askRaw()
	}
	return nil
}

// save writes the events that are shown as NDJSON, gaps included.
func (m *Model) save() tea.Cmd {
	if m.cfg.Save == nil || m.cfg.AppendEvent == nil || m.cfg.AppendGap == nil {
		m.say("events cannot be saved here")
		return nil
	}
	rows := make([]eventRow, len(m.events.shown))
	for i := range rows {
		rows[i] = *m.events.at(i)
	}
	if len(rows) == 0 {
		m.say("no events to save")
		return nil
	}
	cfg, name := m.cfg, saveName(m.cfg.Source.Node, m.latest.At)
	return func() tea.Msg {
		path, err := cfg.Save(name, ndjson(cfg, rows))
		return savedMsg{path, len(rows), err}
	}
}

// ndjson returns rows as one line of JSON each.
func ndjson(cfg Config, rows []eventRow) []byte {
	var data []byte
	for _, r := range rows {
		if r.gap > 0 {
			data = cfg.AppendGap(data, r.SeenAt, r.gap)
		} else {
			data = cfg.AppendEvent(data, r.Event)
		}
	}
	return data
}

// saveName is a file's name that sorts by time and needs no quotes in a shell.
func saveName(node string, at time.Time) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, node[:min(len(node), 64)])
	return "plegtop-" + safe + "-" + at.UTC().Format("20060102T150405Z") + ".ndjson"
}

func (m *Model) saved(msg savedMsg) {
	if msg.err != nil {
		m.say("not saved: " + msg.err.Error())
		return
	}
	m.say("saved " + text.Count(uint64(msg.events)) + " lines to " + msg.path)
}

// copy puts the name of what the cursor is on into the clipboard; of a
// container or sandbox, its id.
func (m *Model) copy() tea.Cmd {
	if f := m.seen(); f != nil {
		return m.copyStep(f)
	}
	what := m.copied()
	if what == "" {
		m.say("nothing to copy here")
		return nil
	}
	m.say("copied " + what)
	return tea.SetClipboard(what)
}

// copyStep puts the next safe command of a finding into the clipboard. What the
// runtime may have put into it must not do more than a person can read there.
func (m *Model) copyStep(f *diagnose.Finding) tea.Cmd {
	switch command := safeCommand(f); {
	case command == "":
		m.say("no safe command to copy here")
		return nil
	case text.CleanLong(command) != command:
		m.say("not copied: a name in the command holds characters that cannot be seen")
		return nil
	default:
		m.say("copied " + command)
		return tea.SetClipboard(command)
	}
}

func (m *Model) copied() string {
	if s, _ := m.onTop(); s == nil && m.focus == podsPane {
		if row, ok := m.pods.current(); ok && row.tree >= 0 {
			return row.place().id
		}
	}
	ref, ok := m.subject()
	if !ok {
		return ""
	}
	if ref.Name != "" {
		return ref.Name
	}
	return string(ref.UID)
}

// askRaw asks the runtime for all it says about the pod under the cursor. A
// second question cancels the first.
func (m *Model) askRaw() tea.Cmd {
	ref, ok := m.subject()
	if !ok {
		m.say("no pod under the cursor")
		return nil
	}
	m.dropRaw()
	ctx, cancel := context.WithCancel(m.cfg.Context)
	m.raw = cancel
	m.asked++
	m.say("asking the runtime about " + ref.String() + "; " + m.keys(keymap.Back) + " gives up")
	controls, asked := m.cfg.Controls, m.asked
	return func() tea.Msg {
		data, err := controls.Raw(ctx, ref.UID)
		return rawMsg{asked, ref, data, err}
	}
}

// dropRaw gives up a raw answer that is awaited, and reports whether one was.
func (m *Model) dropRaw() bool {
	if m.raw == nil {
		return false
	}
	m.raw()
	m.raw = nil
	return true
}

func (m *Model) showRaw(msg rawMsg) {
	if m.raw == nil || msg.asked != m.asked {
		return // given up
	}
	m.dropRaw()
	if msg.err != nil {
		m.say("raw answer: " + msg.err.Error())
		return
	}
	m.flash.text = ""
	m.openViewer(msg.pod.String(), string(msg.data))
}

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
