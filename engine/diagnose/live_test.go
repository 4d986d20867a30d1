package diagnose

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A script delivers updates one after the other.
type script []engine.Update

func (s *script) Next(context.Context) (engine.Update, error) {
	if len(*s) == 0 {
		return engine.Update{}, engine.ErrStopped
	}
	u := (*s)[0]
	*s = (*s)[1:]
	return u, nil
}

// after returns a node's update with all its times moved to a while later.
func (n *node) after(d time.Duration) engine.Update {
	s := n.Snapshot
	moved := reflect.New(reflect.TypeFor[engine.Snapshot]()).Elem()
	move(moved, reflect.ValueOf(s), d)
	s = moved.Interface().(engine.Snapshot)
	return engine.Update{Snapshot: &s}
}

// move returns a deep copy of a value, with all times in it moved to a while later.
func move(to, from reflect.Value, d time.Duration) {
	switch t, isTime := from.Interface().(time.Time); {
	case isTime && !t.IsZero():
		to.Set(reflect.ValueOf(t.Add(d)))
	case from.Kind() == reflect.Struct && !isTime:
		for i := range from.NumField() {
			move(to.Field(i), from.Field(i), d)
		}
	case from.Kind() == reflect.Slice && !from.IsNil():
		to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
		for i := range from.Len() {
			move(to.Index(i), from.Index(i), d)
		}
	case from.Kind() == reflect.Pointer && !from.IsNil() && from.Elem().Kind() == reflect.Struct && from.Type() != reflect.TypeFor[*call.Error]():
		to.Set(reflect.New(from.Type().Elem()))
		move(to.Elem(), from.Elem(), d)
	default:
		to.Set(from)
	}
}

// play returns the updates that a Live makes from these.
func play(t *testing.T, all ...engine.Update) (out []Update) {
	t.Helper()
	s := script(remember(all))
	live := NewLive(&s, "unix://"+ourSocket)
	for {
		u, err := live.Next(t.Context())
		if err != nil {
			if !errors.Is(err, engine.ErrStopped) {
				t.Fatal(err)
			}
			return out
		}
		whole(t, u.Findings)
		out = append(out, u)
	}
}

// turns returns one line for each finding that began, changed or ended, with the moment.
func turns(all []Update) string {
	var b strings.Builder
	for _, u := range all {
		for _, turn := range u.Turns {
			fmt.Fprintf(&b, "%v %v %v %s\n", u.Snapshot.At.Sub(now), turn.Kind, turn.Finding.Severity, turn.Finding.ID)
		}
	}
	return b.String()
}

const second = time.Second

// new makes the node that of an engine that has only just started.
func (n *node) new(age time.Duration) *node {
	n.Started, n.Relists = ago(age), engine.Relists{}
	for _, op := range []call.Operation{call.PodSandboxStatus, call.ContainerStatus} {
		*n.calls(op) = answers.Calls{Op: op}
	}
	for _, p := range n.Pods {
		p.Status, p.Inspected, p.InspectedAt = nil, 0, time.Time{}
	}
	return n
}

// inVain adds the probes of one round, in which no object was answered.
func (n *node) inVain(i int) *node {
	n.probe(call.Flight{Op: call.Version}, nil).probe(call.Flight{Op: call.Status}, nil)
	for _, f := range []call.Flight{n.flight(i, "", 0), n.flight(i, "app", 0)} {
		f.By, f.Since = call.ByProbe, ago(2200*time.Millisecond)
		n.Probes = append(n.Probes, answers.Outcome{Flight: f, At: ago(200 * time.Millisecond), Took: 2 * second, Err: failure(f.Op, call.ErrDeadline, tooLate)})
	}
	return n
}

// If no status call is answered from the start, that is reported, and no pod is blamed, whatever hangs at a moment.
func TestFirstRelistBlamesNoPod(t *testing.T) {
	var all []engine.Update
	for out := second; out < 120*second; out += second {
		n := healthy(9).new(out+second).hangOn(1, "", out)
		switch {
		case out > 5*second:
			n.inVain(2 + int(out/second)/5%5)
		case out > second:
			n.probe(call.Flight{Op: call.Version}, nil).probe(call.Flight{Op: call.Status}, nil).probing(n.flight(3, "", 0), out-1200*time.Millisecond)
		}
		all = append(all, n.after(out))
	}
	for out := time.Duration(0); out < 10*second; out += second { // its deadline has ended the call, and the next pod's is out
		n := healthy(9).new(122*second+out).podFails(1, "", call.ErrDeadline, tooLate, 1)
		n.pod(1).Failure.At = ago(out)
		n.pod(1).Failure.First = ago(out)
		n.pod(1).Failure.Since = ago(out + 2*time.Minute)
		n.hangOn(4, "", out)
		if out > 5*second {
			n.inVain(6)
		} else if out > 3*second { // the next probe is out, and the last one is not kept
			n.probing(n.flight(6, "", 0), 300*time.Millisecond)
			n.calls(call.PodSandboxStatus).LastErr, n.calls(call.PodSandboxStatus).LastErrAt = failure(call.PodSandboxStatus, call.ErrDeadline, tooLate), ago(300*time.Millisecond)
		}
		all = append(all, n.after(120*second+out))
	}
	told := time.Duration(0)
	for _, u := range play(t, all...) {
		for _, f := range u.Findings {
			if !f.Subject.ofNoPod() {
				t.Fatalf("%v blames %s", u.Snapshot.At.Sub(now), f.Summary)
			}
			if told == 0 {
				told = u.Snapshot.At.Sub(now)
			}
		}
		if told > 0 && (len(u.Findings) == 0 || !strings.HasPrefix(u.Findings[0].Summary, "no status call is answered")) {
			t.Fatalf("%v: not told any more:\n%s", u.Snapshot.At.Sub(now), gist(u.Findings))
		}
		if h := u.Headline; h.Word == "HEALTHY" || h.Severity == Critical && strings.Contains(h.Text, "ns-") {
			t.Errorf("%v: %+v", u.Snapshot.At.Sub(now), h)
		}
	}
	if told == 0 || told > 12*second {
		t.Errorf("told after %v", told)
	}
}

// dead makes nobody listen for some seconds: lists fail each second, and Status every 5.
func (n *node) dead(since int) *node {
	n.fail(call.ListPodSandbox, call.ErrUnavailable, notThere, since)
	if since > 5 {
		n.fail(call.Status, call.ErrUnavailable, notThere, since/5)
	}
	for i := range n.Calls {
		n.Calls[i].LastOK = ago(time.Duration(since)*second + 500*time.Millisecond)
	}
	n.Health.ListedAt = ago(time.Duration(since+1) * second)
	return n
}

// A socket that refuses is in the headline at once. The finding comes soon after, is critical when it lasts, and is
// past when it is over.
func TestDeadSocket(t *testing.T) {
	for _, fresh := range []bool{false, true} {
		var all []engine.Update
		add := func(n *node, at int) {
			if fresh {
				n.Started, n.Relists.Count = ago(time.Duration(at+1)*second), 1
			}
			all = append(all, n.after(time.Duration(at)*second))
		}
		add(healthy(5), 0)
		for i := 1; i < 14; i++ {
			add(healthy(5).dead(i), i)
		}
		for i := 14; i < 22; i++ {
			add(healthy(5), i)
		}
		got := play(t, all...)
		if want := "2s began warning runtime-down\n10s changed critical runtime-down\n17s ended critical runtime-down\n"; turns(got) != want {
			t.Errorf("turns:\n%s", turns(got))
		}
		for i, u := range got {
			if healthy := u.Headline.Word == "HEALTHY"; healthy != (i == 0 || i >= 14) {
				t.Errorf("%d s: %+v", i, u.Headline)
			}
		}
		if h := got[3].Headline; h.Word != "RUNTIME DOWN" || h.Text != "no call reaches the runtime: connection refused" {
			t.Errorf("headline %+v", h)
		}
		ended := got[len(got)-1].Ended
		if len(ended) != 1 || ended[0].Worst != Critical || ended[0].Began.Sub(now) != second || ended[0].End.Sub(now) != 13*second {
			t.Errorf("ended: %+v", ended)
		}
	}
}

// A finding that calls have refuted is not shown any more, and its end is reported when it has lasted: the headline and
// the findings agree. Status is asked so rarely that its first good answer is enough, and a finding that comes back
// soon is the same finding. For a condition see [TestConditionByTurnsIsOneFinding].
func TestAnswersRefute(t *testing.T) {
	for name, n := range map[string]*node{
		"down": healthy(5).dead(12), "down for a moment": healthy(5).dead(4), "silent": healthy(5).hang(call.ListPodSandbox, 6*second).hang(call.Version, 3*second).hang(call.Status, 3*second),
		"list": healthy(5).hang(call.ListContainers, 5*second).probesAnswered(), "list fails": healthy(5).fail(call.ListPodSandbox, call.ErrOther, "locked", 10),
		"no status": healthy(9).hangOn(1, "", 12*second).inVain(4), "unhealthy": healthy(5).unhealthy(), "Status": healthy(5).hang(call.Status, 20*second),
		"inspection": healthy(5).hangOn(3, "app", 47*second).probesAnswered(),
	} {
		t.Run(name, func(t *testing.T) {
			well := healthy(5)
			well.pod(3).InspectedAt = ago(second / 4)
			for i := range well.Calls {
				well.Calls[i].LastOK = ago(second / 4)
			}
			got := play(t, n.after(0), well.after(second/2), well.after(2*second), n.after(3*second), well.after(4*second), well.after(12*second))
			for i, u := range got {
				bad := i == 0 || i == 3
				if u.Headline.Sound() == bad || (len(u.Findings) == 0) == bad || (len(u.Ended) > 0) == bad {
					t.Errorf("update %d: headline %+v, findings %v, ended %v", i, u.Headline, ids(u.Findings), u.Ended)
				}
				rare := len(got[1].Turns) > 0 && got[1].Turns[0].Finding.Subject.Operation == "Status" && got[1].Turns[0].Kind == Over
				if len(u.Turns) > 0 && i != 0 && i != 5 && (!rare || i != 1 && (i != 3 || !u.Turns[0].Again || u.Turns[0].Lasted != 3*second)) {
					t.Errorf("update %d: %s", i, turns(got[i:i+1]))
				}
			}
			if want := len(got[0].Turns); want == 0 || len(got[5].Turns) != want {
				t.Errorf("turns:\n%s", turns(got))
			}
		})
	}
}

// A warning that is not found for a moment counts for as long as it is shown.
func TestHeadlineCountsWhatHolds(t *testing.T) {
	crash := healthy(5).crashes(0, "api", 6, 1)
	got := play(t, crash.after(0), crash.after(2*second), healthy(5).after(3*second), healthy(5).after(12*second))
	for i, want := range []string{allWell.Text, "node stays Ready, 1 warning, about an application: crash loop of ns-0/api/app", "node stays Ready, 1 warning, about an application: crash loop of ns-0/api/app", allWell.Text} {
		if got[i].Headline.Text != want || len(got[i].Findings) != min(i%3, 1) {
			t.Errorf("update %d: %+v, findings %v", i, got[i].Headline, ids(got[i].Findings))
		}
	}
}

// A list that was never answered here may always take that long. A list that is known to take long is slow, and two
// slow lists in a row are enough to know that.
func TestSlowListIsNotCritical(t *testing.T) {
	first := healthy(5).hang(call.ListContainers, 3*second).probesAnswered()
	first.calls(call.ListContainers).LastOK = time.Time{}
	for _, u := range play(t, first.after(0), first.after(3*second)) {
		if slices.ContainsFunc(u.Findings, func(f Finding) bool { return f.Severity == Critical }) {
			t.Errorf("findings %+v", u.Findings)
		}
	}
	took := engine.Relist{At: ago(20 * second), Took: 5 * second, List: 5 * second}
	slow := healthy(5).relisted(took, took).hang(call.ListContainers, 4*second)
	if v := slow.facts(); v.Hangs(call.ListContainers) {
		t.Errorf("hung after %v though the last lists took 5 s", v.HungAfter(call.ListContainers))
	}
}

// plegtop waits for a runtime that has answered nothing since the start, but not as long.
func TestSilenceFromTheStart(t *testing.T) {
	for out, want := range map[time.Duration]Severity{4 * second: Warning, 6 * second: Critical} {
		n := healthy(5).hang(call.ListContainers, out).hang(call.Status, out)
		for i := range n.Calls {
			n.Calls[i].LastOK = time.Time{}
		}
		if v := n.facts(); v.Scope != answers.Silent || v.severity(v.Silence) != want {
			t.Errorf("after %v: scope %v, severity %v, want %v", out, v.Scope, v.severity(v.Silence), want)
		}
	}
}

// Calls that fail now and then make nothing critical. A runtime that answers with its own error is there: its words are
// shown, and stay the same all the time.
func TestOneRelistInTenFails(t *testing.T) {
	for _, kind := range []call.Kind{call.ErrUnavailable, call.ErrOther} {
		var all []engine.Update
		for i := range 120 {
			n := healthy(5)
			n.calls(call.ListPodSandbox).ByCode = []answers.CodeCount{{Code: call.Code(failure(0, kind, "")), Count: uint64((i + 9) / 10)}}
			if i%10 == 1 {
				n.fail(call.ListPodSandbox, kind, "transport is closing", 1)
				n.calls(call.ListPodSandbox).ByCode[0].Count--
			}
			all = append(all, n.after(time.Duration(i)*second))
		}
		for _, u := range play(t, all...) {
			for _, f := range u.Findings {
				own := f.ID == PLEGUnhealthy && f.Summary == "lists fail intermittently"
				if f.Severity == Critical || own != (kind == call.ErrOther) || own && slices.ContainsFunc(f.Next, func(s Step) bool { return s.Risky() }) {
					t.Fatalf("%v: %s, %v", u.Snapshot.At.Sub(now), f.Summary, f.Next)
				}
			}
			if at := u.Snapshot.At.Sub(now); kind == call.ErrOther && at > 30*second && !strings.HasPrefix(u.Headline.Text, readyNow+"lists fail intermittently") {
				t.Errorf("%v: headline %+v", at, u.Headline)
			}
			if u.Snapshot.Failure != nil && u.Headline.Word != "AT RISK" {
				t.Errorf("a list failed last, and the headline is %+v", u.Headline)
			}
		}
	}
}

// A call that always takes long is slow, and never hangs, not even for a moment.
func TestSlowIsNotHung(t *testing.T) {
	tests := []struct {
		name  string
		build func(out time.Duration) *node
		last  time.Duration
		want  string
	}{
		{"lists of 5 s", func(out time.Duration) *node {
			return healthy(5).relisted(repeat(9, engine.Relist{Took: 5 * second, List: 5 * second})...).slowBy(5*second, call.ListPodSandbox).hang(call.ListPodSandbox, out)
		}, 5 * second, "2s began warning runtime-slow\n"},
		{"every call takes 1.2 s", func(out time.Duration) *node {
			return healthy(5).relisted(repeat(9, engine.Relist{Took: 2400 * time.Millisecond, List: 2400 * time.Millisecond})...).slowBy(1200*time.Millisecond, answeringOps...).hangOn(1, "app", out)
		}, 1200 * time.Millisecond, "2s began warning runtime-slow\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var all []engine.Update
			at := time.Duration(0)
			for range 4 {
				for out := 250 * time.Millisecond; out < tt.last; out += 250 * time.Millisecond {
					all = append(all, tt.build(out).after(at))
					at += 250 * time.Millisecond
				}
			}
			got := play(t, all...)
			if tells := turns(got); strings.Count(tells, "\n") != 1 || !strings.HasSuffix(strings.TrimSpace(tells), strings.TrimSpace(tt.want[strings.Index(tt.want, "began"):])) {
				t.Errorf("turns:\n%s", tells)
			}
			for _, u := range got {
				if u.Headline.Severity == Critical || u.Headline.Clock.What != "" {
					t.Fatalf("headline %+v", u.Headline)
				}
			}
		})
	}
}

// A pause is no trouble: no finding ends or begins in it, and earlier findings are not shown until somebody has looked
// again.
func TestPause(t *testing.T) {
	hung := healthy(5).hangOn(3, "app", 47*second).probesAnswered()
	paused := healthy(5).unhealthy()
	paused.Paused, paused.Node = true, kubelet.Node{Known: true, Message: "PLEG is not healthy"}
	resumed := healthy(5)
	resumed.Resumed, resumed.Health.ListedAt = ago(100*time.Millisecond), ago(5*time.Minute)
	resumed.Health.UnhealthyAt = now.Add(2 * time.Minute)
	looked := healthy(5)
	looked.Resumed = ago(second)
	got := play(t, healthy(5).after(-time.Minute), hung.after(0), paused.after(second), paused.after(5*time.Minute), resumed.after(5*time.Minute+second), looked.after(5*time.Minute+2*second), looked.after(5*time.Minute+9*second))
	if got, want := turns(got), "0s began critical inspect-hung\n5m9s ended critical inspect-hung\n"; got != want {
		t.Errorf("turns:\n%s", got)
	}
	for i, u := range got[2:] {
		if len(u.Findings) > 0 {
			t.Errorf("%v: %s", u.Snapshot.At.Sub(now), gist(u.Findings))
		}
		want := allWell
		if u.Snapshot.Paused {
			want = Headline{Word: "PAUSED", Text: "the last look was 4m0s ago"}
		}
		if u.Headline != want {
			t.Errorf("update %d: headline %+v, want %+v", i+2, u.Headline, want)
		}
	}
}

// A finding that is milder for a moment after a pause is not reported as milder.
func TestMilderAfterAPause(t *testing.T) {
	hung, late := healthy(5).hangOn(3, "app", 47*second).probesAnswered(), healthy(5).hangOn(3, "app", 1500*time.Millisecond).probesAnswered()
	paused := healthy(5)
	paused.Paused, late.Resumed = true, ago(2*second)
	got := play(t, hung.after(0), paused.after(second), paused.after(time.Minute), late.after(61*second), hung.after(62*second))
	if got, want := turns(got), "0s began critical inspect-hung\n"; got != want {
		t.Errorf("turns:\n%s", got)
	}
}

// What a sweep found is as old as the last check of it.
func TestSweepIsChecked(t *testing.T) {
	n := healthy(5)
	n.Sweep = &answers.Sweep{Began: ago(60 * second), Ended: ago(55 * second), Checked: ago(3 * second), Width: 4, Timeout: 2 * second, Total: 15, Done: 15}
	n.sweepHung(2, "app")
	for inRow, severity := range []string{"", "warning", "critical"} {
		n.Sweep.Hung[0].InRow = inRow
		if got := gist(n.diagnose()); inRow > 0 && got != severity+" inspect-hung ContainerStatus ns-2/pod-00002/app\n" {
			t.Errorf("hung %d times:\n%s", inRow, got)
		}
	}
	n.Sweep.Hung = nil
	wantIDs(t, n.diagnose())
	n.sweepHung(2, "app").Sweep.Checked = ago(30 * second)
	wantIDs(t, n.diagnose())
}

// crashes makes a container of the i-th pod die some times.
func (n *node) crashes(i int, name string, times uint32, code int32) *node {
	n.instances(i, "app", instance{times, false, 40 * second, 2 * second, code, "Error"})
	p := n.pod(i)
	p.Name, p.Old.Name, p.Status.Name = name, name, name
	return n
}

// A crash loop stays the same finding over restarts, and whichever pods of a deployment crash.
func TestCrashLoopIsOneFinding(t *testing.T) {
	var all []engine.Update
	for i := range 20 {
		n := healthy(9).crashes(0, "api-7d9f8b6c5d-x2x4z", uint32(6+i), 1)
		if i > 5 {
			n.crashes(3, "api-7d9f8b6c5d-zk5qp", 4, 1)
		}
		if i > 10 {
			n.crashes(6, "api-7d9f8b6c5d-bcdfg", 30, 1)
		}
		all = append(all, n.after(time.Duration(i)*second))
	}
	got := play(t, all...)
	if got := turns(got); got != "2s began warning crash-loop\n" {
		t.Errorf("turns:\n%s", got)
	}
	last := got[len(got)-1].Findings[0]
	if want := "3 pods of ns-0/api (api-7d9f8b6c5d-bcdfg, api-7d9f8b6c5d-x2x4z ...): app died up to 31 times, last with exit code 1"; last.Summary != want {
		t.Errorf("summary %q, want %q", last.Summary, want)
	}
}

// While a list hangs, findings that its pods showed are not shown.
func TestStaleListsTellNothing(t *testing.T) {
	n := healthy(5).crashes(0, "api", 6, 1).hang(call.ListPodSandbox, 30*second).probesAnswered()
	if got := gist(n.diagnose()); got != "critical list-hung ListPodSandbox\n" {
		t.Error(got)
	}
	n = healthy(5).crashes(0, "api", 6, 1)
	n.Resumed = ago(20 * second)
	wantIDs(t, n.diagnose())
}

// troubles returns what is wrong with the pods of an update, according to their standings.
func troubles(u Update) map[pleg.UID]Trouble {
	all := make(map[pleg.UID]Trouble)
	for _, p := range u.Standings() {
		if p.Trouble != (Trouble{}) {
			all[p.Pod.UID] = p.Trouble
		}
	}
	return all
}

func TestTroubled(t *testing.T) {
	n := healthy(9).crashes(0, "api-7d9f8b6c5d-x2x4z", 6, 1).crashes(3, "api-7d9f8b6c5d-zk5qp", 6, 1)
	n.hangOn(4, "app", 47*second).probesAnswered()
	n.podFails(5, "app", call.ErrOther, "broken", 1)
	n.pod(7).Old.Containers[0].State = pleg.Unknown
	u := Update{Update: engine.Update{Snapshot: &n.Snapshot}, Findings: n.diagnose()}
	want := map[pleg.UID]Trouble{
		"uid-4": {Critical, InspectHung, "hung status", "hung status"}, "uid-5": {Warning, "", "failing inspection", "failing inspection"}, "uid-7": {Warning, "", "state unknown", "state unknown"},
		"uid-0": {Warning, "", "crash loop", ""}, "uid-3": {Warning, "", "crash loop", ""}, // the list is stale: no finding, but they show it
	}
	got := troubles(u)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("troubled: %v, want %v", got, want)
	}
	if got := accused(healthy(9).crashes(0, "api-7d9f8b6c5d-x2x4z", 6, 1).crashes(3, "api-7d9f8b6c5d-zk5qp", 6, 1).diagnose()); len(got) != 2 || got["uid-3"].By != CrashLoop {
		t.Errorf("accused: %v", got)
	}
}

// A pod is not in trouble because of what the whole runtime does, and not because of what is only worth knowing.
func TestTroubledInnocent(t *testing.T) {
	away, locked := healthy(9).dead(12), healthy(9).fail(call.ListPodSandbox, call.ErrOther, "locked", 10).fail(call.Status, call.ErrOther, "locked", 4)
	for i := range locked.Calls {
		locked.Calls[i].LastOK = ago(20 * second)
	}
	for i := range 6 {
		away.podFails(i, "app", call.ErrUnavailable, notThere, 3)
		locked.podFails(i, "app", call.ErrOther, "locked", 3)
	}
	justAway := healthy(9).podFails(1, "app", call.ErrUnavailable, notThere, 1) // the lists find out in a second
	silent := healthy(9).podFails(1, "app", call.ErrDeadline, tooLate, 1)
	silent.hang(call.ListPodSandbox, 6*second).hang(call.Status, 3*second)
	for name, n := range map[string]*node{"away": away, "locked": locked, "just away": justAway, "silent": silent} {
		u := Update{Update: engine.Update{Snapshot: &n.Snapshot}, Findings: n.diagnose()}
		if got := troubles(u); len(got) > 0 {
			t.Errorf("%s: troubled: %v", name, got)
		}
	}
	pod := healthy(1).pod(0).PodRef
	both := Subject{ObjectRef: pleg.ObjectRef{Pod: pod}}
	if got, want := accused([]Finding{
		{ID: NoAddress, Severity: Warning, Members: []Subject{both}}, {ID: CrashLoop, Severity: Warning, Subject: both}, {ID: GhostRunning, Severity: Critical, Subject: both},
	})[pod.UID], (Trouble{Critical, GhostRunning, "no process, no IP, crash loop", "no process, no IP"}); got != want {
		t.Errorf("accused by three: %v, want %v", got, want)
	}
	if got := accused([]Finding{{ID: GhostRunning, Severity: Info, Subject: Subject{ObjectRef: pleg.ObjectRef{Pod: pod}}}}); len(got) > 0 {
		t.Errorf("accused: %v", got)
	}
}

// One fault of the network that is repaired in two steps is one finding. A finding that comes back within a minute of
// its end continues from its first begin. Later it is another finding.
func TestComesBackWithinAMinute(t *testing.T) {
	for back, again := range map[time.Duration]bool{30 * second: true, 64 * second: true, 75 * second: false} {
		bad := healthy(5).condition("NetworkReady")
		got := play(t, bad.after(0), bad.after(5*second), healthy(5).answers(0, call.Status).after(10*second), healthy(5).answers(0, call.Status).after(16*second), bad.after(back), bad.after(back+second))
		last, first := got[5], got[4].Turns
		if len(first) != 1 || first[0].Kind != Began || first[0].Again != again || again && (first[0].Lasted != back || len(last.Ended) > 0) || !again && len(last.Ended) != 1 {
			t.Errorf("back after %v: %+v, ended %+v", back, first, last.Ended)
		}
		if over := play(t, bad.after(0), healthy(5).answers(0, call.Status).after(10*second))[1].Ended; len(over) != 1 || over[0].Began.Sub(now) != 0 {
			t.Errorf("ended: %+v", over)
		}
	}
}

// A mild finding must hold before it is reported, also if it comes back: a moment is no finding, and no reason to
// remember the one before for longer.
func TestMildOneThatComesBackMustHold(t *testing.T) {
	var known Steady
	step := func(at time.Duration, there bool) (said string) {
		v := factsOf(Input{Snapshot: healthy(5).after(at).Snapshot})
		var found []Finding
		if there {
			found = []Finding{{ID: RuntimeSlow, Severity: Warning}}
		}
		for _, turn := range known.update(v, found) {
			said += fmt.Sprintf("%v %v, %v so far; ", at, turn.Kind, turn.Lasted)
			if turn.Again {
				said += "again; "
			}
		}
		return said
	}
	var said string
	for at := range 140 {
		there := at <= 10 || at == 40 || at >= 60 && at <= 63 || at == 100 || at >= 130 && at <= 133
		said += step(time.Duration(at)*second, there)
	}
	want := "2s began, 0s so far; 14s ended, 10s so far; 1m2s began, 1m2s so far; again; 1m8s ended, 1m3s so far; again; 2m12s began, 0s so far; 2m17s ended, 3s so far; "
	if said != want {
		t.Errorf("said %s", said)
	}
}

// All ages of one hang grow together, however old the look is that saw the process behind it.

// A list of two seconds that comes back was late, and never hung: neither the headline nor a finding says
// so before 3 s, or three times what lists usually take here.
func TestLateListDoesNotHang(t *testing.T) {
	for name, tt := range map[string]struct {
		usual, lasts, hangs time.Duration // hangs: from when on; 0 for never
		most                string        // the worst word of a headline
	}{
		"quick lists, and one of 2.1 s":    {10 * time.Millisecond, 2100 * time.Millisecond, 0, "SLOW?"},
		"lists of 2.1 s":                   {2100 * time.Millisecond, 2100 * time.Millisecond, 0, "SLOW"},
		"lists of 8 s":                     {8 * second, 8 * second, 0, "SLOW"},
		"quick lists, and one that hangs":  {10 * time.Millisecond, 6 * second, 3 * second, "LISTS HANG"},
		"lists of 8 s, and one that hangs": {8 * second, 26 * second, 24 * second, "LISTS HANG"},
	} {
		var all []engine.Update
		at := time.Duration(0)
		for range 3 {
			for out := second / 10; out <= tt.lasts; out += second / 10 {
				n := healthy(5).relisted(repeat(9, engine.Relist{Took: tt.usual, List: tt.usual})...).slowBy(tt.usual, call.ListPodSandbox)
				n.hang(call.ListPodSandbox, out)
				n.Table.UsualList = tt.usual
				if out > 2*second {
					n.probesAnswered()
				}
				all = append(all, n.after(at))
				at += second / 10
			}
		}
		worst := Healthy
		for _, u := range play(t, all...) {
			out := u.Snapshot.At.Sub(u.Snapshot.InFlight[0].Since)
			if wordRank(u.Headline.Word) > wordRank(worst) {
				worst = u.Headline.Word
			}
			if hangs := u.Headline.Word == "LISTS HANG" || len(u.Turns) > 0 && u.Turns[0].Kind == Began && u.Turns[0].Finding.ID == ListHung; hangs && (tt.hangs == 0 || out < tt.hangs) {
				t.Errorf("%s: a list that is out for %v hangs: %+v", name, out, u.Headline)
			}
		}
		if worst != tt.most {
			t.Errorf("%s: the worst headline was %s, want %s", name, worst, tt.most)
		}
	}
}
