package ui

import (
	"slices"

	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/theme"
)

// place puts those panes into the body that may be seen.
func (m *Model) place(l *layout, may func(pane int) bool) {
	w, y, h := m.beside(), l.body, l.lines
	l.boxes = nil
	defer m.placePreview(l)
	switch m.form() {
	case tiny:
	case single:
		l.boxes = []box{{m.focus, 0, y, w, h, true}}
	case tall:
		low := max(min(8, h/2), h*2/5, min(h*3/5, m.wantedBelow()), h-1-m.panes[0].Info().Wanted)
		below := m.stack(m.below(), box{y: y + h - low, w: w, h: low})
		if len(below) == 0 { // there is room for one
			l.boxes = []box{{m.focus, 0, y, w, h, true}}
			return
		}
		below[0].tabs = true
		l.boxes = append([]box{{0, 0, y, w, h - low, false}}, below...)
	case wide:
		low := max(h*3/5, h-1-m.panes[0].Info().Wanted)
		if w < m.width { // the sheet beside the first pane can use the room that the pane leaves
			low = min(low, h*2/3)
		}
		left, right := m.columns()
		var beside, below []int
		for i := 1; i < len(m.panes); i++ {
			switch {
			case !may(i):
			case m.panes[i].Info().Wide:
				below = append(below, i)
			default:
				beside = append(beside, i)
			}
		}
		top := y + h - low
		l.boxes = append([]box{{0, 0, y, w, h - low, false}}, m.stack(below, box{y: top, w: left, h: low})...)
		l.boxes = append(l.boxes, m.stack(beside, box{x: m.width - right, y: top, w: right, h: low})...)
	}
}

// wantedBelow is how many lines the panes below the first want so that the one that has the keys can
// be read; 0 where that is the first, or the answer is read.
func (m *Model) wantedBelow() (lines int) {
	if m.focus == 0 || m.view.Led {
		return 0
	}
	for _, i := range m.below() {
		info := m.panes[i].Info()
		lines += 1 + theme.When(i == m.focus, info.Wanted, info.Least)
	}
	return lines
}

// below returns the panes below the first on a tall screen: the findings while the answer comes
// first, for what happened before says little then and follows where there is room; and there
// the last of those whose rows are long, which draws time.
func (m *Model) below() []int {
	all, room := []int{m.under}, m.height >= withTime && m.width >= tallWidth
	if i := slices.IndexFunc(m.panes, func(p pane.Pane) bool { return p.Info().Tells }); m.view.Led && i > 0 && i != m.under {
		if all = []int{i, m.under}; !room {
			all = all[:1]
		}
	}
	for i := len(m.panes) - 1; i > 0 && room; i-- {
		if m.panes[i].Info().Wide && !slices.Contains(all, i) {
			return append(all, i)
		}
	}
	return all
}

// stack puts panes one below the other, as many as have their least. Those that want little get
// that, up to a third of the room, the first up to half, or the findings while the answer comes
// first; the first of those that could use all of it gets the rest.
func (m *Model) stack(panes []int, room box) []box {
	var boxes []box
	spare := room.h
	for _, i := range panes {
		if least := m.panes[i].Info().Least + 1; least <= spare {
			boxes = append(boxes, box{pane: i, x: room.x, w: room.w, h: least})
			spare -= least
		}
	}
	wanted := func(b box) int { return m.panes[b.pane].Info().Wanted }
	rest := slices.IndexFunc(boxes, func(b box) bool { return wanted(b) >= room.h })
	if rest < 0 {
		rest = len(boxes) - 1
	}
	share := room.h / 2
	for _, i := range m.turns(boxes) {
		if b := &boxes[i]; i != rest {
			more := min(spare, max(0, min(wanted(*b)+1-b.h, share)))
			b.h += more
			spare -= more
		}
		share = room.h / 3
	}
	for i := range boxes {
		if i == rest {
			boxes[i].h += spare
		}
		boxes[i].y = room.y
		room.y += boxes[i].h
	}
	return boxes
}

// turns returns the places of boxes in the order in which they get what they want.
func (m *Model) turns(boxes []box) []int {
	var first, then []int
	for i, b := range boxes {
		if m.view.Led && m.panes[b.pane].Info().Tells {
			first = append(first, i)
		} else {
			then = append(then, i)
		}
	}
	return append(first, then...)
}

// find returns the box of pane i; nil if it is not on the screen.
func (l *layout) find(i int) *box {
	n := slices.IndexFunc(l.boxes, func(b box) bool { return b.pane == i })
	if n < 0 {
		return nil
	}
	return &l.boxes[n]
}
