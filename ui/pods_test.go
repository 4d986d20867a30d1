package ui

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
)

func names(p *pods) string {
	var out []string
	for _, r := range p.rows {
		if r.tree < 0 {
			out = append(out, r.info.pod.Name)
		}
	}
	return strings.Join(out, " ")
}

func threePods() *engine.Snapshot {
	s := healthyNode()
	a := pod("ns", "a", time.Hour, ctr{"x", pleg.Running, 2, 0, ""})
	b := pod("ns", "b", time.Minute, ctr{"x", pleg.Exited, 5, 137, "OOMKilled"})
	c := pod("ns", "c", 26*time.Hour, up("x"), up("y"))
	a.InspectLast, b.InspectLast, c.InspectLast = 3*time.Millisecond, time.Millisecond, 2*time.Millisecond
	a.InspectWorst, b.InspectWorst, c.InspectWorst = 1, 3, 2
	a.LastEvent, c.LastEvent = engine.Event{Seq: 1, SeenAt: ago(time.Minute)}, engine.Event{Seq: 2, SeenAt: ago(time.Second)}
	s.Pods = []*engine.Pod{a, b, c}
	return s
}

func TestSorting(t *testing.T) {
	tests := []struct {
		by          columnID
		order, back string
	}{
		{colNamespace, "a b c", "c b a"},
		{colPod, "a b c", "c b a"},
		{colState, "b a c", "c a b"},
		{colReady, "b c a", "a c b"},
		{colExit, "b a c", "c a b"},
		{colRestarts, "b a c", "c a b"},
		{colAge, "b a c", "c a b"},
		{colEvent, "c a b", "b a c"},
		{colInspect, "a c b", "b c a"},
		{colWorst, "b c a", "a c b"},
		{colRemark, "b a c", "c a b"},
	}
	for _, tt := range tests {
		p := newPods()
		p.sort = tt.by
		p.observe(threePods())
		if got := names(&p); got != tt.order {
			t.Errorf("by %s: %s, want %s", podColumns[tt.by].head, got, tt.order)
		}
		p.invert = true
		p.rebuild(noon)
		if got := names(&p); got != tt.back {
			t.Errorf("by %s, inverted: %s, want %s", podColumns[tt.by].head, got, tt.back)
		}
	}
}

func TestCursorStaysOnItsObject(t *testing.T) {
	s := newStage(t, 120, 40).show(healthyNode()).press("G", "space", "j", "j")
	if s.name() != "istio-proxy" {
		t.Fatalf("on %q", s.name())
	}
	first := pod("a-first", "newcomer", time.Second, up("x"))
	next := healthyNode()
	next.Pods = append([]*engine.Pod{first}, next.Pods...)
	if s.show(next); s.name() != "istio-proxy" {
		t.Errorf("after a pod came before it: on %q", s.name())
	}
	gone := healthyNode()
	last := gone.Pods[len(gone.Pods)-1]
	c := *last.Current
	c.Containers = c.Containers[:1] // istio-proxy is the second
	changed := *last
	changed.Current, changed.Old = &c, &c
	gone.Pods[len(gone.Pods)-1] = &changed
	if s.show(gone); s.name() != last.Name {
		t.Errorf("after its container went: on %q, want the pod", s.name())
	}
	gone.Pods = gone.Pods[:len(gone.Pods)-1]
	if s.show(gone); s.name() != "checkout-5f7b8c6d9-kq7vz" {
		t.Errorf("after its pod went: on %q, want the last pod", s.name())
	}
	if len(s.m.pods.open) != 0 || len(s.m.pods.all.Values) != len(gone.Pods) {
		t.Error("what belonged to the pod is kept for ever")
	}
}

func TestUnchangedPodsAreNotWorkedOutAgain(t *testing.T) {
	p := newPods()
	snap := threePods()
	p.observe(snap)
	before := p.info("uid-ns-c")
	later := *snap
	p.observe(&later)
	if p.info("uid-ns-c") != before {
		t.Error("a pod that did not change was worked out again")
	}
}

func TestTimeAloneMakesAProblem(t *testing.T) {
	snap := healthyNode()
	snap.Pods = []*engine.Pod{pod("ns", "stuck", time.Second, ctr{"x", pleg.Created, 0, 0, ""})}
	s := newStage(t, 80, 24).show(snap)
	later := *snap
	later.At = noon.Add(time.Minute)
	was := s.m.pods.troubled
	if s.show(&later); was != 0 || s.m.pods.troubled != 1 {
		t.Errorf("problems %d, a minute later %d; want 0, 1", was, s.m.pods.troubled)
	}
}

func TestConditions(t *testing.T) {
	fails := pod("ns", "p", time.Hour, up("x"))
	fails.StatusErr, fails.Status = errHung, nil
	settled := pod("ns", "p", time.Hour, up("x"))
	settled.Current = nil
	unready := pod("ns", "p", time.Hour)
	unready.Current.Sandboxes[0].State = pleg.Exited
	blind := pod("ns", "p", time.Hour, ctr{"x", pleg.Exited, 0, 0, ""})
	blind.Status = nil
	stale := pod("ns", "p", time.Hour, ctr{"x", pleg.Exited, 0, 0, ""}) // listed as exited, not inspected yet
	stale.Status.Containers[0].State = pleg.Running
	tests := []struct {
		pod  *engine.Pod
		want string // the word, and what is ready
	}{
		{pod("ns", "p", time.Hour, up("x"), up("y")), "running 2/2"},
		{pod("ns", "p", time.Hour, ctr{"init", pleg.Exited, 0, 0, "Completed"}, up("y")), "running 1/1"},
		{pod("ns", "p", time.Hour, ctr{"x", pleg.Exited, 0, 0, "Completed"}), "completed 0/1"},
		{pod("ns", "p", time.Hour, ctr{"x", pleg.Exited, 0, 3, "Error"}, up("y")), "error 1/2"},
		{pod("ns", "p", time.Hour, ctr{"x", pleg.Exited, 0, 3, "Error"}, ctr{"x", pleg.Running, 1, 0, ""}), "running 1/1"},
		{pod("ns", "p", time.Hour, ctr{"x", pleg.Created, 0, 0, ""}, up("y")), "created 1/2"},
		{pod("ns", "p", time.Hour, ctr{"x", pleg.Unknown, 0, 0, ""}, up("y")), "unknown 1/2"},
		{pod("ns", "p", time.Hour), "no ctrs 0/0"},
		{unready, "exited 0/0"},
		{blind, "exited 0/1"},
		{stale, "exited 0/1"},
		{fails, "failing 1/1"},
		{settled, "running 1/1"},
	}
	for i, tt := range tests {
		f := inform(tt.pod, nil, diagnose.Trouble{})
		if got := fmt.Sprintf("%s %d/%d", conditionWords[f.state], f.running, f.wanted); got != tt.want {
			t.Errorf("%d: %s, want %s", i, got, tt.want)
		}
	}
}

func TestColumnsFit(t *testing.T) {
	for w := range 300 {
		shown := arrange(w, need{w % 30, w % 70, w % 40})
		if n := used(shown); n > w && len(shown) > 1 {
			t.Errorf("columns for %d cells take %d", w, n)
		}
	}
	wide := arrange(200, need{12, 40, 9})
	if len(wide) != int(columnCount) || used(wide) != 200 {
		t.Errorf("200 cells: %d columns in %d cells", len(wide), used(wide))
	}
}

// TestRemarksTakeNoRoomWhereThereAreNone holds that names come before an empty
// column, and remarks before what other columns say as well.
func TestRemarksTakeNoRoomWhereThereAreNone(t *testing.T) {
	for _, tt := range []struct {
		need need
		want string
	}{
		{need{11, 36, 0}, "NAMESPACE:11 POD:36 STATE:11 READY:5 CTRS:5 EXIT:4 RST:4 AGE:5 LAST EVENT:13 INSPECT:7"},
		{need{11, 36, 30}, "NAMESPACE:11 POD:36 STATE:11 READY:5 EXIT:4 RST:4 AGE:5 INSPECT:7 REMARK:19"},
	} {
		var got []string
		for _, s := range arrange(110, tt.need) {
			got = append(got, fmt.Sprintf("%s:%d", podColumns[s.id].head, s.width))
		}
		if columns := strings.Join(got, " "); columns != tt.want {
			t.Errorf("%+v: %s, want %s", tt.need, columns, tt.want)
		}
	}
}

// TestTree holds that a container is shown below the sandbox that it was made
// in: after a sandbox was replaced, a pod has containers in both.
func TestTree(t *testing.T) {
	made := func(sandboxes []string, containers map[string]string) *engine.Pod {
		p := pod("ns", "p", time.Hour)
		p.Current.Sandboxes = nil
		for i, id := range sandboxes {
			p.Current.Sandboxes = append(p.Current.Sandboxes, pleg.Sandbox{ID: id, Attempt: uint32(i)})
		}
		for _, name := range slices.Sorted(maps.Keys(containers)) {
			p.Current.Containers = append(p.Current.Containers, pleg.Container{ID: name, Name: name, SandboxID: containers[name]})
		}
		return p
	}
	tests := []struct {
		name string
		pod  *engine.Pod
		want string // ids in the order of the rows; a dot after the last of its kind
	}{
		{"one sandbox", made([]string{"S"}, map[string]string{"a": "S", "b": "S"}), "S. a b."},
		{"a replaced sandbox", made([]string{"S", "T"}, map[string]string{"a": "S", "b": "T", "c": "S"}), "S a c. T. b."},
		{"a sandbox that is not listed", made([]string{"S", "T"}, map[string]string{"a": "gone", "b": ""}), "S T. a b."},
		{"no sandbox", made(nil, map[string]string{"a": "gone"}), "a."},
		{"no containers", made([]string{"S"}, nil), "S."},
	}
	for _, tt := range tests {
		var got []string
		for _, r := range inform(tt.pod, nil, diagnose.Trouble{}).tree {
			got = append(got, r.id+pick(r.last, ".", ""))
		}
		if rows := strings.Join(got, " "); rows != tt.want {
			t.Errorf("%s: rows %q, want %q", tt.name, rows, tt.want)
		}
	}
}

// A filter by age is asked again as time passes, though no pod changes.
func TestFilterFollowsTheTime(t *testing.T) {
	p, snap := newPods(), threePods()
	limit := snap.At.Add(time.Minute)
	p.filter(func(_ *podInfo, at time.Time) bool { return at.Before(limit) }, true)
	p.observe(snap)
	before := len(p.shown)
	later := *snap
	later.At = limit
	if p.observe(&later); before != 3 || len(p.shown) != 0 {
		t.Errorf("%d pods, then %d; want 3, then none", before, len(p.shown))
	}
}

// Of the calls about a pod the oldest is told, and the next once that has ended.
func TestHangingCallOfAPod(t *testing.T) {
	p, snap := newPods(), threePods()
	uid := snap.Pods[0].UID
	about := func(op call.Operation) engine.Flight {
		return engine.Flight{Op: op, Pod: snap.Pods[0].PodRef, Since: ago(time.Minute)}
	}
	for _, out := range [][]engine.Flight{{about(call.PodSandboxStatus), about(call.ContainerStatus)}, {about(call.ContainerStatus)}} {
		next := *snap
		next.InFlight = out
		p.observe(&next)
		if got := p.info(uid).out; got == nil || got.Op != out[0].Op {
			t.Errorf("%v hangs, want %v", got, out[0].Op)
		}
	}
}
