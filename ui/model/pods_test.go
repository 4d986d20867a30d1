package model_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/model"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return noon.Add(-d) }

// ctr is a container that runs, or is in another state.
type ctr struct {
	name   string
	state  pleg.State
	again  uint32
	exit   int32
	reason string
}

func up(name string) ctr { return ctr{name: name, state: pleg.Running} }

func pod(name string, all ...ctr) *engine.Pod {
	ref := pleg.PodRef{UID: pleg.UID(name), Namespace: "ns", Name: name}
	seen := &pleg.Pod{PodRef: ref, Sandboxes: []pleg.Sandbox{{ID: "S", State: pleg.Running, CreatedAt: ago(time.Hour)}}}
	st := &pleg.PodStatus{PodRef: ref}
	for i, c := range all {
		id := fmt.Sprint(name, i)
		seen.Containers = append(seen.Containers, pleg.Container{ID: id, Name: c.name, State: c.state, Attempt: c.again, SandboxID: "S"})
		st.Containers = append(st.Containers, pleg.ContainerStatus{ID: id, Name: c.name, State: c.state, ExitCode: c.exit, Reason: c.reason})
	}
	return &engine.Pod{PodRef: ref, Old: seen, Current: seen, Status: st, Inspected: 1}
}

func node(pods ...*engine.Pod) *engine.Snapshot {
	return &engine.Snapshot{At: noon, Health: kubelet.Health{ListedAt: ago(time.Second)}, Pods: pods}
}

// observe has a list take over a node on which some pods have troubles.
func observe(l *model.Pods, s *engine.Snapshot, troubles map[pleg.UID]diagnose.Trouble) {
	l.Observe(s, new(diagnose.Standings).Update(s, troubles))
}

// stand returns what is shown of a pod about which a call hangs unless out is nil.
func stand(p *engine.Pod, out *call.Flight, t diagnose.Trouble) *model.Pod {
	s := node(p)
	if out != nil {
		f := *out
		f.Pod = p.PodRef
		s.InFlight = []call.Flight{f}
	}
	var l model.Pods
	observe(&l, s, map[pleg.UID]diagnose.Trouble{p.UID: t})
	return l.Find(p.UID)
}

func names(l *model.Pods) string {
	var all []string
	for _, p := range l.Shown {
		all = append(all, p.Pod.Name)
	}
	return strings.Join(all, " ")
}

func TestStates(t *testing.T) {
	done := func(code int32) ctr { return ctr{name: "x", state: pleg.Exited, exit: code} }
	fails := pod("p", up("x"))
	fails.StatusErr, fails.Status = errors.New("no answer"), nil
	settled := pod("p", up("x"))
	settled.Current = nil
	unready := pod("p")
	unready.Current.Sandboxes[0].State = pleg.Exited
	blind := pod("p", done(0))
	blind.Status = nil
	stale := pod("p", done(0)) // listed as exited, not inspected yet
	stale.Status.Containers[0].State = pleg.Running
	for i, tt := range []struct {
		pod  *engine.Pod
		want string // the word, and what runs
	}{
		{pod("p", up("x"), up("y")), "running 2/2"},
		{pod("p", ctr{"init", pleg.Exited, 0, 0, "Completed"}, up("y")), "running 1/1"},
		{pod("p", done(0)), "completed 0/1"},
		{pod("p", done(3), up("y")), "error 1/2"},
		{pod("p", done(3), ctr{"x", pleg.Running, 1, 0, ""}), "running 1/1"},
		{pod("p", ctr{"x", pleg.Created, 0, 0, ""}, up("y")), "created 1/2"},
		{pod("p", ctr{"x", pleg.Unknown, 0, 0, ""}, up("y")), "unknown 1/2"},
		{pod("p"), "empty 0/0"},
		{unready, "exited 0/0"},
		{blind, "exited 0/1"},
		{stale, "exited 0/1"},
		{fails, "failing 1/1"},
		{settled, "running 1/1"},
	} {
		p := model.NewPod(tt.pod)
		if got := fmt.Sprintf("%s %d/%d", p.Word(), p.Running, p.Wanted); got != tt.want {
			t.Errorf("%d: %s, want %s", i, got, tt.want)
		}
		if !slices.Contains(diagnose.PodWords(), p.Word()) {
			t.Errorf("%q is none of the words", p.Word())
		}
	}
}

// The worst comes first though nobody sorts: what hangs, what is critical, what cannot
// be inspected, what is wrong, the rest; those that are equal by their names.
func TestWorstFirst(t *testing.T) {
	failing := pod("d-failing", up("x"))
	failing.Failure = &answers.Failure{Err: errors.New("no")}
	hung := pod("f-hung", up("x"))
	s := node(pod("a", up("x")), pod("b-error", ctr{"x", pleg.Exited, 0, 1, ""}), pod("c-loop", up("x")), failing, pod("e-ghost", up("x")), hung, pod("g-loop", up("x")), pod("h", up("x")))
	s.InFlight = []call.Flight{{Op: call.ContainerStatus, Pod: hung.PodRef, ID: "f-hung0", Since: ago(time.Minute)}}
	loop := diagnose.Trouble{Severity: diagnose.Warning, By: diagnose.CrashLoop, Text: "crash loop"}
	troubles := map[pleg.UID]diagnose.Trouble{
		"b-error": {Text: "exited with an error"}, "c-loop": loop, "g-loop": loop,
		"e-ghost": {Severity: diagnose.Critical, By: diagnose.GhostRunning, Text: "no process"},
	}
	var l model.Pods
	observe(&l, s, troubles)
	const want = "f-hung e-ghost d-failing c-loop g-loop b-error a h"
	if got := names(&l); got != want {
		t.Errorf("%s, want %s", got, want)
	}

	// A container that crashes and is started again does not make its pod jump.
	crashed := *s
	crashed.Pods = slices.Clone(s.Pods)
	crashed.Pods[6] = pod("g-loop", ctr{"x", pleg.Exited, 7, 137, "OOMKilled"})
	if observe(&l, &crashed, troubles); names(&l) != want || l.Find("g-loop").Word() != "error" {
		t.Errorf("after a crash %s, want %s", names(&l), want)
	}

	l.Arrange(model.Order{By: "name", Sort: slices.Reverse[[]*model.Pod]})
	if got := names(&l); got != "h g-loop f-hung e-ghost d-failing c-loop b-error a" {
		t.Errorf("sorted by a person: %s", got)
	}
	if l.Arrange(model.Order{}); names(&l) != want {
		t.Errorf("sorted by trouble again: %s, want %s", names(&l), want)
	}
	if l.Arrange(model.Order{Problems: true}); names(&l) != "f-hung e-ghost c-loop g-loop b-error" || l.Troubled != 5 || !l.Critical {
		t.Errorf("problems only: %s; %d in trouble, critical %v", names(&l), l.Troubled, l.Critical)
	}
}

// Only what changed is worked out anew, and whoever goes by Changed sees when.
func TestUnchangedPodsAreNotWorkedOutAgain(t *testing.T) {
	var l model.Pods
	var pods diagnose.Standings
	s := node(pod("a", up("x")), pod("b", up("x")))
	l.Observe(s, pods.Update(s, nil))
	before, changed := l.Find("b"), l.Changed
	later := *s
	later.At = noon.Add(time.Second)
	if l.Observe(&later, pods.Update(&later, nil)); l.Find("b") != before || l.Changed != changed {
		t.Error("worked out again, though nothing changed")
	}
	if l.Observe(&later, pods.Update(&later, map[pleg.UID]diagnose.Trouble{"a": {Text: "x"}})); l.Find("b") != before || l.Changed == changed {
		t.Error("a trouble of one pod is not seen, or has others worked out again")
	}
}

// A filter by age is asked again as time passes, though no pod changes.
func TestFilterFollowsTheTime(t *testing.T) {
	var l model.Pods
	s := node(pod("a", up("x")), pod("b", up("x")))
	limit := noon.Add(time.Minute)
	l.Filter(func(_ *model.Pod, at time.Time) bool { return at.Before(limit) }, true)
	standings := new(diagnose.Standings).Update(s, nil)
	l.Observe(s, standings)
	before := len(l.Shown)
	later := *s
	later.At = limit
	if l.Observe(&later, standings); before != 2 || len(l.Shown) != 0 {
		t.Errorf("%d pods, then %d; want 2, then none", before, len(l.Shown))
	}
	for _, name := range []string{"a", "b"} {
		if l.Filter(func(p *model.Pod, _ time.Time) bool { return p.Pod.Name == name }, false); names(&l) != name {
			t.Errorf("another filter shows %q, want %q", names(&l), name)
		}
	}
}

// A remark names the container where there are several, and tells how it ended behind what else is
// wrong.
func TestRemark(t *testing.T) {
	oom := ctr{"x", pleg.Exited, 0, 137, "OOMKilled"}
	hangs := &call.Flight{Op: call.ContainerStatus, Container: "x", Since: ago(time.Minute)}
	told := pod("p", ctr{"x", pleg.Exited, 0, 1, "Error"})
	told.Status.Containers[0].Message = "no such file"
	fails := pod("p", oom)
	fails.StatusErr = &call.Error{Code: "Unavailable", Text: "dial unix /run/containerd/containerd.sock: connection refused", Kind: call.ErrUnavailable}
	for _, tt := range []struct {
		pod  *engine.Pod
		out  *call.Flight
		want string
	}{
		{pod("p", oom), nil, "no IP; OOMKilled"},
		{pod("p", oom, up("y")), nil, "no IP; x: OOMKilled"},
		{pod("p", ctr{"x", pleg.Exited, 0, 1, "Error"}), nil, "crash loop, no IP"},
		{told, nil, "no IP; no such file"},
		{pod("p", oom), hangs, "ContainerStatus hangs"},
		{pod("p", oom, up("y")), hangs, "x: ContainerStatus hangs"},
		{fails, nil, "Unavailable: connection refused"},
		{pod("p", up("x")), nil, "crash loop, no IP"},
	} {
		if got := stand(tt.pod, tt.out, diagnose.Trouble{Text: "crash loop, no IP", Beside: "no IP"}).Remark; got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	if got := stand(pod("p", oom), nil, diagnose.Trouble{Text: "crash loop"}).Remark; got != "OOMKilled" {
		t.Errorf("%q of a crash loop alone, want OOMKilled", got)
	}
}

// A pod whose call hangs has a problem as long as it does, and says for how long.
func TestHungWhileItHangs(t *testing.T) {
	for out, want := range map[time.Duration]string{
		time.Second: "hung 1s", 119 * time.Second: "hung 119s", 999 * time.Second: "hung 999s", time.Hour - 1: "hung 60m", 7*time.Hour + 59*time.Minute: "hung 479m", 100 * time.Hour: "hung 4d4h",
	} {
		p := stand(pod("p", up("x")), &call.Flight{Op: call.ContainerStatus, Container: "x", Since: ago(out)}, diagnose.Trouble{})
		if p.Says(noon) != want || len(want) > 9 || p.Word() != "hung" || p.Remark != "ContainerStatus hangs" {
			t.Errorf("%v: %q, %q, %q, want %q", out, p.Says(noon), p.Word(), p.Remark, want)
		}
	}
	var l model.Pods
	s := node(pod("a", up("x")))
	for _, tt := range []struct {
		out  []call.Flight
		hung int
	}{
		{[]call.Flight{{Pod: s.Pods[0].PodRef, Since: ago(time.Second / 2)}}, 0}, // no longer than others
		{[]call.Flight{{Pod: s.Pods[0].PodRef, Since: ago(2 * time.Second)}}, 1},
		{[]call.Flight{{By: call.ByProbe, Pod: s.Pods[0].PodRef, Since: ago(time.Minute)}}, 0},
		{nil, 0},
	} {
		now := *s
		now.InFlight = tt.out
		if observe(&l, &now, nil); l.Critical != (tt.hung > 0) || l.Troubled != tt.hung {
			t.Errorf("%v: critical %v, %d in trouble, want %d", tt.out, l.Critical, l.Troubled, tt.hung)
		}
	}
}

// A container is shown below the sandbox that it was made in: after a sandbox was
// replaced, a pod has containers in both.
func TestParts(t *testing.T) {
	made := func(sandboxes []string, containers map[string]string) *engine.Pod {
		p := pod("p")
		p.Current.Sandboxes = nil
		for i, id := range sandboxes {
			p.Current.Sandboxes = append(p.Current.Sandboxes, pleg.Sandbox{ID: id, Attempt: uint32(i)})
		}
		for _, name := range slices.Sorted(maps.Keys(containers)) {
			p.Current.Containers = append(p.Current.Containers, pleg.Container{ID: name, Name: name, SandboxID: containers[name]})
		}
		return p
	}
	turned := made([]string{"S", "T"}, map[string]string{"a": "S", "b": "T"})
	slices.Reverse(turned.Current.Sandboxes)
	for _, tt := range []struct {
		name string
		pod  *engine.Pod
		want string // ids in the order of the rows; a dot after the last of its kind
	}{
		{"one sandbox", made([]string{"S"}, map[string]string{"a": "S", "b": "S"}), "S. a b."},
		{"a replaced sandbox", made([]string{"S", "T"}, map[string]string{"a": "S", "b": "T", "c": "S"}), "S a c. T. b."},
		{"listed the other way round", turned, "S a. T. b."},
		{"a sandbox that is not listed", made([]string{"S", "T"}, map[string]string{"a": "gone", "b": ""}), "S T. a b."},
		{"no sandbox", made(nil, map[string]string{"a": "gone"}), "a."},
		{"no containers", made([]string{"S"}, nil), "S."},
	} {
		var got []string
		for _, r := range model.NewPod(tt.pod).Parts() {
			id := r.ID
			if r.Last {
				id += "."
			}
			got = append(got, id)
		}
		if rows := strings.Join(got, " "); rows != tt.want {
			t.Errorf("%s: rows %q, want %q", tt.name, rows, tt.want)
		}
	}
}
