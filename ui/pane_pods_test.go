package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/model"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/pods"
)

// podsView is a view of s with what a diagnosis says of its pods.
func podsView(s *engine.Snapshot, found ...diagnose.Finding) *pane.View {
	v := With(View(s), found...)
	v.Pods.Observe(s, diagnose.Update{Update: engine.Update{Snapshot: s}, Findings: found}.Standings())
	return v
}

func podsStage(v *pane.View, w, h int) *Stage {
	return NewStage(pods.New(pane.Settings{}), v, w, h)
}

// next has the pane show another snapshot in the same view.
func next(s *Stage, snap *engine.Snapshot) {
	v := *s.V
	v.Snapshot = snap
	v.Pods.Observe(snap, diagnose.Update{Update: engine.Update{Snapshot: snap}}.Standings())
	s.Show(&v)
}

// podsUnder is what the cursor is on.
func podsUnder(s *Stage) string {
	of := s.Subject()
	return strings.TrimSuffix(of.Pod.Name+"/"+of.Container, "/")
}

func title(s *Stage) string {
	var all []string
	for _, a := range s.Info().About {
		all = append(all, a.Text)
	}
	return strings.Join(all, "  ")
}

// podsNames are those of the pods that are seen, in the order that the pane asked for.
func podsNames(s *Stage) string {
	var all []string
	for _, p := range s.V.Pods.Shown {
		all = append(all, p.Pod.Name)
	}
	return strings.Join(all, " ")
}

func TestPodsGolden(t *testing.T) {
	podsStage(podsView(Hung(), Findings()[:2]...), 118, 35).Press("space", "j", "j").Golden(t, "hung")
	podsStage(podsView(Hostile(), HostileFindings()...), 78, 19).Press("space").EverySize(t)
}

// TestNoPodsSayWhy holds that a pane without pods says why there are none, and what to do.
func TestNoPodsSayWhy(t *testing.T) {
	unlisted := Failing()
	unlisted.Pods, unlisted.Health.ListedAt = nil, time.Time{}
	empty := Healthy()
	empty.Pods = []*engine.Pod{}
	hidden := podsView(Healthy())
	hidden.Filter.Text, hidden.Filter.Namespaces = "zzz", []string{"shop"}
	hidden.Filter.By, _ = model.ParseFilter("zzz")
	hidden.Pods.Filter(func(p *model.Pod, at time.Time) bool { return hidden.Filter.By.Pod(p, at) }, false)
	for _, tt := range []struct {
		v    *pane.View
		want []string
	}{
		{podsView(&engine.Snapshot{At: Noon}), []string{"No list yet", "Waiting for the first one."}},
		{podsView(unlisted, Findings()[:1]...), []string{"ListPodSandbox failed 101 times in 1m: Unavailable: connection refused", "Tried again every 1s; ^r tries now.", "To look into it:"}},
		{podsView(empty), []string{"No pods on this node", "The runtime answers, and lists no sandbox and no container."}},
		{hidden, []string{"No pod matches", "filter      zzz   (esc drops it)", "namespaces  shop   (0 shows all)"}},
	} {
		s := podsStage(tt.v, 78, 19)
		s.Check(t)
		for _, want := range tt.want {
			if s.Row(want) == "" {
				t.Errorf("no line says %q:\n%s", want, s.Text())
			}
		}
	}
}

// Pods with a problem stand first without a key, at every size.
func TestProblemsStandFirst(t *testing.T) {
	for _, size := range Sizes {
		s := podsStage(podsView(Hung(), Findings()...), size[0], size[1])
		lines := strings.Split(s.Text(), "\n")
		if !strings.Contains(lines[1], "nfs-client") || !strings.Contains(lines[2], "payments") {
			t.Errorf("%v: the first lines are\n%s", size, strings.Join(lines[:4], "\n"))
		}
		if podsUnder(s) != "nfs-client" {
			t.Errorf("%v: the cursor is on %s", size, podsUnder(s))
		}
	}
	// So they do when they come later, as long as nobody has moved the cursor.
	s := podsStage(podsView(Big(40, 1)), 78, 10)
	snap := Big(40, 1)
	for _, p := range snap.Pods[20:] {
		p.Status.Containers[0].State, p.Status.Containers[0].ExitCode = pleg.Exited, 1
		p.Current.Containers[0].State = pleg.Exited
	}
	next(s, snap)
	if row := strings.Split(s.Text(), "\n")[1]; !strings.Contains(row, "error") || podsUnder(s) != "deployment-0020-7d9c5b7d4-2m4ns" {
		t.Errorf("the first line is %q, the cursor on %s", row, podsUnder(s))
	}
}

func TestSorting(t *testing.T) {
	s := Healthy()
	a, b, c := Find(s, "nfs-client"), Find(s, "payments-6c8f9d7b5-t8wfx"), Find(s, "prometheus-0")
	for i, p := range []*engine.Pod{a, b, c} {
		p.PodRef = pleg.PodRef{UID: pleg.UID("abc"[i : i+1]), Namespace: "ns", Name: "abc"[i : i+1]}
	}
	s.Pods = []*engine.Pod{a, b, c}
	a.InspectLast, b.InspectLast, c.InspectLast = 3*time.Millisecond, time.Millisecond, 2*time.Millisecond
	a.InspectWorst, b.InspectWorst, c.InspectWorst = 1, 3, 2
	a.LastEvent, c.LastEvent = engine.Event{Seq: 1, SeenAt: Ago(time.Minute)}, engine.Event{Seq: 2, SeenAt: Ago(time.Second)}
	for _, tt := range []struct{ by, order, back string }{
		{"", "b a c", "c a b"},
		{"namespace", "a b c", "a b c"},
		{"pod", "a b c", "c b a"},
		{"state", "b a c", "a c b"},
		{"run", "b c a", "a c b"},
		{"ctrs", "b c a", "a c b"},
		{"exit", "b a c", "b a c"},
		{"rst", "b a c", "b a c"},
		{"age", "b a c", "c a b"},
		{"lastevent", "c a b", "a c b"},
		{"inspect", "a c b", "b c a"},
		{"worst", "b c a", "a c b"},
		{"remark", "b a c", "b a c"},
	} {
		st := NewStage(pods.New(pane.Settings{Sort: tt.by}), podsView(s), 198, 10)
		if got := podsNames(st); got != tt.order {
			t.Errorf("by %q: %s, want %s", tt.by, got, tt.order)
		}
		if got := podsNames(st.Press("I")); got != tt.back {
			t.Errorf("by %q, inverted: %s, want %s", tt.by, got, tt.back)
		}
	}
	st := podsStage(podsView(s), 198, 10)
	for range 40 {
		if st.Said != "pods sorted by remark" {
			st.Press(">")
		}
	}
	if st.Said != "pods sorted by remark" {
		t.Errorf("after 40 times >: %s", st.Said)
	}
	if st.Press(">"); st.Said != "pods sorted by trouble" || podsNames(st) != "b a c" {
		t.Errorf("once more: %s, %s", st.Said, podsNames(st))
	}
	if st.Press("I"); st.Said != "pods sorted by trouble, reversed" {
		t.Errorf("inverted: %s", st.Said)
	}
}

// Which columns there are follows from the width alone: data does not move them, and
// with more room there are never fewer.
func TestColumnsFollowTheWidthAlone(t *testing.T) {
	heads := func(v *pane.View, w int) []string {
		all := strings.ReplaceAll(strings.Split(podsStage(v, w, 5).Text(), "\n")[0], "LAST EVENT", "LAST_EVENT")
		return strings.Fields(all)
	}
	before := 0
	for w := 20; w <= 300; w++ {
		quiet, ill := heads(podsView(Healthy()), w), heads(podsView(Unhealthy(), Findings()...), w)
		if a, b := strings.Join(quiet, " "), strings.Join(ill, " "); a != b {
			t.Errorf("%d cells: %s on a quiet node, %s on one with troubles", w, a, b)
		}
		if len(quiet) < before {
			t.Errorf("%d cells: %d columns, %d with one cell less", w, len(quiet), before)
		}
		before = len(quiet)
	}
}

func TestCursorStaysOnItsObject(t *testing.T) {
	s := podsStage(podsView(Healthy()), 118, 35).Press("g", "]", "space", "j", "j")
	if podsUnder(s) != "payments-6c8f9d7b5-t8wfx/istio-proxy" {
		t.Fatalf("on %s", podsUnder(s))
	}
	first := *Find(Healthy(), "nfs-client")
	first.PodRef = pleg.PodRef{UID: "new", Namespace: "a-first", Name: "newcomer"}
	more := Healthy()
	more.Pods = append([]*engine.Pod{&first}, more.Pods...)
	if next(s, more); podsUnder(s) != "payments-6c8f9d7b5-t8wfx/istio-proxy" {
		t.Errorf("after a pod came: on %s", podsUnder(s))
	}
	gone := Healthy()
	p := Find(gone, "payments-6c8f9d7b5-t8wfx")
	c := *p.Current
	c.Containers = c.Containers[:1] // istio-proxy is the second
	p.Current = &c
	if next(s, gone); podsUnder(s) != "payments-6c8f9d7b5-t8wfx" {
		t.Errorf("after its container went: on %s", podsUnder(s))
	}
	gone = Healthy()
	gone.Pods = gone.Pods[:len(gone.Pods)-1]
	if next(s, gone); podsUnder(s) == "" {
		t.Error("after its pod went: on none")
	}
}

func TestProblemJumps(t *testing.T) {
	snap := Hung()
	ill := []string{"nfs-client", "payments-6c8f9d7b5-t8wfx", "prometheus-0"}
	v := podsView(snap, Findings()...)
	v.Pods.Observe(snap, Standings(snap, map[pleg.UID]diagnose.Trouble{
		Find(snap, ill[1]).UID: {Severity: diagnose.Warning, Text: "crash loop"}, Find(snap, ill[2]).UID: {Text: "exited with an error"},
	}))
	s := podsStage(v, 118, 20)
	for i, want := range []string{ill[1], ill[2], ill[0], ill[1]} {
		if s.Press("]"); podsUnder(s) != want {
			t.Errorf("%d: on %s, want %s", i, podsUnder(s), want)
		}
	}
	if s.Press("["); podsUnder(s) != ill[0] {
		t.Errorf("back: on %s, want %s", podsUnder(s), ill[0])
	}
	for _, key := range []string{"]", "["} {
		if s.Press("g", "j", "j", "j", key); podsUnder(s) != ill[0] {
			t.Errorf("%s from one without a problem: on %s, want the pod that hangs", key, podsUnder(s))
		}
	}
	v.Pods.Filter(func(p *model.Pod, _ time.Time) bool { return p.Out == nil }, false)
	s.Refresh()
	if s.Press("g", "j", "j", "j", "]"); podsUnder(s) != ill[1] {
		t.Errorf("with that hidden: on %s, want the next", podsUnder(s))
	}
	if s = podsStage(podsView(Big(3, 1)), 118, 20).Press("["); s.Said != "no pod has a problem" || len(s.Asked) != 1 {
		t.Errorf("%q, asked %q", s.Said, s.Asked)
	}
}

// Right unfolds the pod, left folds it and goes to it, whatever line of it the cursor is on.
func TestFold(t *testing.T) {
	s := podsStage(podsView(Healthy()), 118, 35)
	lines := func() int { return len(strings.Fields(s.Text())) }
	all := lines()
	on := podsUnder(s)
	for _, tt := range []struct {
		keys string
		open bool
	}{{"left", false}, {"right", true}, {"right", true}, {"j right", true}, {"left", false}, {"space j space", false}} {
		s.Press(strings.Fields(tt.keys)...)
		if open := lines() > all; open != tt.open {
			t.Errorf("after %s unfolded is %v", tt.keys, open)
		}
		if !tt.open && podsUnder(s) != on {
			t.Errorf("after %s on %s, want %s", tt.keys, podsUnder(s), on)
		}
	}
}

func TestProblemsOnlyAtTheStart(t *testing.T) {
	s := NewStage(pods.New(pane.Settings{Problems: true}), podsView(Healthy()), 78, 19)
	if got := title(s); !strings.HasSuffix(got, "problems only") {
		t.Errorf("the title is %q", got)
	}
	if s.Press("W"); strings.Contains(title(s), "only") {
		t.Errorf("after W it is %q", title(s))
	}
}

// A frame costs what is seen of it, not what there is.
// TestAdviceNamesACommandOnce holds that two findings that ask for the same step give one line.
func TestAdviceNamesACommandOnce(t *testing.T) {
	look := []diagnose.Step{{Kind: diagnose.Look, Text: "what it waits for", Command: "cat /proc/812/stack"}}
	found := []diagnose.Finding{{ID: "process-stuck", Next: look}, {ID: "runtime-unresponsive", Next: look}}
	s := podsStage(podsView(&engine.Snapshot{At: Noon, Seq: 1}, found...), 78, 20)
	if got := strings.Count(s.Text(), look[0].Command); got != 1 {
		t.Errorf("the command stands there %d times:\n%s", got, s.Text())
	}
}

func BenchmarkFrame(b *testing.B) {
	s := podsStage(podsView(Big(1000, 3)), 198, 45)
	b.ReportAllocs()
	for b.Loop() {
		s.Lines()
	}
}

func BenchmarkPodsObserve(b *testing.B) {
	v := podsView(Big(1000, 3))
	s := podsStage(v, 198, 45)
	b.ReportAllocs()
	for b.Loop() {
		v.Pods.Filter(nil, false) // all rows anew
		s.Refresh()
	}
}

// TestFilterOfEventsLeavesThePods holds that the title says so.
func TestFilterOfEventsLeavesThePods(t *testing.T) {
	v := podsView(Healthy())
	by, err := model.ParseFilter("kind:died")
	if err != nil {
		t.Fatal(err)
	}
	v.Filter.By, v.Filter.Text = by, "kind:died"
	if got := title(podsStage(v, 118, 20)); !strings.Contains(got, "all: the filter is about events") {
		t.Errorf("title %q", got)
	}
}
