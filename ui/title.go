package ui

import (
	"strconv"
	"strings"

	"github.com/plegtop/plegtop/ui/finding"
	"github.com/plegtop/plegtop/ui/text"
)

// title draws the title of a pane: its name, what it shows, and a rule.
func (d *frame) title(l *text.Line, b box) {
	l.Sign(d.Border, d.Symbols.Horizontal)
	for p := range panes {
		if p != b.pane && !(b.tabs && !d.elsewhere(p, b)) {
			continue
		}
		l.Space(1)
		d.tab(l, p, p == b.pane)
		if p == b.pane {
			l.Space(1)
			d.about(l, p)
		}
		l.Space(1)
		l.Sign(d.Border, d.Symbols.Horizontal)
	}
	l.Repeat(d.Border, d.Symbols.Horizontal, l.Left())
}

// elsewhere reports whether p has a box of its own beside b.
func (d *frame) elsewhere(p pane, b box) bool {
	return p != b.pane && d.layout.visible(p)
}

// tab names a pane. That pods have problems, and how bad the worst finding is, is
// told also where they are not seen.
func (d *frame) tab(l *text.Line, p pane, here bool) {
	name := strconv.Itoa(int(p)+1) + " " + paneNames[p]
	switch {
	case here && p == d.focus:
		l.Put(d.Focus, name)
	case here:
		l.Put(d.Title, name)
	default:
		l.Put(d.Dim, name)
		if p == podsPane && d.pods.troubled > 0 {
			l.Put(d.Warn, " "+d.Symbols.Warn+" "+strconv.Itoa(d.pods.troubled))
		}
		if p == findingsPane && len(d.findings.all) > 0 {
			worst := finding.Worst(d.findings.all)
			symbol, st := finding.Look(d.Theme, worst)
			l.Put(st, " "+symbol+" "+strconv.Itoa(d.findings.count(worst)))
		}
	}
}

// about says how much of what the pane shows.
func (d *frame) about(l *text.Line, p pane) {
	switch p {
	case podsPane:
		d.aboutPods(l)
	case eventsPane:
		d.events.title(l, d.pen)
	case callsPane:
		l.Put(d.Dim, cost(d.snap))
	case findingsPane:
		d.findings.title(l, d.pen)
	}
}

func (d *frame) aboutPods(l *text.Line) {
	n := strconv.Itoa(d.pods.matching)
	if d.pods.matching != len(d.pods.all) {
		n += "/" + strconv.Itoa(len(d.pods.all))
	}
	l.Put(d.Dim, n)
	if d.pods.troubled > 0 {
		l.Put(d.Warn, " "+d.Symbols.Warn+" "+strconv.Itoa(d.pods.troubled)+pick(d.pods.troubled == 1, " with a problem", " with problems"))
	}
	if d.pods.trouble {
		l.Put(d.Info, " problems only")
	}
	if ns := d.filter.namespaces; len(ns) > 0 {
		l.Put(d.Info, " ns:"+strings.Join(ns, ","))
	}
	if d.filter.text != "" {
		l.Put(d.Info, " /"+d.filter.text)
	}
}
