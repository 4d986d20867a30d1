package lines

import (
	"cmp"
	"slices"

	"github.com/plegtop/plegtop/engine/diagnose"
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

// ExitCode returns the exit code of a check with these findings.
func ExitCode(findings []diagnose.Finding) int {
	switch worst(findings) {
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
	case worst(u.Findings) == diagnose.Critical:
		return NPDProblem
	case unfinished(u.Snapshot.Sweep) != "":
		return NPDUnknown
	}
	return NPDOK
}

// worst returns the highest severity among findings, Info for none.
func worst(findings []diagnose.Finding) diagnose.Severity {
	if len(findings) == 0 {
		return diagnose.Info
	}
	return slices.MaxFunc(findings, func(a, b diagnose.Finding) int { return cmp.Compare(a.Severity, b.Severity) }).Severity
}
