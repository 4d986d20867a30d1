package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
)

// forgetSandboxes makes the runtime list none of the first pods.
func forgetSandboxes(n *node, many int) {
	n.Pods = slices.DeleteFunc(slices.Clone(n.Pods), func(p *engine.Pod) bool {
		return slices.ContainsFunc(p.Seen().Sandboxes, func(s pleg.Sandbox) bool { return slices.Index(sandboxIDs[:many], s.ID) >= 0 })
	})
}

var sandboxIDs = []string{"sandbox-0", "sandbox-1", "sandbox-2"}

// What a runtime has lost is not compared with what it has started since: a kubelet starts each pod anew, and soon
// there are more new ones than old ones.
func TestLostFoldersStayLost(t *testing.T) {
	for _, more := range []int{0, 3, 9} {
		n := healthy(3 + more)
		in := n.input()
		in.Evidence, in.Endpoint = looked(n), "unix://"+ourSocket
		restarted(in.Evidence, 10*time.Minute)
		for i := 3; i < 3+more; i++ {
			shimOf(in.Evidence, i).Age = 5 * time.Minute
		}
		forgetSandboxes(n, 3)
		if f := find(&orphanShims, factsOf(in))[0]; f.Severity != Critical || !strings.HasPrefix(f.Summary, "containerd has forgotten 3 sandboxes whose work goes on: it began 10m2s ago") {
			t.Errorf("%d begun since: %v %s", more, f.Severity, f.Summary)
		}
	}
}

// A look that was cut off does not show what lives: nothing counts as lost because of it.
func TestAPartialLookLosesNothing(t *testing.T) {
	n := healthy(3)
	in := n.input()
	in.Evidence, in.Endpoint = looked(n), "unix://"+ourSocket
	in.Evidence.Processes.Containers = nil
	in.Evidence.Processes.Partial = "cut off after 2s"
	forgetSandboxes(n, 2)
	f := find(&orphanShims, factsOf(in))[0]
	if f.Severity != Warning || f.Summary != "shims go on with 2 sandboxes that containerd does not list" || strings.Contains(fmt.Sprint(f.Next), "kill -9") {
		t.Errorf("%v %s: %v", f.Severity, f.Summary, f.Next)
	}
}

// While sandboxes are forgotten their images look unused.
func TestImagesOfForgottenSandboxesStay(t *testing.T) {
	n := healthy(3)
	in := n.input()
	in.Evidence, in.Endpoint = looked(n), "unix://"+ourSocket
	restarted(in.Evidence, 14*time.Second)
	fillDisk(in.Evidence)
	forgetSandboxes(n, 1)
	for _, f := range Diagnose(in) {
		if strings.Contains(fmt.Sprint(f.Next), "rmi --prune") {
			t.Errorf("%s: %v", f.ID, f.Next)
		}
	}
}

// CRI-O has no configuration of containerd's.
