package diagnose

import "slices"

// explain gives each finding that another one explains its cause, and drops what
// only repeats it object by object.
func explain(findings []Finding) []Finding {
	if root, all := wholeRuntime(findings); all {
		findings = slices.DeleteFunc(findings, func(f Finding) bool { return f.ID != root && slices.Contains(repeats, f.ID) })
		return blame(findings, root, PLEGUnhealthy, PLEGFlapping, RuntimeUnresponsive, RuntimeNotReady, NetworkNotReady, GhostRunning, ListTooBig)
	}
	if has(findings, RuntimeSlow) {
		findings = slices.DeleteFunc(findings, func(f Finding) bool { return f.ID == RelistSlowChurn })
	}
	switch {
	case holdsLock(findings):
		findings = blame(findings, InspectHung, ListHung)
	case waitsForProcess(findings):
		findings = blame(findings, ProcessStuck, ListHung, PLEGUnhealthy, PLEGFlapping)
	}
	if slices.ContainsFunc(findings, func(f Finding) bool { return f.ID == ListTooBig && f.Severity > Info }) {
		findings = slowBySize(findings)
	}
	if has(findings, PLEGUnhealthy) && listRefused(findings) {
		findings = blame(findings, PLEGUnhealthy, PLEGFlapping)
	} else if cause := stalls(findings); cause != "" {
		findings = blame(findings, cause, PLEGUnhealthy, PLEGFlapping)
	} else if has(findings, PLEGUnhealthy) {
		findings = blame(findings, PLEGUnhealthy, PLEGFlapping)
	}
	return findings
}

// repeats are the findings that say no more than that calls do not come back,
// once the whole runtime is known not to answer.
var repeats = []ID{InspectHung, InspectFailing, ListHung, RuntimeSlow, RelistSlowChurn}

// wholeRuntime returns the finding that says that no call about containers is
// answered.
func wholeRuntime(findings []Finding) (ID, bool) {
	for _, id := range []ID{RuntimeDown, RuntimeUnresponsive} {
		for i := range findings {
			f := &findings[i]
			if f.ID == id && f.Subject.Operation == "" && (id == RuntimeUnresponsive || f.Severity == Critical) {
				return id, true
			}
		}
	}
	return "", false
}

func has(findings []Finding, id ID) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.ID == id })
}

// blame sets the cause of the findings of some kinds, but for the cause itself
// and what has one.
func blame(findings []Finding, cause ID, effects ...ID) []Finding {
	for i := range findings {
		if f := &findings[i]; f.Cause == "" && f.ID != cause && slices.Contains(effects, f.ID) {
			f.Cause = cause
		}
	}
	return findings
}

// holdsLock reports whether an object's status hangs while a list does: a lock in
// the runtime that the one call holds and the other waits for.
func holdsLock(findings []Finding) bool {
	object := slices.ContainsFunc(findings, func(f Finding) bool {
		return f.ID == InspectHung && f.Severity == Critical && f.Subject.ContainerID != ""
	})
	list := slices.ContainsFunc(findings, func(f Finding) bool { return f.ID == ListHung })
	return object && list
}

// waitsForProcess reports whether a list hangs while a shim does nothing or a
// process is in the kernel for good: the runtime holds a lock while it asks the
// one, or while it unmounts what the other waits for. Where a list hangs,
// [processStuck] makes both critical.
func waitsForProcess(findings []Finding) bool {
	critical := func(id ID) bool {
		return slices.ContainsFunc(findings, func(f Finding) bool { return f.ID == id && f.Severity == Critical })
	}
	return critical(ListHung) && critical(ProcessStuck)
}

// slowBySize blames a slow list on its size.
func slowBySize(findings []Finding) []Finding {
	for i := range findings {
		if f := &findings[i]; f.ID == ListHung && f.Severity == Warning && f.Cause == "" {
			f.Cause = ListTooBig
		}
	}
	return findings
}

// listRefused reports whether the list of all pods fails with an error of its own,
// which is then what keeps PLEG from being healthy.
func listRefused(findings []Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.ID == PLEGUnhealthy && f.Subject.Operation != "" })
}

// stalls returns the worst finding that keeps lists from succeeding in time.
func stalls(findings []Finding) ID {
	for _, severity := range []Severity{Critical, Warning} {
		for _, id := range []ID{RuntimeDown, ListTooBig, InspectHung, ListHung, RuntimeUnresponsive, RelistSlowChurn, RuntimeSlow} {
			if severity == Warning && id == ListTooBig {
				continue // it is near its limit, but still comes through
			}
			for i := range findings {
				if f := &findings[i]; f.ID == id && f.Severity == severity && f.Cause == "" {
					return id
				}
			}
		}
	}
	return ""
}
