package model

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/widget"
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
	return list(&engine.Snapshot{At: now, Health: engine.Health{ListedAt: now}, Pods: []*engine.Pod{p}}, map[pleg.UID]diagnose.Trouble{p.UID: t}).Shown[0]
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

// TestDiedUnseen holds that a container that has died, as only an event source saw, is in no
// other state than that.
func TestDiedUnseen(t *testing.T) {
	for dead, want := range map[string]string{"": "state:running", "c1": "state:running state:dead", "c1 c2": "state:dead", "5a": "state:running state:dead"} {
		var all []ledger.UnseenDeath
		for id := range strings.FieldsSeq(dead) {
			all = append(all, ledger.UnseenDeath{ObjectRef: pleg.ObjectRef{ID: id}, At: now})
		}
		l := list(&engine.Snapshot{At: now, Health: engine.Health{ListedAt: now}, Pods: []*engine.Pod{web()}, Dead: ledger.NewDead(all, 0)}, nil)
		var got []string
		for _, filter := range []string{"state:running", "state:dead"} {
			if f, err := ParseFilter(filter); err == nil && f.Pod(l.Shown[0], now) {
				got = append(got, filter)
			}
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("with %q dead: %q, want %q", dead, got, want)
		}
	}
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
		{"api | backup", true, true},
		{"api|backup", true, true},
		{"api nginx | backup zzz", true, false},
		{"!api", false, true},
		{`"api-7d4f"`, true, false},
		{"ns:default", true, false},
		{"NS:Default", true, false},
		{"ns:def", false, false},
		{"ns:kube-*", false, true},
		{"ns:*sys*", false, true},
		{"ns:*", true, true},
		{"!ns:default", false, true},
		{"ns!=default", false, true},
		{"ns=default", true, false},
		{"pod:nginx", false, false},
		{"pod:7d4", true, false},
		{"container:nginx", true, false},
		{"container!=nginx", false, true},
		{"id:c9", false, true},
		{"uid:uid-w", true, false},
		{"state:running", true, false},
		{"state:exited", false, true},
		{"state!=exited", true, false},
		{"state:absent", false, true},
		{"state:error", false, true},
		{"state:Error", false, true},
		{"state!=error", true, false},
		{"!state:error", true, false},
		{"state:hung", false, false},
		{"kind:died", true, true},
		{"type:ContainerDied", true, true},
		{"!kind:died", true, true},
		{"kind!=died", true, true},
		{"kind:died ns:default", true, false},
		{"delivery:delivered", true, true},
		{"exit!=0", false, true},
		{"exit:137", false, true},
		{"exit=0", false, false},
		{"exit>=100", false, true},
		{"restarts>0", false, true},
		{"restarts<=0", true, false},
		{"reason:oom", false, true},
		{"lat>500ms", false, true},
		{"lat<500ms", true, false},
		{"age<5m", false, true},
		{"age>=1h", true, false},
		{"age<1d", true, true},
		{"re:^api-", true, false},
		{`re:"^(run|zzz)$"`, false, true},
		{"re!=^api-", false, true},
		{"has:problem", false, true},
		{"!has:problem", true, false},
		{"has:error", false, false},
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

func TestEvent(t *testing.T) {
	died := engine.Event{
		Event: pleg.Event{
			Kind: pleg.Died, ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{UID: "u", Namespace: "default", Name: "api-1"}, ID: "abc", Container: "nginx"},
			From: pleg.Running, To: pleg.Exited, Exited: true, ExitCode: 3,
		},
		SeenAt: now.Add(-time.Minute), Lag: 900 * time.Millisecond, HasLag: true, Reason: "Error",
	}
	for _, tt := range []struct {
		filter string
		want   bool
	}{
		{"", true}, {"nginx", true}, {"zzz", false}, {"ns:default", true}, {"pod:nginx", false}, {"container:ngi", true},
		{"id:ab", true}, {"re:^api-", true}, {"re!=^api-", false}, {"state:exited", true}, {"state!=exited", false},
		{"kind:died", true}, {"kind!=died", false}, {"type:started", false}, {"delivery:discarded", false},
		{"exit!=0", true}, {"exit:3", true}, {"exit<3", false}, {"restarts<5", false}, {"lat>500ms", true}, {"lag>1s", false},
		{"age<5m", true}, {"age>5m", false}, {"reason:err", true}, {"has:problem", true}, {"has:error", false},
	} {
		f, err := ParseFilter(tt.filter)
		if err != nil {
			t.Errorf("Parse(%q): %v", tt.filter, err)
		} else if got := f.Event(died, now); got != tt.want {
			t.Errorf("%q shows it = %v", tt.filter, got)
		}
	}
	if f, _ := ParseFilter("exit=0"); f.Event(engine.Event{}, now) {
		t.Error("an event without an exit code passes exit=0")
	}
	if f, _ := ParseFilter("lat<5s"); f.Event(engine.Event{}, now) {
		t.Error("an event without a lag passes lat<5s")
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		filter string
		offset int
		want   string
	}{
		{"a lat>fast", 6, `column 7: want a duration, such as 500ms, not "fast"`},
		{"lat>", 4, "column 5: want a duration, such as 500ms"},
		{"age<2d1", 4, `column 5: want a duration, such as 5m or 2d, not "2d1"`},
		{"age<5", 4, `column 5: want a duration, such as 5m or 2d, not "5"`},
		{"exit!=x", 6, `column 7: want an exit code, such as 137, not "x"`},
		{"state:alive", 6, `column 7: want one of absent, completed, created, dead, empty, error, exited, failing, ghost, hung, left, running, stuck, unknown, unlisted, not "alive"`},
		{"ns: x", 3, "column 4: want a namespace, such as default or kube-*"},
		{"ns<x", 2, `column 3: want ":" after ns, not "<"`},
		{"re:(", 3, `column 4: want a regular expression, not "("`},
		{"re:^(run|zzz)$", 3, `column 4: want a regular expression, not "^(run"`}, // the bar ends a term, even here
		{"a |", 3, "column 4: want a word or a field"},
		{"| a", 0, `column 1: want a word or a field, not "|"`},
		{"!", 1, "column 2: want a word or a field"},
		{`"a b`, 4, `column 5: want a closing quote (")`},
		{"zz:1", 0, `column 1: want one of ns, pod, container, id, re, state, kind, delivery, seen, reason, has, exit, restarts, lat, age, or quotes around a text, not "zz"`},
	} {
		_, err := ParseFilter(tt.filter)
		e, ok := errors.AsType[*FilterError](err)
		if !ok {
			t.Errorf("Parse(%q) = %v, want an *Error", tt.filter, err)
			continue
		}
		if e.Offset != tt.offset || e.Error() != tt.want {
			t.Errorf("Parse(%q): %d, %q\nwant %d, %q", tt.filter, e.Offset, e, tt.offset, tt.want)
		}
	}
}

func TestString(t *testing.T) {
	for in, want := range map[string]string{
		" a   b|c ":           "a b | c",
		"Namespace:x":         "ns:x",
		"!TYPE=died":          "!kind=died",
		`"a"`:                 "a",
		`"a b"`:               `"a b"`,
		`"ns:x"`:              `"ns:x"`,
		`re:"\d|x"`:           `re:"\\d|x"`,
		`"say \"x\" \\ here"`: `"say \"x\" \\ here"`,
		"nginx=x":             "",
	} {
		f, err := ParseFilter(in)
		if err != nil && want != "" {
			t.Errorf("Parse(%q): %v", in, err)
		} else if got := f.String(); got != want {
			t.Errorf("Parse(%q).String() = %q, want %q", in, got, want)
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
	for _, s := range []string{"", "a b | !c", `re:"^a|b$" lat>=5m`, `ns:"a\"b" "x\y`, "!", "age<5d", "exit!=0|has:problem", "a\x9b", "İ K"} {
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
		first.Pod(shown(web(), ""), now)
		first.Event(engine.Event{}, now)
		again, err := ParseFilter(first.String())
		if err != nil {
			t.Fatalf("Parse(%q).String() = %q: %v", s, first, err)
		}
		opts := cmp.Options{cmp.AllowUnexported(Filter{}, term{}), cmp.Comparer(func(a, b *field) bool { return a == b }),
			cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".pattern" }, cmp.Ignore())}
		if diff := cmp.Diff(first, again, opts); diff != "" || !reflect.DeepEqual(first.String(), again.String()) {
			t.Fatalf("%q came back changed as %q:\n%s", s, first, diff)
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

func TestHasProblem(t *testing.T) {
	for in, want := range map[string]bool{"has:problem": true, "!has:problem": false, "has!=problem": false, "has:error": false, "ns:nowhere": false, "": true} {
		f, err := ParseFilter(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Pod(shown(web(), "crash loop"), now); got != want {
			t.Errorf("%q shows a pod with a problem: %v, want %v", in, got, want)
		}
	}
}

func TestTimed(t *testing.T) {
	for in, want := range map[string]bool{"": false, "a ns:b | exit!=0": false, "age<5m": true, "age>2d1h": true, "a | !age>1h b": true} {
		if f, err := ParseFilter(in); err != nil || f.Timed() != want {
			t.Errorf("%q: timed = %v (%v), want %v", in, f.Timed(), err, want)
		}
	}
	columns := []FilterColumn{{Name: "worst", Pod: func(*Pod, time.Time) widget.Cell { return widget.Cell{} }}}
	for in, want := range map[string]bool{"worst>1s": true, "worst>3": false, "worst:slow": false} { // of columns durations alone are ages
		if f, err := ParseFilter(in, columns...); err != nil || f.Timed() != want {
			t.Errorf("%q: timed = %v (%v), want %v", in, f.Timed(), err, want)
		}
	}
}

// TestSeen holds that events are found by who saw them first, and by what the kubelet
// cannot see.
func TestSeen(t *testing.T) {
	first := func(by ledger.Source) engine.Event {
		e := engine.Event{Seq: 1, Seen: &ledger.Sightings{}}
		e.Seen.At[ledger.FromRelist], e.Seen.At[by] = now.Add(time.Second), now
		return e
	}
	unseen := engine.Event{Event: pleg.Event{Delivery: pleg.Unseen, Kind: pleg.NetworkFailed}}
	for _, tt := range []struct {
		filter string
		e      engine.Event
		want   bool
	}{
		{"seen:cri", first(ledger.FromCRI), true},
		{"seen:CRI", first(ledger.FromPidfd), false},
		{"seen:pidfd", first(ledger.FromPidfd), true},
		{"seen!=relist", first(ledger.FromPidfd), true},
		{"seen:relist", engine.Event{}, true},
		{"delivery:unseen", unseen, true},
		{"delivery:derived", unseen, false},
		{"kind:networkfailed", unseen, true},
		{"kind:NetFail", unseen, true},
		{"kind:netup", unseen, false},
	} {
		f, err := ParseFilter(tt.filter)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Event(tt.e, now); got != tt.want {
			t.Errorf("%s: %v", tt.filter, got)
		}
		p := web()
		p.LastEvent = tt.e
		if got := f.Pod(NewPod(p), now); !got || !f.OfEvents() {
			t.Errorf("%s: a pod with that event: %v, about events %v; it leaves the pods alone", tt.filter, got, f.OfEvents())
		}
	}
}

// TestOfEvents holds that a filter that also asks for something of pods is not about events.
func TestOfEvents(t *testing.T) {
	for filter, want := range map[string]bool{"": false, "kind:died": true, "kind:died | seen:cri": true, "kind:died ns:a": false, "api": false} {
		if f, err := ParseFilter(filter); err != nil || f.OfEvents() != want {
			t.Errorf("%q: %v, %v", filter, f.OfEvents(), err)
		}
	}
}
