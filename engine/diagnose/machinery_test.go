package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
	"github.com/plegtop/plegtop/engine/waits"
)

// Every row of the table keeps the rules, with operands that have blanks and quotes.
func TestRemediesKeepTheRules(t *testing.T) {
	f := factsOf(healthy(1).input())
	for _, r := range knowledge.Remedies() {
		for _, row := range r.Steps {
			v := Values{}
			for _, text := range []string{row.Look, row.Act, row.Do, row.Text, row.When, row.Risk, row.Undo} {
				for _, found := range placeholder.FindAllStringSubmatch(text, -1) {
					v[found[2]] = "/a b'c"
				}
			}
			for _, name := range row.Given {
				v[name] = "/x"
			}
			for _, name := range []string{"pid", "start", "id"} {
				v[name] = "4711"
			}
			for _, name := range row.Without {
				v[name] = nil
			}
			row.Only = nil
			step, fits := (adviser{f, v}).step(row)
			if !fits {
				t.Errorf("%s: %q cannot be shown", r.Culprit, row.Look+row.Act+row.Do)
				continue
			}
			for _, broken := range lint(step.Command, step.Kind == Act) {
				t.Errorf("%s: %s: %s", r.Culprit, step.Command, broken)
			}
			if placeholder.MatchString(step.Command + step.Text + step.Risk) {
				t.Errorf("%s: a placeholder has no value: %v", r.Culprit, step)
			}
		}
	}
}

// The end of a chain names what the text before it has not named, beginning at the helper or the process.
func TestChainLineAndItsEnd(t *testing.T) {
	helper := []Link{
		{Kind: waits.Lock, Name: "status lock of pay/api-7d"},
		{Kind: waits.Container, Name: "pay/api-7d", Proof: "it is"},
		{Kind: waits.Helper, Name: "CNI ADD by calico (5m)", Proof: "child"},
		{Kind: waits.Kernel, Name: "D", Proof: "its state"},
	}
	if got, want := ChainLine(helper), "status lock of pay/api-7d -> CNI ADD by calico (5m) -> D"; got != want {
		t.Errorf("line %q, want %q", got, want)
	}
	runtime := []Link{
		{Kind: waits.Relist, Name: "relist"}, {Kind: waits.Process, Name: "pid 7 (crio)", Proof: "its own", Key: "process 7"},
		{Kind: waits.Kernel, Name: "stopped (T)", Proof: "its state", Key: "kernel 7"},
	}
	calls := []Link{{Kind: waits.Relist, Name: "relist"}, {Kind: waits.Call, Name: "ListPodSandbox", Proof: "no reply"}}
	goroutine := func(doing string, inside bool) []Link {
		return append(slices.Clone(calls), Link{Kind: waits.Goroutine, Name: "goroutine 5" + doing, Proof: "it answers the call", inside: inside})
	}
	for _, tt := range []struct {
		name  string
		links []Link
		named map[string]bool
		want  string
	}{
		{"from the helper on", helper, nil, "CNI ADD by calico (5m) -> D"},
		{"nothing is named", runtime, nil, "pid 7 (crio) -> stopped (T)"},
		{"the process is named", runtime, map[string]bool{"process 7": true}, "stopped (T)"},
		{"and its state", runtime, map[string]bool{"process 7": true, "kernel 7": true}, ""},
		{"only the call is known", calls, nil, ""},
		{"its goroutine waits", goroutine(" waiting for a channel", true), nil, ""},
		{"its goroutine works", goroutine(" in fsync", false), nil, "goroutine 5 in fsync"},
	} {
		if got := chainEnd(tt.links, tt.named); got != tt.want {
			t.Errorf("%s: the chain ends in %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestManyFailingPodsAreOneFinding(t *testing.T) {
	n := healthy(40)
	for i := range manyOwners - 1 {
		n.podFails(i, "app", call.ErrOther, "broken", 4)
	}
	n.podFails(20, "", call.ErrOther, "broken", 4)
	if found := n.diagnose(); len(found) != manyOwners {
		t.Errorf("findings:\n%s", gist(found))
	}
	n.podFails(12, "app", call.ErrOther, "broken", 4)
	found := n.diagnose()
	firstSays(t, found, "ContainerStatus fails for 5 of 40 pods: Unknown: broken")
	if gist(found) != "warning inspect-failing ContainerStatus\nwarning inspect-failing PodSandboxStatus ns-2/pod-00020\n" {
		t.Errorf("findings:\n%s", gist(found))
	}
	f := n.facts()
	failing := f.failingPods()[:5]
	f.Pods = nil // no list has succeeded
	if got := f.manyFail(failing).Values["pods"]; got != "5 pods" {
		t.Errorf("without a list %v fail", got)
	}
}

func TestSizes(t *testing.T) {
	for _, text := range []string{"", "larger than max", "(x vs. 3)", "(99999999999999999999999 vs. 3)", "(3 vs. 99999999999999999999999)"} {
		if got, limit := sizesIn(text); got != 0 || limit != 0 {
			t.Errorf("sizesIn(%q) = %d, %d", text, got, limit)
		}
	}
}

// CRI-O has no configuration of containerd's.
func TestFoldersOfCRIO(t *testing.T) {
	n := healthy(3)
	in := n.input()
	in.Evidence, in.Endpoint = looked(n), "unix:///var/run/crio/crio.sock"
	m := factsOf(in).forgot([]unlisted{{process: evidence.Process{PID: 7}}})
	if steps := fmt.Sprint(m.Steps); !strings.Contains(steps, "crio config") || strings.Contains(steps, "config.toml") {
		t.Error(steps)
	}
}

// All ages of one hang grow together, however old the look is that saw the process behind it.
func TestAgesOfOneHangAgree(t *testing.T) {
	for _, old := range []time.Duration{0, time.Second, 4 * time.Second} {
		n := healthy(3)
		r := looked(n)
		r.At = now.Add(-old)
		update := evidence.Process{PID: 9, Command: "runc", Verb: "update", Container: "container-1-0", Own: true, State: evidence.Sleeping, Age: 47*time.Second - old, Parent: shimOf(r, 1).PID}
		r.Processes.Helpers = []evidence.Process{update}
		app := &r.Processes.Containers["container-2-0"][0]
		app.State, app.For, app.Wchan = evidence.Uninterrupted, 47*time.Second-old, "rpc_wait_bit_killable"
		in := n.hang(call.ListContainers, 47*time.Second).hang(call.ListPodSandbox, 47*time.Second).input()
		in.Evidence = r
		named := 0
		for _, f := range Diagnose(in) {
			for _, text := range append(f.Evidence, f.Summary) {
				named += strings.Count(text, "47s")
				if strings.Contains(text, "46s") || strings.Contains(text, fmt.Sprint(47*time.Second-old)) && old > 0 {
					t.Errorf("look of %v ago: %s: %s", old, f.ID, text)
				}
			}
			for _, l := range f.Chain {
				if strings.Contains(l.Name, "runc") && !strings.Contains(l.Name, "47s") {
					t.Errorf("look of %v ago: link %s", old, l.Name)
				}
			}
		}
		if named < 4 {
			t.Errorf("look of %v ago: 47s is named %d times", old, named)
		}
	}
	// A call that was repeated has been without an answer since the first attempt.
	f := healthy(3).facts()
	h := &answers.Hang{Flight: call.Flight{Op: call.Status, Since: ago(47 * time.Second)}, Out: true, Took: 2 * time.Second, InRow: 10}
	if text := f.say(f.hangLine(h)); !strings.Contains(text, "; 10 calls ended without one") || !strings.Contains(f.silence(h), "for 47s") {
		t.Errorf("%s; %s", text, f.silence(h))
	}
}

func TestKubeletsByOtherNames(t *testing.T) {
	for _, name := range []string{"kubelet", "k3s", "k3s-server", "kubelite", "hyperkube"} {
		in := healthy(1).input()
		in.Evidence = &evidence.Report{Processes: evidence.Processes{Daemons: []evidence.Process{
			{PID: 7, Command: name, State: evidence.Stopped}, {PID: 8, Command: "containerd", State: evidence.Stopped},
		}}}
		f := factsOf(in)
		if got := strings.Join(f.textsOf(f.kubeletLines()), "\n"); !strings.Contains(got, "pid 7") || strings.Contains(got, "pid 8") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// What goes through a runtime that does not answer waits for that, and has nothing to do with room.
func TestNoRoomIsMadeForWhatRunsOn(t *testing.T) {
	f := healthy(3).dead(40).facts()
	for _, id := range []ID{OrphanShims, DiskFull} {
		d := draft{Finding{ID: id}, &Match{}}
		if f.endWithAct(&d); !f.Scope.Whole() || !strings.HasPrefix(d.act().Text, "first make the runtime answer") {
			t.Errorf("%s: %q", id, d.act())
		}
	}
}

func TestOrder(t *testing.T) {
	got := []Finding{
		{ID: PLEGUnhealthy, Severity: Critical, Cause: InspectHung},
		{ID: HostPressure, Severity: Warning},
		{ID: CrashLoop, Severity: Warning},
		{ID: InspectHung, Severity: Warning, Summary: "slow"},
		{ID: ListTooBig, Severity: Critical},
		{ID: InspectHung, Severity: Critical, Summary: "first"},
		{ID: InspectHung, Severity: Critical, Summary: "second"},
		{ID: ListHung, Severity: Warning, Cause: InspectHung},
		{ID: RuntimeDown, Severity: Critical},
		{ID: "odd", Severity: Warning},
	}
	order(got)
	want := []ID{RuntimeDown, ListTooBig, InspectHung, InspectHung, InspectHung, CrashLoop, HostPressure, "odd", PLEGUnhealthy, ListHung}
	if !slices.Equal(ids(got), want) || got[2].Summary != "first" {
		t.Errorf("order %v, want %v", ids(got), want)
	}
}
