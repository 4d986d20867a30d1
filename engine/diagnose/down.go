package diagnose

import (
	"errors"
	"fmt"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
)

const (
	// downForSure is how many lists in a row find nobody there before it is
	// certain that the runtime is away, though other calls are answered.
	downForSure = 3
	// statusForSure is the same for Status, which is asked for every 5 s.
	statusForSure = 2
	// justNow is how long ago an answer was given so that one refusal may be
	// chance: a period of the kubelet's and what the calls take.
	justNow = 2 * time.Second
)

// runtimeDown finds a runtime that is not there, or that refuses every call,
// and as a warning one that is there only now and then.
func runtimeDown(in Input) []Finding {
	s := in.Snapshot
	refused := refusals(s)
	calls, flaky := in.flaky()
	if last := wentAway(s); len(last) > 0 {
		return []Finding{in.downFinding(last, Critical)}
	}
	if len(refused) > 0 && !worked(s, refused) && !(flaky && in.onceOnly(refused)) {
		return []Finding{in.downFinding(refused, in.howDown(refused))}
	}
	if f := s.Failure; f != nil && errors.Is(f.Err, call.ErrUnavailable) && lastsSo(s, f, downForSure) {
		return []Finding{in.partFinding(*f)}
	}
	if f := s.StatusErr; f != nil && answersBadly(f.Err) && lastsSo(s, f, statusForSure) && !(flaky && in.onceOnly(refused)) {
		return []Finding{in.partFinding(*f)}
	}
	if flaky {
		return []Finding{in.flakyFinding(calls)}
	}
	if f := s.VersionErr; f != nil && answersBadly(f.Err) && lastsSo(s, f, statusForSure) {
		found := in.partFinding(*f)
		found.Severity = Warning // the kubelet asks for it when it starts, and then hardly ever
		return []Finding{found}
	}
	return nil
}

// lastsSo reports whether a call has failed often enough in a row. In one pass it
// was made several times if nobody was there, and never came through.
func lastsSo(s *engine.Snapshot, f *engine.Failure, enough int) bool {
	return f.InRow >= enough || onePass(s) && sums(s, f.Op).LastOK.IsZero()
}

// onceOnly reports whether each of these calls failed so few times in a row that
// a runtime which is there now and then explains it. In one pass it does not: if
// nothing else works, it is down.
func (in Input) onceOnly(refused []*engine.Failure) bool {
	if onePass(in.Snapshot) {
		return false
	}
	for _, f := range refused {
		if f.InRow >= downForSure {
			return false
		}
	}
	return true
}

// howDown is a warning for the first refusal just after a good answer: the next
// relist tells, in a second.
func (in Input) howDown(refused []*engine.Failure) Severity {
	s := in.Snapshot
	if len(refused) > 1 || refused[0].InRow > 1 || onePass(s) {
		return Critical
	}
	for i := range s.Calls {
		if s.At.Sub(s.Calls[i].LastOK) < justNow {
			return Warning
		}
	}
	return Critical
}

// refusals returns the lists and the Status that failed last, if the runtime
// was not there for them; or if it answers each of them with an error.
func refusals(s *engine.Snapshot) []*engine.Failure {
	var away, other []*engine.Failure
	for _, f := range []*engine.Failure{s.Failure, s.StatusErr, s.VersionErr} {
		switch {
		case f == nil || !answersBadly(f.Err):
		case errors.Is(f.Err, call.ErrUnavailable):
			away = append(away, f)
		default:
			other = append(other, f)
		}
	}
	if len(away) == 0 && s.Failure != nil && s.StatusErr != nil && len(other) >= 2 {
		return other
	}
	return away
}

// answersBadly reports whether an error can mean that the runtime does not work
// at all: it came at once, and not for the size of the answer.
func answersBadly(err error) bool {
	return !errors.Is(err, call.ErrDeadline) && !tooLarge(err) && !errors.Is(err, call.ErrCanceled)
}

// worked reports whether any call but Version was answered well since all of
// these fail. In one pass all calls are taken as made at the same time.
func worked(s *engine.Snapshot, failures []*engine.Failure) bool {
	since := failures[0].First
	for _, f := range failures {
		since = later(since, f.First)
	}
	if onePass(s) {
		since = s.Started
	}
	for i := range s.Calls {
		if c := &s.Calls[i]; c.Op != call.Version && c.LastOK.After(since) {
			return true
		}
	}
	return false
}

func (in Input) downFinding(refused []*engine.Failure, severity Severity) Finding {
	s := in.Snapshot
	first := refused[0]
	for _, f := range refused {
		if f.First.Before(first.First) {
			first = f
		}
	}
	f := Finding{
		ID: RuntimeDown, Severity: severity,
		Summary: "no call reaches the runtime: " + excerpt(words(first.Err)),
		Next: in.runtimeSteps(
			Step{Text: "is it running, and why did it end", Command: "systemctl status " + in.unit() + " --no-pager"},
			Step{Text: "its last words", Command: in.logs()},
			Step{Text: "killed for want of memory, or a full disk", Command: "dmesg -T | tail -n 50; df -h"},
		),
	}
	if !errors.Is(first.Err, call.ErrUnavailable) {
		f.Summary = "every call is answered with an error: " + excerpt(words(first.Err))
	}
	for _, r := range refused {
		f.Evidence = append(f.Evidence, refusal(s, *r))
	}
	f.Evidence = append(f.Evidence, lines(in.endpointLine(), versionLine(s), (&reading{Snapshot: s}).sweptUntil(), chain(s), in.daemon())...)
	return f
}

func (in Input) endpointLine() string {
	if in.Endpoint == "" {
		return ""
	}
	return "endpoint: " + in.Endpoint
}

func versionLine(s *engine.Snapshot) string {
	if sums := sums(s, call.Version); s.VersionErr == nil && s.At.Sub(sums.LastOK) < lately && onePass(s) {
		return "Version is answered, in " + span(sums.P50)
	}
	return ""
}

// refusal says how a call fails, since when and how often, word for word.
func refusal(s *engine.Snapshot, f engine.Failure) string {
	if f.InRow > 1 {
		return fmt.Sprintf("%v failed %d times in a row, for %s since %s: %s", f.Op, f.InRow, going(s.At.Sub(f.First)), clock(f.First), words(f.Err))
	}
	if age := s.At.Sub(f.At); age >= late {
		return fmt.Sprintf("%v failed %s ago: %s", f.Op, going(age), words(f.Err))
	}
	return fmt.Sprintf("%v failed: %s", f.Op, words(f.Err))
}

// fails says how often a call failed, unless that was once.
func fails(inRow int) string {
	if inRow <= 1 {
		return "fails"
	}
	return fmt.Sprintf("has failed %d times in a row", inRow)
}

// partFinding is about a list or Status that fails while other calls are
// answered. Without either the kubelet takes the runtime for down.
func (in Input) partFinding(f engine.Failure) Finding {
	found := in.downFinding([]*engine.Failure{&f}, Critical)
	found.Summary = fmt.Sprintf("%v %s, while other calls are answered: %s", f.Op, fails(f.InRow), excerpt(words(f.Err)))
	found.Subject.Operation = f.Op.String()
	return found
}
