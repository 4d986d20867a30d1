package diagnose

import (
	"time"

	"github.com/plegtop/plegtop/engine/knowledge"
)

// StoreFailing is a store of the runtime that is read-only, fails or is gone.
const StoreFailing ID = "store-failing"

const (
	// An error that ext4 has counted is recent if it is younger than errorFresh.
	errorFresh = time.Hour
	// failedFresh is for how long after the last request that failed a disk counts as failing: the kernel writes changes
	// within half a minute, and its log is read once a minute.
	failedFresh = 5 * time.Minute
)

// A store of the runtime cannot be written, is gone or answers with errors; or a call reports that about a file system
// that it may use.
var storeFailing = Rule{
	ID: StoreFailing,
	Find: func(f *Facts, report func(Match)) {
		text, means := f.complaint(knowledge.StoreFails, knowledge.Disconnected)
		found := false
		for _, s := range f.stores() {
			if m := f.failingStore(s); m.Variant != "" {
				found = true
				m.Group, m.Steps = s.name, map[string][]Step{"+mend": f.mending(s)}
				m.Values = m.Values.with(Values{"store": s.name, "path": s.Path, "source": s.Mount.Source, "place": s.place(), "complaint": text, "first": s.waitsFor()})
				report(m)
			}
		}
		path := unservedPath(text)
		switch {
		case found, text == "":
		case means != knowledge.Disconnected:
			report(Match{
				Variant: "complaint", Severity: Warning, Values: Values{"complaint": text, "excerpt": extract(text)},
				Steps: map[string][]Step{"+mend": f.orDrain(f.advise("disk.fails", nil))},
			})
		case path != "": // otherwise a socket is not connected
			report(Match{Variant: "served", Severity: Warning, Group: "served", Values: Values{"target": path, "complaint": text}})
		}
	},
}

// failingStore returns a match about a store that cannot be written, is gone or answers with errors. The match has no
// variant if the store is well.
func (f *Facts) failingStore(s store) Match {
	request, failed := f.failedRequest(s)
	counted := Values{"error": s.ReadOnly}
	if s.Errors > 0 {
		counted["errors"], counted["age"] = many{int(s.Errors), "error"}, age(s.ErrorAge)
	}
	switch {
	case s.Broken:
		return Match{Variant: "gone", Severity: Critical, Values: Values{"error": s.Missing}}
	case s.ReadOnly != "":
		return Match{Variant: "read-only", Severity: Critical, Values: counted}
	case failed:
		at, severity := f.Look.At.Add(-request.Age), Warning
		if request.Failed == "write" {
			severity = Critical
		}
		return Match{Variant: "kernel", Severity: severity, Values: Values{"request": request.Failed, "at": at, "until": at.Add(failedFresh)}}
	case s.Errors > 0 && s.ErrorAge < errorFresh:
		return Match{Variant: "errors", Severity: Warning, Values: counted}
	}
	return Match{}
}
