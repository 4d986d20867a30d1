package lines

import (
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/finding"
)

// The exit codes of check. A check that could not look at all ends with
// [ExitCannotTell] in place of [ExitCode], or [NPDUnknown] in place of
// [NPDExitCode].
const (
	ExitOK         = 0 // nothing worse than info
	ExitWarning    = 1
	ExitCritical   = 2
	ExitCannotTell = 3 // no runtime found, no permission, no CRI v1, wrong flags

	NPDOK      = 0
	NPDProblem = 1
	NPDUnknown = 2
)

// ExitCode returns the exit code of a check that shows u: by the worst finding, or
// by the headline where that is worse, as it is when the deadline left no time to
// find anything.
func ExitCode(u diagnose.Update) int {
	switch max(u.Headline.Severity, finding.Worst(u.Findings)) {
	case diagnose.Critical:
		return ExitCritical
	case diagnose.Warning:
		return ExitWarning
	}
	return ExitOK
}

// NPDExitCode returns the exit code of u as node-problem-detector reads it. Only
// a critical finding is a problem, since there it becomes a condition of the
// node, upon which others drain and repair it; warnings are in the line alone.
// A check that did not come to its end and found nothing critical is unknown.
func NPDExitCode(u diagnose.Update) int {
	switch {
	case finding.Worst(u.Findings) == diagnose.Critical:
		return NPDProblem
	case finding.Unfinished(u.Snapshot.Sweep) != "":
		return NPDUnknown
	}
	return NPDOK
}
