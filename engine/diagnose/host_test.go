package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

const ourSocket = "/run/containerd/containerd.sock"

// looked returns what a look at the healthy node of this snapshot shows: a shim
// and a pause process for each pod, a process for each container, and nothing
// wrong with anything.
func looked(n *node) *evidence.Report {
	r := &evidence.Report{At: now.Add(-2 * time.Second)}
	r.Processes.Containers = make(map[string][]evidence.Process)
	pid := 1000
	next := func(command, id string) evidence.Process {
		pid++
		return evidence.Process{PID: pid, Parent: 1, Command: command, State: evidence.Sleeping, Age: 24 * time.Hour, Container: id}
	}
	for _, p := range n.Pods {
		sandbox := p.Seen().Sandboxes[0].ID
		shim := next("containerd-shim", "")
		shim.Sandbox, shim.Socket, shim.Own = sandbox, ourSocket, true
		r.Processes.Shims = append(r.Processes.Shims, shim)
		r.Processes.Containers[sandbox] = []evidence.Process{next("pause", sandbox)}
		for _, c := range p.Seen().Containers {
			r.Processes.Containers[c.ID] = []evidence.Process{next("app", c.ID), next("worker", c.ID)}
		}
	}
	r.Processes.Daemons = []evidence.Process{next("containerd", ""), next("kubelet", "")}
	r.Disk = evidence.Disk{Path: "/var/lib/containerd", Total: 200 << 30, Free: 60 << 30, Left: 70 << 30, Inodes: 1 << 20, InodesUnused: 1 << 19}
	r.Clock = evidence.Clock{Watched: time.Hour}
	r.Kubelet = evidence.Kubelet{
		Version: "v1.33.4",
		Ping:    evidence.Answer{Asked: true, URL: "http://127.0.0.1:10248/healthz", Took: time.Millisecond, Text: "ok", OK: true},
		Metrics: evidence.Answer{Asked: true, URL: "http://127.0.0.1:10255/metrics", Took: 20 * time.Millisecond, OK: true},
		ReadAt:  r.At.Add(-30 * time.Millisecond),
		Relist:  evidence.Timing{Count: 4000}, LastSeen: now.Add(-4 * time.Second), Discarded: 0,
	}
	return r
}

// saw has a node that has a past look twice, with ten seconds between, and see the same.
func (n *node) saw(r *evidence.Report) {
	if n.past == nil {
		return
	}
	before := *r
	before.At = r.At.Add(-10 * time.Second)
	n.past.Add(update(n))
	n.past.AddReport(&before)
	n.past.AddReport(r)
}

// seenTwice returns the same tests for nodes that were looked at twice.
func seenTwice(tests []hostTest) []hostTest {
	all := slices.Clone(tests)
	for i := range all {
		change := all[i].change
		all[i].change = func(n *node, r *evidence.Report) {
			change(n, r)
			n.saw(r)
		}
	}
	return all
}

// shimOf returns the shim of the i-th pod, to change it.
func shimOf(r *evidence.Report, i int) *evidence.Process {
	return &r.Processes.Shims[slices.IndexFunc(r.Processes.Shims, func(p evidence.Process) bool { return p.Sandbox == fmt.Sprintf("sandbox-%d", i) })]
}

// all changes all processes of a container.
func all(r *evidence.Report, id string, change func(p *evidence.Process)) {
	for i := range r.Processes.Containers[id] {
		change(&r.Processes.Containers[id][i])
	}
}

// hostTest is a case of a rule that goes by the node's evidence.
type hostTest struct {
	name     string
	change   func(n *node, r *evidence.Report)
	want     string // beginning of the summary of the first finding; empty for none
	severity Severity
	subject  Subject
}

func runHostTests(t *testing.T, look func(*Facts) []Finding, build func(int) *node, tests []hostTest) {
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := build(3)
			r := looked(n)
			tt.change(n, r)
			in := n.input()
			in.Evidence, in.Endpoint = r, "unix://"+ourSocket
			v := factsOf(in)
			got := look(v)
			if len(got) > 0 && !v.fresh(ruleOf(got[0].ID).Needs) {
				got = nil
			}
			if tt.want == "" {
				if len(got) > 0 {
					t.Errorf("found %+v", got)
				}
				return
			}
			if len(got) == 0 || !strings.HasPrefix(got[0].Summary, tt.want) || got[0].Severity != tt.severity {
				t.Fatalf("found %+v, want %s %q", got, tt.severity, tt.want)
			}
			if tt.subject != (Subject{}) && got[0].Subject != tt.subject {
				t.Errorf("subject %+v, want %+v", got[0].Subject, tt.subject)
			}
			for i, f := range got[1:] {
				if f.Key() == got[i].Key() {
					t.Errorf("told twice: %+v", f)
				}
			}
			if len(got[0].Evidence) == 0 || len(got[0].Next) == 0 {
				t.Errorf("no evidence or nothing to do: %+v", got[0])
			}
			answered(t, got[0])
		})
	}
}

func TestHealthyEvidence(t *testing.T) {
	for _, n := range []*node{healthy(0), healthy(3), checked(0), checked(110)} {
		in := n.input()
		in.Evidence, in.Endpoint = looked(n), "unix://"+ourSocket
		wantIDs(t, Diagnose(in))
		in.Evidence = &evidence.Report{At: now}
		wantIDs(t, Diagnose(in))
	}
}
