package ui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/rewind"
)

// A Past is what was recorded of the time up to now.
type Past interface {
	// Film returns the film of it, which nobody else uses. It is called in a command.
	Film() (*rewind.Film, error)
}

// recorded is what a screen shows of a recording: of the last minutes, or in a replay of all there
// is. Zero while it is live.
type recorded struct {
	film    *rewind.Film
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

// A wish is what a key asks for: so many relists on, or a moment; if it is neither, the next moment of a recording that is played.
type wish struct {
	relists int
	at      time.Time
}

// A made is a scene, with what the panes show of one that begins anew.
type made struct {
	rewind.Scene
	pods    *model.Pods
	journal *model.Journal
}

// A pastMsg is what a command about the past has for the screen.
type pastMsg func(*Model)

// want has the screen go to another moment: the newest wish wins, and steps of a kind add up.
// From live a rewind begins.
func (m *Model) want(w wish) {
	p := &m.past
	switch {
	case m.noPast():
		return
	case p.film == nil && !p.opening && w.relists > 0:
		m.Say("this is live: " + m.Keys(keymap.RelistBefore) + " and " + m.Keys(keymap.GoToTime) + " go back")
		return
	}
	p.play.on = false
	if p.wish = p.wish.and(w); p.wish == nil {
		return
	}
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

// noPast says that there is nothing to rewind to, and reports whether that is so.
func (m *Model) noPast() bool {
	none := m.past.film == nil && m.cfg.Past == nil
	if none {
		m.Say("nothing to rewind: plegtop keeps no recording in memory (--ring 0)")
	}
	return none
}

// and returns what is wished for where next is wished for after this; nil where that is nothing.
func (w *wish) and(next wish) *wish {
	if w != nil && w.relists != 0 && next.relists != 0 {
		next.relists += w.relists
	}
	if next == (wish{}) {
		return nil
	}
	return &next
}

// rewind begins to show a film.
func (m *Model) rewind(film *rewind.Film, err error) {
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
func (w *wish) scene(ctx context.Context, f *rewind.Film, place int, at time.Time) (rewind.Scene, error) {
	switch {
	case w.relists != 0:
		return f.Relist(ctx, place, at, w.relists)
	case !w.at.IsZero():
		return f.Seek(ctx, w.at)
	}
	return f.Next(ctx)
}

// makeScene makes what panes show of a scene that begins anew: not in Update, for it may be long.
func makeScene(s rewind.Scene, keep int) *made {
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
