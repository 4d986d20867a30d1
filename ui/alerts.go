package ui

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/text"
)

// gaugeInFull is the width from which the gauge has room for the recovery.
const gaugeInFull = 140

// An alert is a line below the header that is there only while something is
// wrong.
type alert struct {
	severity diagnose.Severity
	text     string
}

func worstFirst(a, b alert) int { return cmp.Compare(b.severity, a.severity) }

// alerts are those lines on a screen of w cells, the worst first: all, and what
// neither findings nor calls tell.
func alerts(b brush, s *engine.Snapshot, all []alert, w int) []fact {
	if s.Anomalies.Total() > 0 {
		all = append(all, alert{diagnose.Warning, "odd answers from the runtime: " + anomalies(s.Anomalies)})
	}
	slices.SortStableFunc(all, worstFirst)
	var lines []fact
	for _, a := range all {
		symbol, st := severityLook(b, a.severity)
		lines = append(lines, fact{st, symbol + " " + clip(a.text, 2*w)})
	}
	if !s.Health.Healthy && !s.Health.ListedAt.IsZero() && w < gaugeInFull {
		lines = append(lines, fact{b.Bad, b.Symbols.Bad + " " + recovery(s) + "; " + inspected(s)})
	}
	return lines
}

// findingAlerts tell of each finding, causes before effects. The gauge tells the
// verdict itself already, and to the letter.
func findingAlerts(found []diagnose.Finding) []alert {
	var causes, effects []alert
	for i := range found {
		f := &found[i]
		switch a := (alert{f.Severity, string(f.ID) + ": " + unlabelled(f)}); {
		case f.Severity == diagnose.Info, f.ID == diagnose.PLEGUnhealthy:
		case explained(found, f):
			effects = append(effects, a)
		default:
			causes = append(causes, a)
		}
	}
	all := slices.Concat(causes, effects)
	slices.SortStableFunc(all, worstFirst)
	return all
}

// callAlerts tell of calls that hang or fail, as long as no finding does: until
// a diagnosis is sure of what it sees, a person should know what is seen.
func callAlerts(s *engine.Snapshot, found []diagnose.Finding) []alert {
	var all []alert
	for i := range s.InFlight {
		f := &s.InFlight[i]
		if (f.By == engine.ByRelist || f.By == engine.ByVitals) && f.Elapsed(s.At) >= stuck && !told(found, f) {
			all = append(all, alert{diagnose.Critical, stuckText(s, f)})
		}
	}
	for _, f := range []*engine.Failure{s.Failure, s.PodFailure, s.StatusErr} {
		if f == nil || told(found, &f.Flight) || f == s.Failure && s.Pods == nil { // else the body of the screen says it
			continue
		}
		all = append(all, alert{pick(f == s.StatusErr, diagnose.Warning, diagnose.Critical), failureText(s, f)})
	}
	return all
}

// told reports whether a finding speaks of such a call: of the same operation on
// the same pod, or of all the runtime.
func told(found []diagnose.Finding, f *engine.Flight) bool {
	return slices.ContainsFunc(found, func(about diagnose.Finding) bool {
		switch about.ID {
		case diagnose.RuntimeDown, diagnose.RuntimeUnresponsive, diagnose.RuntimeSlow:
			return true
		}
		return about.Subject.Operation == f.Op.String() && about.Subject.Pod.UID == f.Pod.UID
	})
}

// stuckText names a call that does not come back. Names come last: they are long.
// Where there are none, there is room to say what comes next.
func stuckText(s *engine.Snapshot, f *engine.Flight) string {
	out := fmt.Sprintf("%v out for %s of %s", f.Op, outFor(f.Elapsed(s.At)), text.Took(s.Timeout))
	for i, what := range []string{f.Pod.String(), f.Container} {
		if what != "" {
			out += pick(i == 0, ": ", " ") + what
		}
	}
	if left := s.Timeout - f.Elapsed(s.At); f.Pod.UID == "" && left > 0 {
		out += "; given up in " + text.Age(left.Round(time.Second)) + ", then tried again"
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
