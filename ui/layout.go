package ui

// A pane is a part of the screen that can have the keys.
type pane uint8

const (
	podsPane pane = iota
	eventsPane
	callsPane
	panes
)

var paneNames = [panes]string{"Pods", "Events", "Calls"}

// A box is where a pane is: a title, the heads of its columns, and rows.
type box struct {
	pane       pane
	x, y, w, h int
	tabs       bool // its title names the panes that are not on the screen
}

// A layout says where everything is on a screen of one size.
type layout struct {
	facts  bool // so small a screen that it has the header's facts only
	header int  // lines
	alerts int  // lines below the header
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
	leastWidth, leastBody = 60, 14  // below: the facts
)

// arrange works out where everything is. It is called whenever the size, the
// focus or the number of alerts has changed.
func (m *Model) arrange() {
	l := layout{alerts: m.alertLines()}
	l.facts = m.small() && !m.full
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
	m.detail.resize(l.lines-1, len(m.detail.lines))
}

func (m *Model) small() bool { return m.width < leastWidth || m.height < leastBody }

// alertLines is how many alerts there is room for.
func (m *Model) alertLines() int {
	return min(len(m.alerts), max(0, (m.height-16)/4+1), 5)
}

// place puts the panes into the body.
func (m *Model) place(l *layout) {
	w, y, h := m.width, l.body, l.lines
	switch {
	case l.facts:
	case m.full || w < tallWidth || w < wideWidth && m.height < tallHeight || m.height < wideHeight:
		l.add(box{m.focus, 0, y, w, h, true})
	case w >= wideWidth:
		left := w * 55 / 100
		low := min(len(callColumns)+2, h/3)
		l.add(box{podsPane, 0, y, left, h, false})
		l.add(box{eventsPane, left + 1, y, w - left - 1, h - low, false})
		l.add(box{callsPane, left + 1, y + h - low, w - left - 1, low, false})
	default:
		low := max(8, h*2/5)
		under := eventsPane
		if m.focus == callsPane {
			under = callsPane
		}
		l.add(box{podsPane, 0, y, w, h - low, false})
		l.add(box{under, 0, y + h - low, w, low, true})
	}
}

// resize tells a pane how much room it has below its title and heads.
func (m *Model) resize(b box) {
	switch h := b.h - 2; b.pane {
	case podsPane:
		m.pods.resize(b.w-2, h)
	case eventsPane:
		m.events.resize(h)
	case callsPane:
		m.calls.resize(h, len(m.calls.of))
	}
}

// visible reports whether p is on the screen.
func (l *layout) visible(p pane) bool {
	for _, b := range l.shown() {
		if b.pane == p {
			return true
		}
	}
	return false
}
