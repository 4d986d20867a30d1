package ui

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/text"
)

// gaugeInFull is the width from which the gauge has room for the recovery.
const gaugeInFull = 140

// alerts are the lines below the header that are there only while something is
// wrong, the worst first.
func alerts(b brush, s *engine.Snapshot, w int) []fact {
	var all []fact
	bad := func(text string) { all = append(all, fact{b.Bad, b.Symbols.Bad + " " + text}) }
	warn := func(text string) { all = append(all, fact{b.Warn, b.Symbols.Warn + " " + text}) }

	for i := range s.InFlight {
		if f := &s.InFlight[i]; f.Elapsed(s.At) >= stuck {
			bad(stuckText(s, f))
		}
	}
	if s.Failure != nil && s.Pods != nil { // else the body of the screen says it
		bad(failureText(s, s.Failure))
	}
	if s.PodFailure != nil {
		bad(failureText(s, s.PodFailure))
	}
	if !s.Health.Healthy && !s.Health.ListedAt.IsZero() && w < gaugeInFull {
		bad(recovery(s) + "; " + inspected(s))
	}
	if s.StatusErr != nil {
		warn(failureText(s, s.StatusErr))
	}
	for _, c := range s.Conditions {
		if !c.Status && counts(c) {
			warn(strings.TrimSpace(fmt.Sprintf("%s is false: %s %s", c.Type, c.Reason, c.Message)))
		}
	}
	if c := s.Channel; c.Discarded > 0 {
		warn(fmt.Sprintf("event channel overflowed: %s events discarded, %d of %d in it", text.Count(c.Discarded), c.Len, c.Capacity))
	}
	if s.Anomalies.Total() > 0 {
		warn("odd answers from the runtime: " + anomalies(s.Anomalies))
	}
	return all
}

// counts reports whether the kubelet looks at a condition. Runtimes have others:
// containerd 2 says that a cgroup v1 host is deprecated, on every such node.
func counts(c pleg.Condition) bool { return c.Type == "RuntimeReady" || c.Type == "NetworkReady" }

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
