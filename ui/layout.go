package ui

import (
	"slices"

	"github.com/plegtop/plegtop/keymap"
)

// A pane is a part of the screen that can have the keys.
type pane uint8

const (
	podsPane pane = iota
	eventsPane
	callsPane
	findingsPane
	panes
)

var (
	paneNames   = [panes]string{"Pods", "Events", "Calls", "Findings"}
	paneActions = [panes]keymap.Action{keymap.Pane(1), keymap.Pane(2), keymap.Pane(3), keymap.Pane(4)}
)

// A box is where a pane is: a title, the heads of its columns, and rows.
type box struct {
	pane       pane
	x, y, w, h int
	tabs       bool // its title names the panes that are not on the screen
}

// A layout says where everything is on a screen of one size.
type layout struct {
	tiny   bool // so small a screen that it has no panes
	header int  // lines
	alerts int  // lines below the header
	found  int  // lines that the findings could make use of
	body   int  // the first line of the panes
	lines  int  // of the body
	boxes  [panes]box
	n      int // boxes in use
}

// shown returns the boxes in use, from left to right and from top to bottom.
func (l *layout) shown() []box { return l.boxes[:l.n] }

func (l *layout) add(b box) {
	l.boxes[l.n] = b
	l.n++
}

// Sizes from which the screen has more than one pane.
const (
	wideWidth, wideHeight = 160, 24 // pods left, events over calls right
	tallWidth, tallHeight = 90, 32  // pods over events
	leastWidth, leastBody = 60, 14  // below: lines of text
)

// refresh works out anew what lies where, after the size, the focus or what is open
// has changed.
func (m *Model) refresh() {
	m.alert()
	m.arrange()
	m.fillSheets()
}

// arrange works out where everything is. It is called whenever the size, the
// focus or the number of alerts has changed.
func (m *Model) arrange() {
	l := layout{alerts: m.alertLines(), found: m.findings.need()}
	l.tiny = m.form() == tiny
	l.header = min(headerLines, max(0, m.height-1))
	if m.small() {
		l.header, l.alerts = min(1, max(0, m.height-4)), 0
	}
	l.body = l.header + l.alerts
	l.lines = max(0, m.height-l.body-1)
	m.place(&l)
	m.layout = l
	for _, b := range l.shown() {
		m.resize(b)
	}
	for _, s := range []*sheet{&m.detail.sheet, &m.finding.sheet, &m.node.sheet} {
		s.resize(l.lines - 1)
	}
}

// A form is how the panes share a screen.
type form uint8

const (
	tiny   form = iota // no room for panes
	single             // one at a time
	tall               // the pods over another one
	wide               // the pods beside all others
)

func (m *Model) form() form {
	w, h := m.width, m.height
	switch {
	case m.small() && !m.full:
		return tiny
	case m.full || w < tallWidth || w < wideWidth && h < tallHeight || h < wideHeight:
		return single
	case w >= wideWidth:
		return wide
	}
	return tall
}

// shows reports whether p is among the panes that have room on the screen.
func (m *Model) shows(p pane) bool {
	switch m.form() {
	case single:
		return p == m.focus
	case tall:
		return p == podsPane || p == m.under
	case wide:
		return true
	}
	return false
}

func (m *Model) small() bool { return m.width < leastWidth || m.height < leastBody }

// alertLines is how many lines the alerts have.
func (m *Model) alertLines() int { return min(len(m.alerts), m.alertRoom()) }

// alertRoom is how many lines of alerts there is room for. A sheet leaves room for
// the worst one and for a sweep.
func (m *Model) alertRoom() int {
	most := 5
	if s, _ := m.onTop(); s != nil {
		most = 2
	}
	return min(max(0, (m.height-16)/4+1), most)
}

// place puts the panes into the body.
func (m *Model) place(l *layout) {
	w, y, h := m.width, l.body, l.lines
	switch m.form() {
	case tiny:
	case single:
		l.add(box{m.focus, 0, y, w, h, true})
	case wide:
		m.placeWide(l)
	case tall:
		low := max(8, h*2/5)
		l.add(box{podsPane, 0, y, w, h - low, false})
		l.add(box{m.under, 0, y + h - low, w, low, true})
	}
}

// placeWide puts all panes into the body: the pods on the left, the others on
// the right. The findings take what they need of a third, which is little while
// all is well.
func (m *Model) placeWide(l *layout) {
	w, y, h := m.width, l.body, l.lines
	left := w * 55 / 100
	right := w - left - 1
	m.findings.resize(right-2, h)
	l.found = m.findings.need()
	calls, found := min(callsHeight, h/3), min(l.found, h/3)
	l.add(box{podsPane, 0, y, left, h, false})
	l.add(box{eventsPane, left + 1, y, right, h - found - calls, false})
	l.add(box{findingsPane, left + 1, y + h - found - calls, right, found, false})
	l.add(box{callsPane, left + 1, y + h - calls, right, calls, false})
}

// resize tells a pane how much room it has below its title and heads.
func (m *Model) resize(b box) {
	switch h := b.h - 2; b.pane {
	case podsPane:
		m.pods.resize(b.w-2, h)
	case eventsPane:
		m.events.resize(h)
	case callsPane:
		m.calls.resize(b.w-2, h)
	case findingsPane:
		m.findings.resize(b.w-2, h)
	}
}

// visible reports whether p is on the screen.
func (l *layout) visible(p pane) bool {
	return slices.ContainsFunc(l.shown(), func(b box) bool { return b.pane == p })
}
