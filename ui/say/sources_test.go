package say

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// told returns what is said of each source in one text.
func told(r *evidence.Report) (all []string) {
	for _, s := range Sources(r) {
		all = append(all, fmt.Sprintf("%s: %s %q", s.Name, s.Said, s.Lines))
	}
	return all
}

func TestSources(t *testing.T) {
	idle := []string{
		"goroutines: not read: nothing hangs []", "calls in flight: not read: nothing hangs []", "kernel: not read: nothing hangs []",
		"units: not read: nothing hangs []", "runtime's folders: not read: nothing hangs []",
	}
	if diff := cmp.Diff(idle, told(&evidence.Report{})); diff != "" {
		t.Errorf("where nothing hangs (-want +got):\n%s", diff)
	}
	from := evidence.Source{From: "here", Took: 3 * time.Millisecond, Bytes: 2048}
	lines := slices.Repeat([]evidence.KernelLine{{Kind: evidence.HungTask, Age: time.Minute, Text: "INFO: task", Count: 3}}, mostLines+2)
	r := &evidence.Report{At: noon, Kernel: evidence.Kernel{Source: from, Lines: lines}, Deep: &evidence.Deep{
		Stacks: evidence.Stacks{
			Source: evidence.Source{From: "a file", Took: time.Second, Partial: "cut off after 64M"}, At: noon.Add(-time.Minute), Total: 900, Program: "crio",
			Locks: []evidence.Lock{
				{Of: "container status", Address: "0x1", Waiters: 41, Longest: 5 * time.Minute, Calls: []string{"ListContainers", "ContainerStatus"}, Likely: true, Holder: evidence.Goroutine{Number: 7, State: "select", For: time.Minute, Call: "StopContainer", Doing: "ttrpc Task.Kill", Container: "0123456789abcdef"}},
				{Of: "store.Get", Address: "0x2", Waiters: 2, Holder: evidence.Goroutine{Number: 8, State: "chan receive"}},
				{Of: "store.Get", Address: "0x3", Waiters: 2},
			},
			Open: []evidence.Goroutine{{Number: 9, Call: "RunPodSandbox", Doing: "exec of a program", For: time.Hour}},
		},
		Calls:   evidence.RuntimeCalls{Source: from, InFlight: []evidence.InFlight{{Method: "StopContainer", Count: 1, For: time.Minute}, {Method: "Status", Count: 2}}},
		Units:   evidence.Units{Source: evidence.Source{Missing: "no init system that is known"}},
		Objects: evidence.Objects{Source: evidence.Source{Missing: "not available: connection refused"}},
	}}
	want := []string{
		`goroutines: 900 of crio, 1m old from a file in 1.0s; cut off after 64M [` +
			`"41 wait for container status (0x1), for 5m at most: ListContainers, ContainerStatus; goroutine 7 (StopContainer, ttrpc Task.Kill, for 1m, container 0123456789abc) likely holds it" ` +
			`"2 wait for store.Get (0x2), for 0s at most; goroutine 8 (chan receive) holds it" "2 wait for store.Get (0x3), for 0s at most; who holds it was not found" "goroutine 9 (RunPodSandbox, exec of a program, for 1h)"]`,
		`calls in flight: 2 methods, 2.0K from here in 3ms ["StopContainer 1 in flight for at least 1m" "Status 2 in flight"]`,
		fmt.Sprintf(`kernel: 10 lines of note, 2.0K from here in 3ms %q`, append(slices.Repeat([]string{"hung task 1m ago, the last of 3: INFO: task"}, mostLines), "and 2 more")),
		`units: not available: no init system that is known []`,
		`runtime's folders: not available: connection refused []`,
	}
	if diff := cmp.Diff(want, told(r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r.Deep.Stacks = evidence.Stacks{Source: evidence.Source{Missing: "still being read", Pending: true}}
	if got := told(r)[0]; got != "goroutines: still being read []" {
		t.Errorf("while it is read: %s", got)
	}
}

func TestHelpers(t *testing.T) {
	pod := &engine.Pod{PodRef: pleg.PodRef{UID: "1", Namespace: "pay", Name: "api"}, Current: &pleg.Pod{
		Sandboxes: []pleg.Sandbox{{ID: "s1"}}, Containers: []pleg.Container{{ID: "c1", Name: "app"}},
	}}
	r := &evidence.Report{
		Processes: evidence.Processes{
			Daemons: []evidence.Process{{PID: 812, Command: "containerd"}}, Shims: []evidence.Process{{PID: 4711, Command: "shim"}},
			Helpers: []evidence.Process{
				{PID: 1, Parent: 812, Command: "umount", Verb: "umount", State: evidence.Sleeping},
				{PID: 2, Parent: 4711, Command: "runc", Verb: "update", Container: "c1", Own: true, Age: 10 * time.Minute, State: evidence.Uninterrupted, Wchan: "nfs_wait"},
				{PID: 3, Parent: 9, Command: "bridge", Verb: "CNI ADD", Pod: pleg.PodRef{Namespace: "pay", Name: "new"}, Age: time.Minute, State: evidence.Sleeping},
				{PID: 4, Parent: 2, Command: "runc", Container: "s1", Age: time.Second, State: evidence.Sleeping},
				{PID: 6, Parent: 4711, Command: "crun", Verb: "kill", Container: "c8", Own: true, Age: 2 * time.Second, State: evidence.Sleeping},
				{PID: 5, Parent: 4711, Command: "runc", Verb: "delete", Container: "c9", Age: time.Second, State: evidence.Sleeping},
			},
		},
		Deep: &evidence.Deep{Objects: evidence.Objects{All: []evidence.Object{{ObjectRef: pleg.ObjectRef{ID: "c8", Pod: pleg.PodRef{UID: "1"}}}, {ObjectRef: pleg.ObjectRef{ID: "c9", Pod: pleg.PodRef{Namespace: "pay", Name: "old"}, Container: "app"}}}}},
	}
	want := []string{
		"runc update of pay/api/app c1, 10m old (5s at most is usual), pid 2, child of shim 4711, in uninterruptible sleep (D) in nfs_wait",
		"bridge CNI ADD of pay/new, 1m old (15s at most is usual), pid 3, child of 9, sleeping",
		"crun kill of pay/api c8, 2s old, pid 6, child of shim 4711, sleeping",
		"runc of pay/api s1, 1s old, pid 4, child of runc 2, sleeping",
		"runc delete of pay/old/app c9, 1s old, pid 5, child of shim 4711, sleeping",
		"umount, 0s old, pid 1, child of containerd 812, sleeping",
	}
	s := &engine.Snapshot{Pods: []*engine.Pod{pod}}
	if diff := cmp.Diff(want, Helpers(s, r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := Seen(r); got != "3 sandboxes and containers: 0 by control groups, 1 by shims, 2 by folders" {
		t.Errorf("seen: %q", got)
	}
	if r.Processes.Helpers = nil; Helpers(s, r) != nil {
		t.Error("helpers where there are none")
	}
}
