package diagnose

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/ledger"
)

// OrphanShims is shims of which the runtime lists no sandbox.
const OrphanShims ID = "orphan-shims"

var orphanShimsKind = &kind{
	id: OrphanShims, find: orphanShims,
	needs:    lists,
	severity: "warning", scenario: "a real node",
	when: "shims of this runtime without a sandbox, for a minute or more",
}

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
// they hold is lost to it. Those of which it lists containers are told with these. Shims of other runtimes, those that may have ended
// since the look, and lists from which something had to be left out accuse nobody.
func orphanShims(v *view) []Finding {
	if v.evidence.Processes.Missing != "" || !listsAreWhole(v.Snapshot) {
		return nil
	}
	orphans := orphansAmong(v)
	if len(orphans) == 0 {
		return nil
	}
	f := Finding{ID: OrphanShims, Severity: Warning, Group: "shims", Summary: fmt.Sprintf("%d shims have no sandbox", len(orphans))}
	if len(orphans) == 1 {
		f.Summary = fmt.Sprintf("1 shim has no sandbox: pid %d", orphans[0].PID)
		f.Subject.ObjectRef = orphans[0].LooksAfter()
	}
	sayFirst(&f, orphans, orphanTold, "shim", func(p evidence.Process) string {
		return fmt.Sprintf("%s (pid %d) of sandbox %s, %s old, %s", p.Command, p.PID, p.Sandbox, span(p.Age), p.State)
	})
	f.say(fmt.Sprintf("sandboxes that the runtime lists: %s, with %s", thousands(v.Counts.Sandboxes), count(v.Counts.Containers, "container")))
	var pids []string
	for _, p := range orphans[:min(len(orphans), orphanTold)] {
		pids = append(pids, strconv.Itoa(p.PID))
	}
	f.Next = []Step{
		{Text: "what they are, and what runs below them", Command: "ps -o pid,ppid,state,etime,args -p " + strings.Join(pids, ",")},
		{Text: "what the runtime says of it, if it knows it after all", Command: v.crictl("inspectp", orphans[0].Sandbox)},
		{
			Text:    "ends them, and what still runs below them",
			Command: "pkill -9 -P " + strings.Join(pids, ",") + "; kill -9 " + strings.Join(pids, " "), Risky: true,
		},
	}
	return []Finding{f}
}

// listsAreWhole reports whether what is not in the lists is not there.
func listsAreWhole(s *engine.Snapshot) bool {
	left := s.Anomalies.NoMetadata + s.Anomalies.NoID + s.Anomalies.NoPodUID
	return s.Pods != nil && s.Failure == nil && s.Health.ListAge(s.At) <= orphanFresh && left == 0
}

func orphansAmong(v *view) []evidence.Process {
	if len(v.Gone) >= ledger.MostGone {
		return nil
	}
	var orphans []evidence.Process
	has := make(map[string]bool) // sandboxes of which containers are listed
	for p := range v.podsWith(func(f *podFacts) bool { return f.orphaned }) {
		for _, c := range seen(p).Orphans() {
			has[c.SandboxID] = true
		}
	}
	for _, p := range v.evidence.Processes.Shims {
		_, listed := v.listed(p.Sandbox) // an old shim serves one container and has its id
		if p.Own && p.Age > orphanGrown && p.Sandbox != "" && !listed && !has[p.Sandbox] && v.Gone.Since(p.Sandbox).IsZero() {
			orphans = append(orphans, p)
		}
	}
	return orphans
}
