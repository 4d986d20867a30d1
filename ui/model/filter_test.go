package model

import (
	"errors"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/pleg"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// web is a healthy pod, job one that failed, both an hour and a minute old.
func web() *engine.Pod {
	ref := pleg.PodRef{UID: "uid-web", Namespace: "default", Name: "api-7d4f"}
	return &engine.Pod{
		PodRef: ref,
		Current: &pleg.Pod{
			PodRef:    ref,
			Sandboxes: []pleg.Sandbox{{ID: "5a", State: pleg.Running, CreatedAt: now.Add(-time.Hour)}},
			Containers: []pleg.Container{
				{ID: "c1", Name: "nginx", State: pleg.Running, CreatedAt: now.Add(-time.Hour)},
				{ID: "c2", Name: "Istio-Proxy", State: pleg.Running, CreatedAt: now.Add(-time.Hour)},
			},
		},
		Inspected: 3, InspectLast: 40 * time.Millisecond,
	}
}

func job() *engine.Pod {
	ref := pleg.PodRef{UID: "uid-job", Namespace: "kube-system", Name: "backup"}
	return &engine.Pod{
		PodRef: ref,
		Old: &pleg.Pod{
			PodRef:     ref,
			Sandboxes:  []pleg.Sandbox{{ID: "5b", State: pleg.Exited, CreatedAt: now.Add(-time.Minute)}},
			Containers: []pleg.Container{{ID: "c9", Name: "run", State: pleg.Exited, Attempt: 1, CreatedAt: now.Add(-time.Minute)}},
		},
		Status: &pleg.PodStatus{Containers: []pleg.ContainerStatus{
			{ID: "c9", State: pleg.Exited, ExitCode: 137, Reason: "OOMKilled"},
		}},
		Inspected: 1, InspectLast: 700 * time.Millisecond,
		LastEvent: engine.Event{Seq: 9, Event: pleg.Event{Kind: pleg.Died}},
	}
}

// troubled is p as it is shown with such a trouble.
func troubled(p *engine.Pod, t diagnose.Trouble) *Pod {
	return list(&engine.Snapshot{At: now, Health: kubelet.Health{ListedAt: now}, Pods: []*engine.Pod{p}}, map[pleg.UID]diagnose.Trouble{p.UID: t}).Shown[0]
}

// list has the pods of a snapshot, some of them in trouble.
func list(s *engine.Snapshot, troubles map[pleg.UID]diagnose.Trouble) *Pods {
	l := new(Pods)
	l.Observe(s, new(diagnose.Standings).Update(s, troubles))
	return l
}

// shown is p as it is shown with such a problem, or with none.
func shown(p *engine.Pod, problem string) *Pod {
	return troubled(p, diagnose.Trouble{Text: problem})
}

func TestPod(t *testing.T) {
	for _, tt := range []struct {
		filter   string
		web, job bool
	}{
		{"", true, true},
		{"  ", true, true},
		{"api", true, false},
		{"API", true, false},
		{"istio", true, false},
		{"kube-system/backup", false, true},
		{"default api", true, false},
		{"api backup", false, false},
		{"!api", false, true},
		{`"api-7d4f"`, true, false},
		{"ns:default", true, false},
		{"NS:Default", true, false},
		{"ns:def", false, false},
		{"ns:kube-*", false, true},
		{"ns:*sys*", false, true},
		{"ns:*", true, true},
		{"!ns:default", false, true},
		{"state:running", true, false},
		{"state:exited", false, true},
		{"!state:exited", true, false},
		{"state:absent", false, true},
		{"state:error", false, true},
		{"state:Error", false, true},
		{"!state:error", true, false},
		{"state:hung", false, false},
		{"kind:died", true, true},
		{"!kind:died", true, true},
		{"kind:died ns:default", true, false},
		{"inspect>500ms", false, true},
		{"inspect<500ms", true, false},
		{"age<5m", false, true},
		{"age>5m", true, false},
		{"age<1d", true, true},
		{"!age<5m", true, false},
		{"re:^api-", true, false},
		{"re:^(run|zzz)$", false, true},
		{`re:"^a b$"`, false, false},
		{"has:problem", false, true},
		{"!has:problem", true, false},
	} {
		f, err := ParseFilter(tt.filter)
		if err != nil {
			t.Errorf("Parse(%q): %v", tt.filter, err)
			continue
		}
		if got := f.Pod(shown(web(), ""), now); got != tt.web {
			t.Errorf("%q shows web = %v", tt.filter, got)
		}
		if got := f.Pod(shown(job(), "exited with an error"), now); got != tt.job {
			t.Errorf("%q shows job = %v", tt.filter, got)
		}
	}
}

// TestInspectionThatHangs holds that a pod is found by how long its inspection hangs, and one that
// was never inspected by none.
func TestInspectionThatHangs(t *testing.T) {
	hung, fresh := shown(web(), ""), shown(web(), "")
	hung.Out = &call.Flight{Since: now.Add(-90 * time.Second)}
	fresh.Pod.Inspected = 0
	for filter, want := range map[string][2]bool{"inspect>1m": {true, false}, "inspect<1m": {false, false}} {
		f, err := ParseFilter(filter)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]bool{f.Pod(hung, now), f.Pod(fresh, now)}; got != want {
			t.Errorf("%s: %v, want %v", filter, got, want)
		}
	}
}

func TestEvent(t *testing.T) {
	died := engine.Event{
		Event: pleg.Event{
			Kind: pleg.Died, ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{UID: "u", Namespace: "default", Name: "api-1"}, ID: "abc", Container: "nginx"},
			From: pleg.Running, To: pleg.Exited, Exited: true, ExitCode: 3,
		},
		SeenAt: now.Add(-time.Minute), Lag: 900 * time.Millisecond, HasLag: true, Reason: "Error",
	}
	network := engine.Event{Event: pleg.Event{Kind: pleg.NetworkFailed}}
	for _, tt := range []struct {
		filter        string
		died, network bool
	}{
		{"", true, true}, {"nginx", true, false}, {"zzz", false, false}, {"ns:default", true, false}, {"re:^api-", true, false},
		{"state:exited", true, false}, {"!state:exited", false, true}, {"has:problem", true, true},
		{"kind:died", true, false}, {"!kind:died", false, true}, {"kind:NetFail", false, true}, {"kind:netup", false, false},
		{"age<5m", true, false}, {"age>5m", false, true}, {"inspect<5m", false, false},
	} {
		f, err := ParseFilter(tt.filter)
		if err != nil {
			t.Errorf("Parse(%q): %v", tt.filter, err)
		} else if got, other := f.Event(died, now), f.Event(network, now); got != tt.died || other != tt.network {
			t.Errorf("%q shows the death = %v, the network's failure = %v", tt.filter, got, other)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		filter string
		offset int
		want   string
	}{
		{"a inspect>fast", 10, `column 11: want a duration, such as 500ms, not "fast"`},
		{"inspect>", 8, "column 9: want a duration, such as 500ms"},
		{"inspect:1s", 7, `column 8: want "<" or ">" after inspect, not ":"`},
		{"age<2d1", 4, `column 5: want a duration, such as 5m or 2d, not "2d1"`},
		{"age<5", 4, `column 5: want a duration, such as 5m or 2d, not "5"`},
		{"age<=5m", 4, `column 5: want a duration, such as 5m or 2d, not "=5m"`},
		{"state:alive", 6, `column 7: want one of absent, completed, created, empty, error, exited, failing, ghost, hung, left, running, stuck, unknown, unlisted, not "alive"`},
		{"kind:born", 5, `column 6: want started, died, removed, changed, podsync, netup or netfail, not "born"`},
		{"has:fun", 4, `column 5: want problem, not "fun"`},
		{"ns: x", 3, "column 4: want a namespace, such as default or kube-*"},
		{"ns:[", 3, `column 4: want a namespace, such as default or kube-*, not "["`},
		{"ns<x", 2, `column 3: want ":" after ns, not "<"`},
		{"re:(", 3, `column 4: want a regular expression, not "("`},
		{"!", 1, "column 2: want a word or a field"},
		{`"a b`, 4, `column 5: want a closing quote (")`},
		{`ns:""`, 3, `column 4: want a namespace, such as default or kube-*, not "\"\""`},
		{"zz:1", 0, `column 1: want one of ns, state, kind, has, re, age, inspect, or quotes around a text, not "zz"`},
	} {
		_, err := ParseFilter(tt.filter)
		e, ok := errors.AsType[*FilterError](err)
		if !ok {
			t.Errorf("Parse(%q) = %v, want a *FilterError", tt.filter, err)
			continue
		}
		if e.Offset != tt.offset || e.Error() != tt.want {
			t.Errorf("Parse(%q): %d, %q\nwant %d, %q", tt.filter, e.Offset, e, tt.offset, tt.want)
		}
	}
}

func TestString(t *testing.T) {
	for in, want := range map[string]string{
		" a   b\tc ":          "a b c",
		"NS:X":                "ns:X",
		"!KIND:died":          "!kind:died",
		`"a"`:                 "a",
		`"a b"`:               `"a b"`,
		`"ns:x"`:              `"ns:x"`,
		`re:"\d |x"`:          `re:"\\d |x"`,
		`"say \"x\" \\ here"`: `"say \"x\" \\ here"`,
	} {
		if f, err := ParseFilter(in); err != nil || f.String() != want {
			t.Errorf("Parse(%q).String() = %q, %v, want %q", in, f, err, want)
		}
	}
}

func TestEventProblem(t *testing.T) {
	for _, tt := range []struct {
		event pleg.Event
		want  string
	}{
		{pleg.Event{}, ""},
		{pleg.Event{Delivery: pleg.Filtered}, ""},
		{pleg.Event{Delivery: pleg.Discarded}, "discarded"},
		{pleg.Event{Exited: true}, ""},
		{pleg.Event{Exited: true, ExitCode: 1}, "exited with an error"},
		{pleg.Event{To: pleg.Unknown}, "state unknown"},
	} {
		if got := EventProblem(engine.Event{Event: tt.event}); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.event, got, tt.want)
		}
	}
}

// No text makes Parse panic, an error lies within the text, and what String
// writes means the same.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "a b !c", `re:"^a|b$" inspect>5m`, `ns:"a\"b" "x\y`, "!", "age<5d", "!has:problem", "a\x9b", "İ K"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		first, err := ParseFilter(s)
		if err != nil {
			e, ok := errors.AsType[*FilterError](err)
			if !ok || e.Offset < 0 || e.Offset > len(s) {
				t.Fatalf("Parse(%q) = %#v", s, err)
			}
			return
		}
		again, err := ParseFilter(first.String())
		if err != nil || again.String() != first.String() || len(again.terms) != len(first.terms) {
			t.Fatalf("%q came back changed as %q, %q: %v", s, first, again, err)
		}
		if again.Pod(shown(web(), ""), now) != first.Pod(shown(web(), ""), now) || again.Event(engine.Event{}, now) != first.Event(engine.Event{}, now) {
			t.Fatalf("%q means something else when it is written as %q", s, first)
		}
	})
}

// Whatever STATE shows can be asked for, and so can the states of containers.
func TestStateKnowsEveryWord(t *testing.T) {
	words := diagnose.PodWords()
	for s := pleg.Absent; s <= pleg.Unknown; s++ {
		words = append(words, s.String())
	}
	for _, word := range words {
		if f, err := ParseFilter("state:" + word); err != nil || f.String() != "state:"+word {
			t.Errorf("state:%s: %q, %v", word, f, err)
		}
	}
	pod := troubled(web(), diagnose.Trouble{Severity: diagnose.Critical, By: diagnose.GhostRunning, Text: "no process"})
	for in, want := range map[string]bool{"state:ghost": true, "state:running": true, "state:left": false} {
		if f, err := ParseFilter(in); err != nil || f.Pod(pod, now) != want {
			t.Errorf("%s shows a ghost: %v (%v), want %v", in, !want, err, want)
		}
	}
}
