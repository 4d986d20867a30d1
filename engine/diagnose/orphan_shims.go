package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
)

const (
	// orphanGrown is the age from which a shim must have a sandbox: it is started
	// before that is listed, and may outlive it while it cleans up.
	orphanGrown = time.Minute
	// orphanFresh is how old the lists may be.
	orphanFresh = 30 * time.Second
	// orphanTold is how many are told one by one.
	orphanTold = 10
)

// orphanShims finds shims of this runtime whose sandbox it does not list: what
// they hold is lost to it. Shims of other runtimes, those that may have ended
// since the look, and lists from which something had to be left out accuse nobody.
func orphanShims(v *view) []Finding {
	if v.evidence == nil || v.evidence.Processes.Missing != "" || !listsAreWhole(v.Snapshot) {
		return nil
	}
	orphans := orphansAmong(v)
	if len(orphans) == 0 {
		return nil
	}
	f := Finding{ID: OrphanShims, Severity: Warning, Summary: orphansSummary(orphans)}
	if len(orphans) == 1 {
		f.Subject.ContainerID = orphans[0].Sandbox
	}
	var pids []string
	for _, p := range orphans[:min(len(orphans), orphanTold)] {
		pids = append(pids, fmt.Sprint(p.PID))
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s (pid %d) of sandbox %s, %s old, %s", p.Command, p.PID, p.Sandbox, span(p.Age), p.State))
	}
	if n := len(orphans) - orphanTold; n > 0 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("and %s more", count(n, "shim")))
	}
	counts := v.Counts
	f.Evidence = append(f.Evidence, fmt.Sprintf("sandboxes that the runtime lists: %s, with %s", thousands(counts.Sandboxes), count(counts.Containers, "container")))
	f.Next = []Step{
		{Text: "what they are, and what runs below them", Command: "ps -o pid,ppid,state,etime,args -p " + strings.Join(pids, ",")},
		{Text: "what the runtime says of it, if it knows it after all", Command: v.crictl("inspectp", orphans[0].Sandbox)},
	}
	return []Finding{f}
}

// listsAreWhole reports whether what is not in the lists is not there.
func listsAreWhole(s *engine.Snapshot) bool {
	left := s.Anomalies.NoMetadata + s.Anomalies.NoID + s.Anomalies.NoPodUID
	return s.Pods != nil && s.Failure == nil && s.Health.ListAge(s.At) <= orphanFresh && left == 0
}

func orphansAmong(v *view) []evidence.Process {
	gone := v.past.departed.since
	if len(gone) >= departedMost {
		return nil
	}
	known := sandboxes(v.Snapshot)
	var orphans []evidence.Process
	for _, p := range v.evidence.Processes.Shims {
		_, listed := known[p.Sandbox]
		_, left := gone[p.Sandbox]
		if !listed && !left && p.Sandbox != "" && p.Age > orphanGrown && p.Own {
			orphans = append(orphans, p)
		}
	}
	if len(orphans) > 0 { // an old shim serves one container and has its id
		owners := listing(v.Snapshot)
		orphans = slices.DeleteFunc(orphans, func(p evidence.Process) bool { return owners[p.Sandbox].id != "" })
	}
	return orphans
}

func orphansSummary(orphans []evidence.Process) string {
	if len(orphans) == 1 {
		return fmt.Sprintf("1 shim has no sandbox: pid %d", orphans[0].PID)
	}
	return fmt.Sprintf("%d shims have no sandbox", len(orphans))
}
