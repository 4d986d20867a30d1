package ui

import (
	"slices"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/rewind"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// play is how a recording is played.
type play struct {
	on    bool
	times float64 // as fast as it was recorded
	count int     // of the starts
}

const (
	slowest, fastest = 0.25, 64
	// longestGap is how long a screen stands still where nothing was recorded: plegtop was
	// stopped, or another run begins.
	longestGap = 3 * time.Second
)

// replays reports whether the screen shows a recording and nothing live.
func (c *Config) replays() bool { return c.Film != nil }

// beginReplay begins to show the recording of a rewind.
func (m *Model) beginReplay() {
	at := m.cfg.At
	m.past.play = play{on: at.IsZero(), times: 1}
	if at.IsZero() {
		at, _ = m.cfg.Film.Span()
	}
	m.past.wish = &wish{at: at}
	m.rewind(m.cfg.Film, nil)
}

// playOn plays the recording, or has it stand still.
func (m *Model) playOn() {
	p := &m.past.play
	p.on = !p.on
	p.count++
	if ahead := m.past.ahead; p.on && ahead != nil {
		m.due(ahead)
	}
	m.grant()
}

// speed plays faster or slower.
func (m *Model) speed(times float64) {
	p := &m.past.play
	if p.times*times < slowest || p.times*times > fastest {
		m.Say("the recording goes no " + map[bool]string{true: "faster", false: "slower"}[times > 1])
		return
	}
	p.times *= times
	if m.past.ahead != nil && p.on {
		p.count++
		m.due(m.past.ahead)
	}
}

// due shows the next moment of a recording when its time has come.
func (m *Model) due(scene *made) {
	p := &m.past
	if len(scene.Updates) == 0 {
		return
	}
	p.ahead = scene
	count, film := p.play.count, p.film
	wait := time.Duration(float64(scene.Updates[0].Snapshot.At.Round(0).Sub(m.view.At.Round(0))) / p.play.times)
	m.later(m.tick(min(max(wait, 0), longestGap), func(time.Time) tea.Msg {
		return pastMsg(func(m *Model) {
			if p := &m.past; p.film == film && p.ahead == scene && p.play.on && p.play.count == count {
				p.ahead = nil
				m.showScene(scene)
				m.grant()
			}
		})
	}))
}

// timePrompt asks for a time to go to.
func (m *Model) timePrompt() {
	if m.noPast() {
		return
	}
	p := layer.NewPrompt("go to time", "")
	p.Hint = "such as " + rewind.Times
	p.Accepted = func(_ pane.Host, s string) error {
		first, last := m.span()
		at, err := rewind.ParseTime(s, first, last)
		if err == nil {
			m.want(wish{at: at})
		}
		return err
	}
	m.Open(p)
}

// span returns from when to when there is a past.
func (m *Model) span() (first, last time.Time) {
	if f := m.past.film; f != nil {
		return f.Span()
	}
	return time.Time{}, m.view.Latest.At.Round(0)
}

// asks are the actions that want something of the engine, or have the screen stand still.
var asks = map[keymap.Action]bool{
	keymap.PauseRelist: true, keymap.RelistNow: true, keymap.ReinspectPod: true, keymap.Sweep: true, keymap.PeriodUp: true, keymap.PeriodDown: true,
	keymap.EventSources: true, keymap.Raw: true, keymap.Freeze: true,
}

// gone says of an action that wants something of the engine that this is the past, and reports
// whether it is.
func (m *Model) gone(a keymap.Action) bool {
	switch {
	case !asks[a] || m.view.Past == "":
		return false
	case m.cfg.replays():
		m.Say(m.instead(a))
	case a == keymap.Freeze:
		m.Say("this is the past, which stands still: " + m.Keys(keymap.Back) + " returns to live")
	default:
		m.Say("this is the past: " + m.Keys(keymap.Back) + " returns to live, where that can be asked for")
	}
	return true
}

// instead says why a recording cannot do what an action wants of an engine, and what can be done.
func (m *Model) instead(a keymap.Action) string {
	const is = "this is a recording: "
	switch a {
	case keymap.Freeze:
		if m.past.play.on {
			return is + m.Keys(keymap.Play) + " has it stand still"
		}
		return "this is a recording that stands still: " + m.Keys(keymap.Play) + " plays it"
	case keymap.PauseRelist:
		return "a recording has no relist to pause; " + m.Keys(keymap.Play) + ": stand still, or play"
	case keymap.RelistNow:
		return is + m.Keys(keymap.RelistAfter) + " goes to the next relist"
	case keymap.PeriodUp, keymap.PeriodDown:
		return "the period of a recording stays; " + m.Keys(keymap.PlaySlower) + " " + m.Keys(keymap.PlayFaster) + ": how fast it plays"
	case keymap.EventSources:
		return is + "event sources are as they were; " + m.Keys(keymap.Node) + " shows them"
	}
	return is + "nobody can be asked; " + m.Keys(keymap.Detail) + " shows what was known"
}

// playing says how a recording is played.
func (p *recorded) playing() string {
	switch {
	case !p.play.on:
		return "paused"
	case p.play.times == 1:
		return "playing"
	case p.play.times < 1:
		return "playing x1/" + strconv.FormatFloat(1/p.play.times, 'f', -1, 64)
	}
	return "playing x" + strconv.FormatFloat(p.play.times, 'f', -1, 64)
}

// pastKeys are the keys that are named while the past is shown: those of it first.
func (m *Model) pastKeys() []keymap.Entry {
	all := []keymap.Action{keymap.RelistBefore, keymap.RelistAfter, keymap.GoToTime, keymap.Back}
	if m.cfg.replays() {
		all = append([]keymap.Action{keymap.Play, keymap.PlaySlower, keymap.PlayFaster}, all[:3]...)
	}
	for _, a := range m.active().Info().Footer {
		if !slices.Contains(all, a) && !asks[a] && (a != keymap.Fold || !m.cfg.replays()) { // whose key plays
			all = append(all, a)
		}
	}
	keys := m.cfg.Keys.Entries(all)
	for i := range keys {
		if keys[i].Action == keymap.Back && len(m.layers) == 0 {
			keys[i].Short = "live"
		}
	}
	return keys
}

// A timeBar is the line above the footer while the past is shown: all that was recorded from left
// to right, how bad it was, and what moment is shown.
type timeBar struct {
	first, last time.Time
	parts       []rewind.Stretch // one for each cell
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
		b.parts, b.marks, b.scanned = rewind.Stretches(marks, b.first, b.last, n), len(marks), all
		if b.known = n; !all {
			b.known = 0
			if len(marks) > 0 {
				b.known = rewind.Part(b.first, b.last, marks[len(marks)-1].At, n)
			}
		}
	}
	b.cursor = -1
	if m.view.Past != "" && m.view.Seq > 0 {
		b.cursor = rewind.Part(b.first, b.last, m.view.At.Round(0), n)
	}
}

// barShown reports whether the screen has a time bar.
func (m *Model) barShown() bool { return m.past.film != nil && m.height >= 4 }

// barLegend says what the signs of the bar mean, how far the scan has come, and whether the
// recording plays.
func (m *Model) barLegend(marks []rewind.Mark, all bool) (legend []text.Span) {
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
	say(t.Bad, track[2*rewind.Critical]+" critical")
	say(t.Warn, track[2*rewind.Warning]+" warning")
	if m.width >= barWhole {
		say(t.Good, track[2*rewind.Sound+1]+" events")
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
