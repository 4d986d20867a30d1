package diagnose

import (
	"fmt"
	"slices"

	"github.com/plegtop/plegtop/engine/evidence"
)

// ErrandStuck is a helper that the runtime has called and that does not end.
const ErrandStuck ID = "errand-stuck"

var errandStuckKind = &kind{
	id: ErrandStuck, find: errandStuck,
	hangs: true,
	pod:   "errand stuck", state: "stuck",
	words: []nodeWord{(*view).unseen, (*view).callsInFlight, (*view).kernelSaid}, kernel: ofDisk | ofDevice, killed: runtimeKilled,
	severity: "warning", scenario: "`hung-update`",
	when: "what the runtime or a shim has called has run far longer than its like take: told of runc from 5 s to 10 s on by its verb, of a network plugin or a " +
		"mount from 15 s, of the unpacking of an image from 10 minutes; not `exec`, nor one in D, which is `process-stuck`",
}

// errandsTold is how many further errands of one container are told.
const errandsTold = 3

// A lateErrand is one that should have ended, with others of the same container or sandbox.
type lateErrand struct {
	evidence.Process
	owner  listed
	others []evidence.Process
}

// errandStuck finds what the runtime or a shim has called and has not ended, though it
// could run: the call that waits for it has no answer. Of what one has called in turn
// only the first is told. What is in the kernel or held is [processStuck]'s.
func errandStuck(v *view) []Finding {
	if v.evidence.Processes.Missing != "" || len(v.past.again) == 0 && !slices.ContainsFunc(v.evidence.Processes.Errands, v.errandLate) {
		return nil
	}
	owners := v.listedOwners()
	return oneEach(v.lateErrands(owners), stuckMost, func(p lateErrand) Finding { return v.errandFinding(p, owners) }, func(rest []lateErrand) Finding {
		all := Step{Text: "all that the runtime has called", Command: "ps -eo pid,ppid,state,etime,args --forest | grep -A5 -e containerd-shim -e conmon -e /cni/"}
		return restOf(ErrandStuck, count(len(rest), "more errand")+" of the runtime have not ended", all, rest,
			func(p lateErrand) (Subject, string) { return p.owner.subject(), v.errandPhrase(p.Process, owners) })
	})
}

// lateErrands returns those to be told, the oldest first, one for each container.
func (v *view) lateErrands(owners map[string]listed) (late []lateErrand) {
	found := v.deletedAgain(owners)
	for _, p := range v.evidence.Processes.Errands {
		if first := v.outermost(p); p.Own && !shimStuck(p) && v.errandLate(p) && !slices.ContainsFunc(found, func(s evidence.Process) bool { return s.PID == first.PID }) {
			found = append(found, first)
		}
	}
	slices.SortStableFunc(found, olderFirst)
	for _, p := range found {
		owner := errandOwner(p, owners)
		if i := slices.IndexFunc(late, func(l lateErrand) bool { return owner.id != "" && l.owner.id == owner.id }); i >= 0 {
			late[i].others = append(late[i].others, p)
		} else {
			late = append(late, lateErrand{Process: p, owner: owner})
		}
	}
	return late
}

func (v *view) errandFinding(p lateErrand, owners map[string]listed) Finding {
	f := Finding{
		ID: ErrandStuck, Severity: Warning, Since: v.evidence.At.Add(-p.Age), Subject: p.owner.subject(),
		Summary: v.errandPhrase(p.Process, owners),
		Next: []Step{
			{Text: "what it runs, and for what that waits", Command: fmt.Sprintf("pstree -aclp %d; cat /proc/%d/wchan /proc/%d/stack", p.PID, p.PID, p.PID)},
			v.logStep("what the runtime says of it"),
		},
	}
	f.say(describe("it", p.Process), v.errandWaits(p.Process))
	sayFirst(&f, p.others, errandsTold, "such errand", func(other evidence.Process) string { return "also " + v.errandPhrase(other, owners) })
	limit := p.ErrandLimit()
	f.say(fmt.Sprintf("told from %s on, many times what its like take", span(v.unlessBusy(limit, errandBusy*limit))),
		"what the kubelet asked of this pod waits for it, and is asked again when its own deadline ends it")
	if !v.runs(p.Process) { // its number may be another's by now
		f.Next = f.Next[1:]
		return f.withChain(uncut(v.chainFrom(p.Process)))
	}
	if f.Subject.none() {
		f.Group = fmt.Sprintf("errand %d", p.PID)
	}
	if isPlugin(p.Process) {
		f.Next = append(f.Next, Step{Text: "is the network's own agent of this node well", Command: v.crictl("ps", "--name", p.Command)})
	}
	f.Next = append(f.Next, Step{Text: "ends it: the runtime reports a failure, and the kubelet tries again", Command: fmt.Sprintf("kill %d", p.PID), Risky: true})
	return f.withChain(v.chainFrom(p.Process))
}
