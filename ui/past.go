package ui

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/replay"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/text"
)

// A Past is what was recorded of the time up to now.
type Past interface {
	// Film returns the film of it, which nobody else uses. It is called in a command.
	Film() (*replay.Film, error)
}

// recorded is what a screen shows of a recording: of the last minutes, or in a replay of all there
// is. Zero while it is live.
type recorded struct {
	film    *replay.Film
	ctx     context.Context // of all that is asked of it
	leave   context.CancelFunc
	opening bool // the film is awaited

	wish  *wish // the newest that is not under way; nil for none
	busy  bool  // one is under way
	place int   // in the marks, of what is shown; -1 where that is not known
	ahead *made // has been played and is not due yet; nil if nothing is
	play  play

	live *live // behind what is shown; nil while that is shown, and in a replay
	bar  timeBar
}

// A wish is what a key asks for: so many relists or problems on, or a moment; if it is none of
// them, the next moment of a recording that is played.
type wish struct {
	relists, problems int
	at                time.Time
}

// A made is a scene, with what the panes show of one that begins anew.
type made struct {
	replay.Scene
	pods    *model.Pods
	journal *model.Journal
}

// A pastMsg is what a command about the past has for the screen.
type pastMsg func(*Model)

// want has the screen go to another moment: the newest wish wins, and steps add up. From live a
// rewind begins.
func (m *Model) want(w wish) {
	p := &m.past
	if p.film == nil && m.cfg.Past == nil {
		m.Say("nothing to rewind: plegtop keeps no recording in memory (--ring 0)")
		return
	}
	p.play.on = false
	if was := p.wish; was != nil && w.at.IsZero() && was.at.IsZero() {
		w.relists, w.problems = w.relists+was.relists, w.problems+was.problems
		if w.relists != 0 { // of both kinds the newer counts
			w.problems = 0
		}
	}
	p.wish = &w
	if p.film == nil && !p.opening {
		p.opening = true
		from := m.cfg.Past
		m.later(func() tea.Msg {
			film, err := from.Film()
			return pastMsg(func(m *Model) { m.rewind(film, err) })
		})
	}
	m.grant()
}

// rewind begins to show a film.
func (m *Model) rewind(film *replay.Film, err error) {
	p := &m.past
	p.opening = false
	if err != nil {
		p.wish = nil
		m.Say(err.Error())
		return
	}
	p.film, p.place = film, -1
	p.ctx, p.leave = context.WithCancel(m.cfg.Context)
	ctx := p.ctx
	m.later(func() tea.Msg {
		err := film.Scan(ctx)
		return pastMsg(func(m *Model) {
			if err != nil && m.past.film == film {
				m.Say(err.Error())
			}
		})
	})
	m.scanning()
	m.grant()
}

// scanning has the screen drawn anew while the scan goes on.
func (m *Model) scanning() {
	film := m.past.film
	if film == nil {
		return
	}
	if _, all, _ := film.Scanned(); !all {
		m.later(m.tick(scanShown, func(time.Time) tea.Msg {
			return pastMsg(func(m *Model) {
				if m.past.film == film {
					m.scanning()
				}
			})
		}))
	}
}

// scanShown is how often it is shown how far a scan has come.
const scanShown = 200 * time.Millisecond

// grant has the next wish fulfilled, one at a time: that of a person, or what comes next while
// the recording plays.
func (m *Model) grant() {
	p := &m.past
	if p.film == nil || p.busy {
		return
	}
	w := p.wish
	switch {
	case w != nil:
		p.wish = nil
	case p.play.on && p.ahead == nil:
		w = new(wish)
	default:
		return
	}
	p.busy = true
	film, ctx, place, at, keep := p.film, p.ctx, p.place, m.view.At, m.cfg.EventsKept
	if p.live == nil && !m.cfg.replays() { // from the end
		_, at = film.Span()
		at = at.Add(time.Second)
	}
	m.later(func() tea.Msg {
		s, err := w.scene(ctx, film, place, at)
		scene := makeScene(s, keep)
		return pastMsg(func(m *Model) {
			if m.past.film == film {
				m.past.busy = false
				m.granted(w, scene, err)
				m.grant()
			}
		})
	})
}

// scene asks a film for what is wished for.
func (w *wish) scene(ctx context.Context, f *replay.Film, place int, at time.Time) (replay.Scene, error) {
	switch {
	case w.relists != 0:
		return f.Relist(ctx, place, at, w.relists)
	case w.problems != 0:
		return f.Problem(ctx, place, at, w.problems)
	case !w.at.IsZero():
		return f.Seek(ctx, w.at)
	}
	return f.Next(ctx)
}

// makeScene makes what panes show of a scene that begins anew: not in Update, for it may be long.
func makeScene(s replay.Scene, keep int) *made {
	m := &made{Scene: s}
	if s.Reset && len(s.Updates) > 0 {
		m.pods, m.journal = new(model.Pods), model.NewJournal(keep)
		for _, u := range s.Updates {
			m.journal.Observe(u.Update)
		}
		last := s.Updates[len(s.Updates)-1]
		m.pods.Observe(last.Snapshot, last.Standings())
	}
	return m
}

// granted shows what a wish has come to, or when that is due.
func (m *Model) granted(w *wish, scene *made, err error) {
	p := &m.past
	switch next := *w == (wish{}); {
	case errors.Is(err, io.EOF):
		p.play.on = false
		m.Say("the recording ends here")
	case errors.Is(err, replay.ErrNoProblem):
		m.Say("no problem began " + map[bool]string{true: "before", false: "after"}[w.problems < 0])
	case err != nil:
		p.play.on = false
		m.Say(err.Error())
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
		m.keepLive()
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
}

// keepLive keeps what is live behind the past. What comes is held from now on, as if the screen
// were frozen.
func (m *Model) keepLive() {
	m.past.live = &live{m.view.Pods, m.view.Journal, m.found, m.view.Snapshot}
	m.view.Frozen = false
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
			v.Past += " " + v.At.Format(time.DateTime)
		}
	case m.past.live != nil:
		v.Past = "REWIND " + text.Age(v.Latest.At.Sub(v.At)) + " ago"
	}
}
