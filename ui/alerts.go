package ui

import (
	"errors"
	"fmt"
	"strings"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/finding"
	"github.com/plegtop/plegtop/ui/text"
)

// alert works out the gauge and the alerts, which are the lines below the header
// that are there only while something is wrong: the rest of the headline, and what
// it does not say. It makes room for them and for the findings where their number
// has changed.
func (m *Model) alert() {
	b, lines := m.pen(), 0
	if s, _ := m.onTop(); s == nil && !m.small() {
		lines = min(2, (m.alertRoom()+1)/2)
	}
	m.gauge = newGauge(b, m.snap, m.headline, m.width-2, lines)
	m.alerts = nil
	for _, line := range m.gauge.rest {
		m.alerts = append(m.alerts, span{b.Text, "  " + line})
	}
	if v := verdict(m.snap); v != "" && !m.gauge.says(v) {
		m.alerts = append(m.alerts, span{m.gauge.lead[0].style, "  " + v})
	}
	m.alerts = append(m.alerts, m.otherAlerts(b)...)
	if m.alertLines() != m.layout.alerts || m.findings.need() != m.layout.found {
		m.arrange()
	}
}

// otherAlerts are those that the headline says nothing of: sweeps, failures that a
// key led to, odd answers, and other findings where their pane is not seen.
func (m *Model) otherAlerts(b pen) []span {
	out := m.sweepAlert(b)
	warn := func(what string) { out = append(out, span{b.Warn, b.Symbols.Warn + " " + clip(what, 2*m.width)}) }
	if f := m.snap.PodFailure; f != nil {
		warn(failureText(m.snap, f))
	}
	for _, f := range m.unsaid() {
		symbol, st := finding.Look(b.Theme, f.Severity)
		out = append(out, span{st, symbol + " " + clip(string(f.ID)+": "+finding.Summary(&f), 2*m.width)})
	}
	if odd := m.snap.Anomalies; odd.Total() > 0 {
		warn("odd answers from the runtime: " + anomalies(odd))
	}
	return out
}

// unsaid returns the findings that are neither seen below nor said by the headline,
// which is about the worst and names what stands behind it. Effects are left to the
// pane.
func (m *Model) unsaid() []diagnose.Finding {
	if s, _ := m.onTop(); s == nil && m.shows(findingsPane) {
		return nil
	}
	if m.headline.Sound() && m.headline.Text == "" {
		return nil // what is still among the findings is over
	}
	all := m.findings.all
	var out []diagnose.Finding
	for i, f := range all {
		switch {
		case f.Severity == diagnose.Info, f.ID == diagnose.PLEGUnhealthy, i == 0 && m.headline.Severity >= f.Severity, finding.CauseOf(all, &f) >= 0:
		case strings.Contains(m.headline.Text, finding.Summary(&f)), m.finding.open && f.Key() == m.finding.of.Key():
		default:
			out = append(out, f)
		}
	}
	return out
}

// failureText says what failed, of which pod if it is about one, and since when.
func failureText(s *engine.Snapshot, f *engine.Failure) string {
	out := f.Op.String() + " failed"
	if f.Pod.UID != "" {
		out = f.Op.String() + " of " + f.Pod.String() + " failed"
	}
	if f.InRow > 1 {
		out += fmt.Sprintf(" %d times in %s", f.InRow, text.AgeCoarse(s.At.Sub(f.First)))
	}
	return out + ": " + reason(f.Err)
}

// reason is what the runtime said, without what is said beside it anyway: the
// operation, and the socket, whose path would push "connection refused" off a
// narrow screen.
func reason(err error) string {
	e, ok := errors.AsType[*call.Error](err)
	if !ok {
		return err.Error()
	}
	said := e.Text
	if _, why, ok := strings.Cut(said, ": "); ok && strings.HasPrefix(said, "dial unix ") {
		said = why
	}
	return e.Code + ": " + said
}

// anomalies lists the counters that are not zero.
func anomalies(a pleg.Anomalies) string {
	var out []string
	for _, c := range []struct {
		n    int
		what string
	}{
		{a.NoMetadata, "without metadata"}, {a.NoID, "without id"}, {a.NoImage, "without image"},
		{a.NoPodUID, "without pod UID"}, {a.DuplicateID, "ids twice"}, {a.BadState, "unknown states"},
		{a.BadTime, "bad times"}, {a.BadText, "broken texts"}, {a.NoSandbox, "containers without sandbox"},
	} {
		if c.n > 0 {
			out = append(out, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	return strings.Join(out, ", ")
}
