package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

// errandLong is how long runc or a network plugin may take: the one takes a tenth of
// a second, the other waits for an agent that starts anew.
const errandLong = time.Minute

// longVerbs are those that last as long as what they run.
var longVerbs = []string{"", "run", "exec", "init", "events"}

// errandStuck finds what the runtime or a shim has called and has not ended, though it
// could run: the call that waits for it has no answer. What is in the kernel or held
// is [processStuck]'s.
func errandStuck(v *view) []Finding {
	if v.evidence.Processes.Missing != "" {
		return nil
	}
	var stuck []evidence.Process
	for _, p := range v.evidence.Processes.Errands {
		if p.Age >= errandLong && !slices.Contains(longVerbs, p.Verb) && !shimStuck(p) && v.isParent(p.Parent) {
			stuck = append(stuck, p)
		}
	}
	if len(stuck) == 0 {
		return nil
	}
	slices.SortStableFunc(stuck, func(a, b evidence.Process) int { return cmp.Compare(b.Age, a.Age) })
	owners := v.listedOwners()
	return oneEach(stuck, stuckMost, func(p evidence.Process) Finding { return v.errandFinding(p, owners) }, func(rest []evidence.Process) Finding {
		all := Step{Text: "all of them", Command: "ps -eo pid,ppid,state,etime,args --forest | grep -e runc -e cni"}
		return restOf(ErrandStuck, count(len(rest), "more errand")+" of the runtime have not ended", all, rest,
			func(p evidence.Process) (Subject, string) { return errandOwner(p, owners).subject(), errandName(p) })
	})
}

// isParent reports whether a process is the runtime that is looked at, or a shim of it.
func (v *view) isParent(pid int) bool {
	is := func(p evidence.Process) bool { return p.PID == pid }
	return slices.ContainsFunc(v.daemons(), is) || slices.ContainsFunc(v.evidence.Processes.Shims, func(p evidence.Process) bool { return is(p) && p.Own })
}

// errandOwner returns for whom it runs. A sandbox that is being made is not listed.
func errandOwner(p evidence.Process, owners map[string]listed) listed {
	owner, known := owners[p.Container]
	if !known {
		owner = listed{id: p.Container, sandbox: isPlugin(p), pod: pleg.PodRef{Namespace: p.Namespace, Name: p.Pod}}
	}
	return owner
}

// isPlugin reports whether an errand is a network plugin.
func isPlugin(p evidence.Process) bool { return strings.HasPrefix(p.Verb, "CNI") }

// errandName says what it is to do: runc delete, CNI ADD by calico.
func errandName(p evidence.Process) string {
	if isPlugin(p) {
		return p.Verb + " by " + p.Command
	}
	return p.Command + " " + p.Verb
}

func (v *view) errandFinding(p evidence.Process, owners map[string]listed) Finding {
	owner := errandOwner(p, owners)
	f := Finding{
		ID: ErrandStuck, Severity: Warning, Since: v.evidence.At.Add(-p.Age), Subject: owner.subject(),
		Summary:  fmt.Sprintf("%s for %s has run for %s (pid %d)", errandName(p), owner, going(p.Age), p.PID),
		Evidence: []string{describe("it", p), "what the kubelet asked of this pod waits for it, and is asked again when its own deadline ends it"},
		Next: []Step{
			{Text: "what it runs, and for what that waits", Command: fmt.Sprintf("pstree -aclp %d; cat /proc/%d/wchan /proc/%d/stack", p.PID, p.PID, p.PID)},
			v.logStep("what the runtime says of it"),
		},
	}
	if f.Subject.none() {
		f.Group = fmt.Sprintf("errand %d", p.PID)
	}
	if isPlugin(p) {
		f.Next = append(f.Next, Step{Text: "is the network's own agent of this node well", Command: v.crictl("ps", "--name", p.Command)})
	}
	f.Next = append(f.Next, Step{Text: "ends it: the runtime reports a failure, and the kubelet tries again", Command: fmt.Sprintf("kill %d", p.PID), Risky: true})
	return f
}
