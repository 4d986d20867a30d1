package ui

import (
	"slices"

	"github.com/plegtop/plegtop/engine/diagnose"
)

// unread returns the findings without the one that is open: it stands below the
// alerts, in full.
func (m *Model) unread() []diagnose.Finding {
	if s, _ := m.onTop(); s != &m.finding.sheet {
		return m.findings.all
	}
	return slices.DeleteFunc(slices.Clone(m.findings.all), func(f diagnose.Finding) bool {
		return keyOf(&f) == keyOf(&m.finding.of)
	})
}

// unfolded gives the worst alert a second line where it needs one and there is
// room: who is to blame may stand at its end. A sheet has better use for the line,
// and on the smallest screens the facts do so.
func (m *Model) unfolded(all []fact) []fact {
	if s, _ := m.onTop(); s != nil || len(all) == 0 || m.small() || m.alertRoom() < 2 {
		return all
	}
	lines := few(all[0].text, m.width-2, 2, m.theme.Symbols.Ellipsis)
	if len(lines) < 2 {
		return all
	}
	st := all[0].style
	return append([]fact{{st, lines[0]}, {st, "  " + lines[1]}}, all[1:]...)
}
