package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
)

// lookedAgain is a node whose last looks, five seconds apart, saw a runc delete of
// container-1-0 with these numbers and ages; an age of 0 saw none.
func lookedAgain(n *node, tries ...[2]int) Input {
	n.past = newWitness()
	n.past.Add(update(n))
	var r *evidence.Report
	for i, try := range tries {
		r = looked(n)
		r.At = ago(time.Duration(len(tries)-1-i) * 5 * time.Second)
		delete(r.Processes.Containers, "container-1-0")
		if try[1] > 0 {
			r.Processes.Helpers = []evidence.Process{{PID: try[0], Command: "runc", Verb: "delete", Container: "container-1-0", Own: true, State: evidence.Sleeping, Age: time.Duration(try[1]) * time.Second, Parent: shimOf(r, 1).PID}}
		}
		n.past.AddReport(r)
	}
	in := n.input()
	in.Evidence = r
	return in
}

// containerd ends runc delete after ten seconds and starts it anew: it is never old, but it is still reported, without
// a break, and as one trouble with the container that it leaves listed.
func TestDeletedAgainAndAgain(t *testing.T) {
	const again, listed = "runc delete of ns-1/pod-00001/app is begun again and again for ", "ns-1/pod-00001/app is listed as running, and has no process"
	for _, tt := range []struct {
		name  string
		tries [][2]int
		want  []string
		kill  string
	}{
		{"the first", [][2]int{{9, 1}, {9, 6}}, []string{listed + ": runc delete of it has run for 6s (pid 9)"}, "kill 9"},
		{"the second", [][2]int{{9, 1}, {9, 6}, {10, 1}}, []string{again + "11s (pid 10 last), child of its shim", listed + ": runc delete of it is begun again and again for 11s (pid 10 last)"}, "kill 10"},
		{"between two", [][2]int{{9, 6}, {10, 1}, {10, 6}, {0, 0}}, []string{again + "21s (pid 10 last)", listed + ": runc delete of it is begun again and again for 21s (pid 10 last)"}, ""},
		{"and late by itself", [][2]int{{9, 6}, {10, 4}, {10, 9}}, []string{again + "16s (pid 10 last)", listed + ": runc delete"}, "kill 10"},
		{"none", [][2]int{{0, 0}, {0, 0}}, []string{listed}, ""},
	} {
		found := Diagnose(lookedAgain(healthy(3), tt.tries...))
		if len(found) != len(tt.want) {
			t.Errorf("%s: %+v", tt.name, found)
			continue
		}
		killed := ""
		for i, want := range tt.want {
			f := found[i]
			answered(t, f)
			if !strings.HasPrefix(f.Summary, want) || f.Subject.ID != "container-1-0" || f.Cause != "" && f.Cause != HelperStuck || i > 0 && f.Cause == "" {
				t.Errorf("%s: %+v, want %q", tt.name, f, want)
			}
			if hasHelper := slices.ContainsFunc(f.Chain, func(l Link) bool { return l.Kind == waits.Helper }); hasHelper == (tt.name == "none") {
				t.Errorf("%s: chain %+v", tt.name, f.Chain)
			}
			for _, s := range f.Next {
				if killed == "" && strings.HasPrefix(s.Command, "kill ") {
					killed = s.Command
				}
			}
		}
		if killed != tt.kill {
			t.Errorf("%s: the step is %q, want %q", tt.name, killed, tt.kill)
		}
	}
}

// A helper that has ended after all is no trouble, however often it was tried.
func TestDeletedAtLast(t *testing.T) {
	n := healthy(3)
	n.pod(1).Old.Containers[0].State = pleg.Exited
	if found := Diagnose(lookedAgain(n, [2]int{9, 6}, [2]int{10, 1}, [2]int{10, 6}, [2]int{})); found != nil {
		t.Errorf("found %+v", found)
	}
}
