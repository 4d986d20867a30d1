package ui

import (
	"slices"

	"github.com/plegtop/plegtop/ui/director"
	"github.com/plegtop/plegtop/ui/header"
	"github.com/plegtop/plegtop/ui/pane"
)

// A box is where a pane is: a title, and the lines below it.
type box struct {
	pane       int // index
	x, y, w, h int
	tabs       bool // its title names the panes that are not on the screen
}

// A layout says where everything is on a screen of one size.
type layout struct {
	tiny   bool // so small a screen that it has no panes
	header int  // lines
	said   int  // lines below the header: what the script of a demo does
	alerts int  // lines below that
	bar    int  // lines above the last: the time bar
	body   int  // the first line of the panes
	lines  int  // of the body
	boxes  []box

	caption director.Caption // what the script of a demo does now; zero if that is not shown
}

// Sizes from which the screen has more than one pane. The first one is as wide as the
// screen, so that more width never shows fewer of its columns.
const (
	wideWidth, wideHeight = 190, 24 // the first pane over all others, in two columns
	tallWidth, tallHeight = 90, 32  // the first pane over another one
	leastWidth, leastBody = 60, 14  // below: lines of text
	fullHeader            = 20      // lines from which the header is whole
	leastBelow            = 7       // lines below the most that an answer takes: a pane of some rows, and the footer
	withTime              = 40      // lines from which a tall screen has a pane that draws time
	fullCaption           = 30      // lines from which a caption has all of its three
)

// A form is how the panes share a screen.
type form uint8

const (
	tiny   form = iota // no room for panes
	single             // one at a time
	tall               // the first over another one
	wide               // as many as there is room for
)

func (m *Model) small() bool { return m.width < leastWidth || m.height < leastBody }

func (m *Model) form() form {
	w, h := m.width, m.height
	switch {
	case m.small() && !m.full:
		return tiny
	case m.full:
		return single
	case m.view.Led && w < wideWidth: // the pods that are affected are few
		return tall
	case w < tallWidth || w < wideWidth && h < tallHeight || h < wideHeight:
		return single
	case w >= wideWidth:
		return wide
	}
	return tall
}

// settle puts the pods in order, gives all panes the view as it is now, and works out where they are: how wide they
// are follows from the screen alone, how high from what they want in that width.
func (m *Model) settle() {
	m.order()
	if d := m.cfg.Director; d != nil {
		m.view.Source.Still = d.State().Frozen
	}
	m.give(false)
	m.preview = m.followed()
	m.arrange()
	m.settleBar()
	m.give(true)
	m.showPreview()
}

// A place is how large a pane is, without its title and margins.
type place struct{ w, h int }

// give gives all panes the view in the width that they have: as high as they were given it
// last, or, once it is known how high they are now, those that are higher or lower than
// that. Those below a layer are not seen.
func (m *Model) give(arranged bool) {
	covered, was := m.top() != nil, m.given
	m.given = m.given[:0]
	one := func(p pane.Pane, w, h int) {
		now := place{max(w-2, 1), h}
		if !arranged || was[len(m.given)] != now {
			p.Observe(&m.view, now.w, h)
		}
		m.given = append(m.given, now)
	}
	for i, p := range m.panes {
		if b := m.layout.find(i); b != nil && !covered {
			one(p, m.widthOf(i), b.h-1)
		} else {
			one(p, m.width, 0)
		}
	}
	for _, p := range m.layers {
		h := m.layout.lines - 1
		if p.Info().Foot {
			h = 1
		}
		one(p, m.width, h)
	}
}

// arrange works out where everything is. Which panes there is room for is decided with as
// many alerts as there may be, since the alerts are those of what no pane tells.
func (m *Model) arrange() {
	l := layout{tiny: m.form() == tiny && m.top() == nil, caption: m.caption()}
	switch {
	case l.caption == director.Caption{}:
	case m.height < fullCaption:
		l.said = 1
	default:
		l.said = 3
	}
	if m.barShown() {
		l.bar = 1
	}
	room := m.headerRoom(nil)
	if l.header = room.Lines; room.Led { // an answer is seldom as long as it may be
		m.header.Observe(&m.view, room)
		l.header = m.header.Height()
	}
	most := m.alertRoom()
	l.divide(m.height, most)
	m.place(&l, func(int) bool { return true })
	boxes := l.boxes
	seen := func(i int) bool { return slices.ContainsFunc(boxes, func(b box) bool { return b.pane == i }) }
	m.header.Observe(&m.view, m.headerRoom(seen))
	l.header = m.header.Height()
	l.divide(m.height, min(len(m.header.Alerts()), most))
	m.place(&l, seen)
	m.layout = l
}

// divide gives so many lines to alerts, and the panes what is left.
func (l *layout) divide(height, alerts int) {
	l.alerts, l.body = alerts, l.header+l.said+alerts
	l.lines = max(0, height-l.body-1-l.bar)
}

// caption returns what the script of a demo does now, which may be something else a moment
// later; zero if that is not to be shown.
func (m *Model) caption() director.Caption {
	if !m.captions || m.cfg.Director == nil || m.past.live != nil || m.height < leastBody {
		return director.Caption{}
	}
	return m.cfg.Director.State().Caption
}

// headerRoom says what the header may take, and what is said below it by the panes that are
// seen. While the answer to what is wrong comes first it has about half of the screen.
func (m *Model) headerRoom(seen func(pane int) bool) header.Room {
	r := header.Room{Width: m.width, Rows: true, Led: m.view.Led}
	switch {
	case m.height < leastBody:
		r.Lines = min(2, max(0, m.height-4))
	case m.height < fullHeader:
		r.Lines = header.Least
	case r.Led:
		r.Lines, r.Most = m.height*3/5-1, m.height-leastBelow
	default: // a warning takes no more of it than it needs: what checks it, what ends it, and the risk
		r.Lines = m.height * 2 / 5
		r.Most = r.Lines + 2
	}
	if p := m.top(); p != nil {
		r.Led, r.Lines, r.Opened = false, min(r.Lines, header.Least+1), p.Info().Name
		if f := p.Subject().Finding; f != nil {
			r.Opened = f.Summary
		}
		return r
	}
	for i, p := range m.panes {
		r.Told = r.Told || seen != nil && seen(i) && p.Info().Tells
	}
	return r
}

// alertRoom is how many lines of alerts there is room for. A layer leaves room for
// the worst one and for a sweep; a small screen has none.
func (m *Model) alertRoom() int {
	if m.small() {
		return 0
	}
	most := 5
	if m.top() != nil {
		most = 2
	}
	return min(max(0, (m.height-16)/4+1), most)
}

// columns returns how wide the two columns of a wide screen are.
func (m *Model) columns() (left, right int) {
	right = max(80, m.width*42/100)
	return m.width - right - 1, right
}

// widthOf returns how wide a pane is where it is seen.
func (m *Model) widthOf(i int) int {
	left, right := m.columns()
	switch {
	case i == 0 || m.form() != wide:
		return m.beside()
	case m.panes[i].Info().Wide:
		return left
	}
	return right
}
