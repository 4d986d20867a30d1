package say

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
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
	lines := slices.Repeat([]evidence.KernelLine{{Kind: "hung task", About: knowledge.AboutTask, Age: time.Minute, Text: "INFO: task", Count: 3}}, mostLines+2)
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
