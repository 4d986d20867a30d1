package say

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/text"
)

// Flight says what a call is about: pod, operation, container.
func Flight(f *call.Flight) string {
	if f.Pod.UID != "" {
		return f.Pod.String() + " " + Call(f)
	}
	return Call(f)
}

// Call says what a call is about but for the pod: operation, container.
func Call(f *call.Flight) string {
	if f.Container != "" {
		return f.Op.String() + " " + f.Container
	}
	return f.Op.String()
}

// OutFor returns how long a call has been out, to the nearest second.
func OutFor(d time.Duration) string { return text.Age(d.Round(time.Second)) }

// Try says which try of a call in a row this is, such as "2nd try"; empty for the first
// one. What was asked for again has been out for less time than it was not answered.
func Try(s *engine.Snapshot, f *call.Flight) string {
	failed := s.Failure
	if f.Pod.UID != "" {
		failed = nil
		if i := slices.IndexFunc(s.Pods, func(p *engine.Pod) bool { return p.UID == f.Pod.UID }); i >= 0 {
			failed = s.Pods[i].Failure
		}
	}
	if failed == nil || failed.Op != f.Op || failed.ID != f.ID || f.By != call.ByRelist {
		return ""
	}
	n := failed.InRow + 1
	suffix := "th"
	if tens := n % 100; tens < 11 || tens > 13 {
		suffix = [...]string{"th", "st", "nd", "rd", "th", "th", "th", "th", "th", "th"}[n%10]
	}
	return strconv.Itoa(n) + suffix + " try"
}

// Failure says what failed, of which pod if it is about one, and since when.
func Failure(s *engine.Snapshot, f *answers.Failure) string {
	out := f.Op.String() + " failed"
	if f.Pod.UID != "" {
		out = f.Op.String() + " of " + f.Pod.String() + " failed"
	}
	if f.InRow > 1 {
		out += fmt.Sprintf(" %d times in %s", f.InRow, text.AgeCoarse(s.At.Sub(f.First)))
	}
	return out + ": " + Reason(f.Err)
}

// Reason is what the runtime said, without what is said beside it anyway: the
// operation, and the socket, whose path would push "connection refused" off a
// narrow screen.
func Reason(err error) string {
	e, ok := errors.AsType[*call.Error](err)
	if !ok {
		return err.Error()
	}
	said := e.Text
	if _, why, ok := strings.Cut(said, ": "); ok && strings.HasPrefix(said, "dial unix ") {
		said = why
	}
	return strings.TrimPrefix(e.Code+": "+said, ": ")
}

// Anomalies lists the counters that are not zero.
func Anomalies(a pleg.Anomalies) string {
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
