package diagnose

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// brief returns everything of a standing that people see.
func brieflyOf(p *Standing) string {
	return fmt.Sprintf("%s %q %d %d/%d %v", p.Word(), p.Problem, p.Rank, p.Running, p.Wanted, p.Out)
}

// The standings that are kept from one update to the next equal those that a first look works out, whatever changes: a
// pod, what is found about it, a call that hangs, the last death, the first list. A slice that was returned before is
// not changed.
func TestStandingsAreKept(t *testing.T) {
	n := healthy(12)
	n.Health.ListedAt = time.Time{}
	var kept Standings
	words := map[string]bool{}
	var before []*Standing
	var said []string
	for step := range 60 {
		n.At = now.Add(time.Duration(step) * time.Second)
		troubles := map[pleg.UID]Trouble{}
		i := step * 5 % 12
		switch step % 6 {
		case 0:
			n.Pods = slices.Clone(n.Pods)
			p := *n.Pods[i]
			was := *p.Old
			was.Containers = slices.Clone(was.Containers)
			was.Containers[0].State = pleg.State(1 + step/6%4)
			p.Old = &was
			n.Pods[i] = &p
		case 1:
			troubles[n.Pods[i].UID] = Trouble{Critical, GhostRunning, "no process", "no process"}
		case 2:
			n.InFlight = []call.Flight{{Op: call.ContainerStatus, Pod: n.Pods[i].PodRef, Since: n.At.Add(-time.Minute)}}
		case 4:
			n.InFlight = nil
		case 5:
			n.Health.ListedAt = n.At
		}
		got := kept.Update(&n.Snapshot, troubles)
		var all []string
		for j, want := range new(Standings).Update(&n.Snapshot, troubles) {
			if brieflyOf(got[j]) != brieflyOf(want) {
				t.Fatalf("step %d: kept of %s is %s, want %s", step, want.Pod.Name, brieflyOf(got[j]), brieflyOf(want))
			}
			words[want.Word()] = true
			all = append(all, brieflyOf(want))
		}
		for j, p := range before {
			if brieflyOf(p) != said[j] {
				t.Fatalf("step %d: what was returned before has become %s, was %s", step, brieflyOf(p), said[j])
			}
		}
		before, said = got, all
	}
	for _, word := range []string{"running", "ghost", "hung", "unknown"} {
		if !words[word] {
			t.Errorf("no pod was ever %s: %v", word, words)
		}
	}
}

// An update in which nothing changes returns the same standings. An update in which one pod changes returns the same
// standings of all other pods.
func TestStandingsOfWhatDoesNotChange(t *testing.T) {
	n := healthy(3)
	var kept Standings
	first := kept.Update(&n.Snapshot, nil)
	n.At = n.At.Add(time.Second)
	if again := kept.Update(&n.Snapshot, nil); &again[0] != &first[0] {
		t.Error("worked out again, though nothing changed")
	}
	later := kept.Update(&n.Snapshot, map[pleg.UID]Trouble{n.Pods[1].UID: {Text: "x"}})
	if later[1] == first[1] || later[0] != first[0] || later[2] != first[2] {
		t.Error("a trouble of one pod is not seen, or has others worked out again")
	}
}

// Only a late call that is made for the pod itself hangs: probes and sweeps choose pods because of the runtime. If
// there are several such calls, the oldest counts.
func TestWhatHangsForAPod(t *testing.T) {
	n := healthy(1)
	about := func(by call.Asker, op call.Operation, age time.Duration) call.Flight {
		return call.Flight{By: by, Op: op, Pod: n.Pods[0].PodRef, Since: ago(age)}
	}
	for name, tt := range map[string]struct {
		out  []call.Flight
		want call.Operation
	}{
		"a probe":          {[]call.Flight{about(call.ByProbe, call.PodSandboxStatus, time.Minute)}, 0},
		"a sweep":          {[]call.Flight{about(call.BySweep, call.PodSandboxStatus, time.Minute)}, 0},
		"just made":        {[]call.Flight{about(call.ByRelist, call.PodSandboxStatus, time.Second/2)}, 0},
		"of no pod":        {[]call.Flight{{Op: call.ListContainers, Since: ago(time.Minute)}}, 0},
		"beside a probe":   {[]call.Flight{about(call.ByProbe, call.PodSandboxStatus, time.Hour), about(call.ByRelist, call.ContainerStatus, time.Minute)}, call.ContainerStatus},
		"the older of two": {[]call.Flight{about(call.ByRelist, call.ContainerStatus, time.Hour), about(call.ByRelist, call.PodSandboxStatus, time.Minute)}, call.ContainerStatus},
	} {
		n.InFlight = tt.out
		out := new(Standings).Update(&n.Snapshot, nil)[0].Out
		if (out != nil) != (tt.want != 0) || out != nil && out.Op != tt.want {
			t.Errorf("%s: %v hangs, want %v", name, out, tt.want)
		}
	}
}
