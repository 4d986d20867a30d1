package ui

import (
	"errors"
	"io"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// granted shows what a wish has come to, or when that is due.
func (m *Model) granted(w *wish, scene *made, err error) {
	p := &m.past
	switch next := *w == (wish{}); {
	case errors.Is(err, io.EOF):
		p.play.on = false
		m.Say("the recording ends here")
	case err != nil:
		p.play.on = false
		m.Say(theme.When(next, "the recording ends here: ", "") + err.Error())
		if m.view.Seq == 0 {
			m.found.Headline.Text = err.Error()
			m.find()
		}
	case next:
		m.due(scene)
	case len(scene.Updates) == 0 && w.relists != 0 && p.ahead == nil:
		m.Say(map[bool]string{true: "the recording begins here", false: "no relist has ended after this in the recording"}[w.relists < 0])
	default:
		m.showScene(scene)
		if first, _ := p.film.Span(); !w.at.IsZero() && w.at.Before(first.Add(-time.Second)) {
			m.Say("the recording begins here")
		}
	}
	if p.live == nil && !m.cfg.replays() && p.wish == nil { // nothing was shown of the past
		m.leavePast()
	}
}

// showScene shows a moment of the past.
func (m *Model) showScene(scene *made) {
	p, v := &m.past, &m.view
	if first := p.ahead; first != nil && !scene.Reset { // which the film believes to be shown
		p.ahead = nil
		m.showScene(first)
	}
	p.ahead, p.place = nil, scene.Place
	if p.live == nil && !m.cfg.replays() {
		p.live = &live{v.Pods, v.Journal, m.found, v.Snapshot, v.Frozen} // what comes is held from now on, as if the screen were frozen
		v.Frozen = false
	}
	if scene.journal != nil {
		m.swap(scene.pods, scene.journal)
	}
	for i, u := range scene.Updates {
		if last := i+1 == len(scene.Updates); last {
			v.Snapshot, m.found = u.Snapshot, u
			v.Pods.Observe(u.Snapshot, u.Standings())
			v.Axis.Follow(u.Snapshot.At)
		}
		if scene.journal == nil {
			v.Journal.Observe(u.Update)
		}
	}
	if m.cfg.replays() {
		v.Latest = v.Snapshot
	}
	m.find()
	m.badge()
}

// swap shows other pods and another journal, as what a person has chosen says. What panes have
// made of those before is of no use.
func (m *Model) swap(pods *model.Pods, journal *model.Journal) {
	v := &m.view
	pods.Changed, journal.Version = v.Pods.Changed+1, v.Journal.Version+1
	v.Pods, v.Journal = pods, journal
	m.refilter()
}

// live is what a screen shows while it is live.
type live struct {
	pods     *model.Pods
	journal  *model.Journal
	found    diagnose.Update
	snapshot *engine.Snapshot
	frozen   bool
}

// leavePast returns to live, if that is not shown, and reports whether it was not.
func (m *Model) leavePast() bool {
	p := &m.past
	if m.cfg.replays() || p.film == nil {
		return false
	}
	p.leave()
	kept := p.live
	m.past, m.view.Past = recorded{}, ""
	if kept == nil {
		return true
	}
	m.swap(kept.pods, kept.journal)
	m.found, m.view.Snapshot = kept.found, kept.snapshot
	m.view.Axis.Follow(m.view.At)
	m.find()
	if m.view.Frozen = kept.frozen; kept.frozen {
		m.Say("back at the frozen screen; " + m.Keys(keymap.Freeze) + " thaws it")
		return true
	}
	m.catchUp("live again")
	return true
}

// badge says in the header which moment is shown.
func (m *Model) badge() {
	v := &m.view
	switch {
	case m.cfg.replays():
		v.Past = "REPLAY"
		if v.Snapshot.Seq > 0 {
			v.Past += " " + v.At.Local().Format(time.DateTime)
		}
	case m.past.live != nil:
		v.Past = "REWIND " + text.Age(v.Latest.At.Sub(v.At)) + " ago"
	}
}
