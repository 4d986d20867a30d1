package ui

import (
	"strconv"
	"time"

	"github.com/plegtop/plegtop/engine/replay"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// A timeBar is the line above the footer while the past is shown: all that was recorded from left
// to right, how bad it was, and what moment is shown.
type timeBar struct {
	first, last time.Time
	parts       []replay.Stretch // one for each cell
	marks       int              // of which they are
	known       int              // how many cells the scan has come to
	scanned     bool
	cursor      int
	legend      []text.Span
}

const (
	// barWhole is from which width on a time bar has all words.
	barWhole = 100
	// barWords is from which on it has any.
	barWords = 60
)

// settleBar works out the time bar for a screen of some width.
func (m *Model) settleBar() {
	p := &m.past
	if !m.barShown() {
		return
	}
	b := &p.bar
	marks, all, _ := p.film.Scanned()
	b.first, b.last = p.film.Span()
	b.legend = m.barLegend(marks, all)
	n := max(m.width-2-2*(len(b.time(b.first))+1)-legendWidth(b.legend), 1)
	if n != len(b.parts) || len(marks) != b.marks || all != b.scanned {
		b.parts, b.marks, b.scanned = replay.Stretches(marks, b.first, b.last, n), len(marks), all
		if b.known = n; !all {
			b.known = 0
			if len(marks) > 0 {
				b.known = replay.Part(b.first, b.last, marks[len(marks)-1].At, n)
			}
		}
	}
	b.cursor = -1
	if m.view.Past != "" && m.view.Seq > 0 {
		b.cursor = replay.Part(b.first, b.last, m.view.At.Round(0), n)
	}
}

// barShown reports whether the screen has a time bar.
func (m *Model) barShown() bool { return m.past.film != nil && m.height >= 4 }

// barLegend says what the signs of the bar mean, how far the scan has come, and whether the
// recording plays.
func (m *Model) barLegend(marks []replay.Mark, all bool) (legend []text.Span) {
	t, b := m.view.Theme, &m.past.bar
	say := func(st theme.Style, s string) { legend = append(legend, text.Say(st, s)) }
	if m.width < barWords {
		return nil
	}
	if m.cfg.replays() {
		say(t.Strong, m.past.playing())
	}
	if !all {
		read := 0
		if span := b.last.Sub(b.first); len(marks) > 0 && span > 0 {
			read = int(100 * marks[len(marks)-1].At.Sub(b.first) / span)
		}
		say(t.Info, "reading "+strconv.Itoa(min(max(read, 0), 99))+"%")
		return legend
	}
	track := t.Symbols.Track
	say(t.Bad, track[2*replay.Critical]+" critical")
	say(t.Warn, track[2*replay.Warning]+" warning")
	if m.width >= barWhole {
		say(t.Good, track[2*replay.Sound+1]+" events")
	}
	return legend
}

// time returns a moment as the bar names it: with its day where there is more than one.
func (b *timeBar) time(at time.Time) string {
	if last := b.last.In(b.first.Location()); last.YearDay() != b.first.YearDay() || last.Sub(b.first) > 24*time.Hour {
		return at.Format("01-02 15:04")
	}
	return at.Format(time.TimeOnly)
}

// timeBar draws it.
func (m *Model) timeBar(l *text.Line) {
	b, t := &m.past.bar, m.view.Theme
	l.Space(1)
	l.Put(t.Dim, b.time(b.first))
	l.Space(1)
	looks := [...]theme.Style{t.Dim, t.Good, t.Warn, t.Bad}
	for i, part := range b.parts {
		switch events := theme.When(part.Events > 0, 1, 0); {
		case i == b.cursor:
			l.Sign(t.Cursor, t.Symbols.Cursor)
		case i > b.known:
			l.Space(1)
		default:
			l.Sign(looks[part.Level], t.Symbols.Track[2*int(part.Level)+events])
		}
	}
	l.Space(1)
	l.Put(t.Dim, b.time(b.last))
	l.Space(2)
	l.Spans(b.legend...)
}

// legendWidth is how many cells a legend takes, with the gap before it.
func legendWidth(legend []text.Span) (n int) {
	for _, s := range legend {
		n += 2 + text.Width(s.Text)
	}
	return n
}
