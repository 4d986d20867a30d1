package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/past"
	"github.com/plegtop/plegtop/engine/pleg"
)

// A finding that is there every third second leaves the screen once, and then stays until its end. The same holds for a
// finding that ended at the first look without it, and came back.
func TestWhatComesAndGoesIsSteady(t *testing.T) {
	for name, tt := range map[string]struct {
		trouble func(*node)
		want    string
	}{
		"calls": {func(n *node) { n.podFails(1, "app", call.ErrOther, "broken", 4) }, "--+++-+++++++---------"},
		"looks": {func(n *node) { n.Evidence.Processes.Daemons[0].State = evidence.Stopped }, "++++--++++++++--------"},
	} {
		var shown strings.Builder
		var all []engine.Update
		for at := range 22 {
			n := healthy(5)
			n.Evidence = lookedAt(n, 0)
			if at < 4 || at < 10 && at%3 == 0 {
				tt.trouble(n)
			}
			all = append(all, n.after(time.Duration(at)*second))
		}
		for _, u := range play(t, all...) {
			shown.WriteByte("-+"[min(len(u.Findings), 1)])
		}
		if shown.String() != tt.want {
			t.Errorf("%s: shown second by second:\n%s, want\n%s", name, &shown, tt.want)
		}
	}
}

// The worst of many crash loops changes with each death, and so does how their containers end: that is no news.
func TestManyCrashLoopsAreSteady(t *testing.T) {
	var all []engine.Update
	for at := range 60 {
		n := healthy(20)
		for i := range 16 {
			n.crashes(i, fmt.Sprintf("app%c", 'a'+i), uint32(6+(at+i*7%16)/16), int32(1+(at+i)%3))
		}
		all = append(all, n.after(time.Duration(at)*second))
	}
	began := 0
	for at, u := range play(t, all...) {
		for _, turn := range u.Turns {
			began++
			if turn.Kind != Began || at > 10 {
				t.Errorf("%d s: %v of %s", at, turn.Kind, turn.Finding.Summary)
			}
		}
	}
	if began != 10+1 {
		t.Errorf("%d turns, want one for each of %d and for the rest", began, 10)
	}
}

// What the pods of many owners have in common stays one trouble when some of them
// recover.
func TestFailuresAlikeAreSteady(t *testing.T) {
	var all []engine.Update
	for at, pods := range []int{6, 6, 6, 4, 4, 5, 4} {
		n := healthy(20)
		for i := range pods {
			n.podFails(i, "app", call.ErrOther, "broken", 4)
		}
		all = append(all, n.after(time.Duration(at*6)*second))
	}
	if got := turns(play(t, all...)); got != "6s began warning inspect-failing\n" {
		t.Errorf("turns:\n%s", got)
	}
}

// stopped returns a node whose runtime has answered nothing for a while.
func stopped(d time.Duration) *node {
	return healthy(5).hang(call.ListPodSandbox, d).hang(call.Version, d-second).hang(call.Status, d-second)
}

// answers makes calls answered just now, after a time.
func (n *node) answers(took time.Duration, ops ...call.Operation) *node {
	for _, op := range ops {
		n.calls(op).LastOK, n.calls(op).Last = ago(0), took
	}
	return n
}

// Calls that hung with all others come back one after the other: none is blamed because of those before it. A call that
// stays out is blamed soon.
func TestCallsThatComeBackTogether(t *testing.T) {
	thaw := func(d time.Duration, stays time.Duration) (all []engine.Update) {
		for at := second; at <= d; at += second {
			all = append(all, stopped(at).after(at))
		}
		one := healthy(5).hang(call.ListPodSandbox, d+second/10).answers(d-second, call.Status)
		one.probe(call.Flight{Op: call.Version}, failure(call.Version, call.ErrDeadline, tooLate))
		one.calls(call.Version).LastOK = ago(d)
		one.Probes[0].Took, one.Probes[0].Since, one.Probes[0].At = 2*second, ago(3*second), ago(second)
		one.Sweep = &answers.Sweep{Began: ago(9 * second), Ended: ago(2 * second), Width: 4, Timeout: 2 * second, Total: 15, Done: 15}
		one.sweepHung(2, "app")
		all = append(all, one.after(d+second/10))
		for at := second / 2; at <= stays; at += second / 2 {
			n := healthy(5).hang(call.ListPodSandbox, d+at).probesAnswered()
			all = append(all, n.after(d+at))
		}
		for at := stays + second; at < stays+12*second; at += second {
			all = append(all, healthy(5).after(d+at))
		}
		return all
	}
	for name, tt := range map[string]struct {
		silent, stays time.Duration
		want          string
	}{
		"a moment":  {3 * second, 0, "2s began warning runtime-unresponsive\n7s ended warning runtime-unresponsive\n"},
		"long":      {20 * second, second / 2, "2s began warning runtime-unresponsive\n5s changed critical runtime-unresponsive\n23.5s ended critical runtime-unresponsive\n"},
		"one stays": {8 * second, 6 * second, "2s began warning runtime-unresponsive\n5s changed critical runtime-unresponsive\n11.5s began critical list-hung\n11.5s ended critical runtime-unresponsive\n18s ended critical list-hung\n"},
	} {
		if got := turns(play(t, thaw(tt.silent, tt.stays)...)); got != tt.want {
			t.Errorf("%s: turns:\n%s", name, got)
		}
	}
}

// If Status comes back before the next list is made, the list that failed while nobody was there is not reported as
// failing alone. A list that goes on to fail is.
func TestListsOfARuntimeThatIsBack(t *testing.T) {
	for goesOn, want := range map[bool]string{
		false: "2s began warning runtime-down\n10s changed critical runtime-down\n23s ended critical runtime-down\n",
		true:  "2s began warning runtime-down\n10s changed critical runtime-down\n22s began warning runtime-down\n25s ended warning runtime-down\n30s changed critical runtime-down\n",
	} {
		var all []engine.Update
		for i := 1; i < 20; i++ {
			all = append(all, healthy(5).dead(i).after(time.Duration(i)*second))
		}
		back := healthy(5).fail(call.ListPodSandbox, call.ErrUnavailable, notThere, 19).answers(0, call.Status)
		all = append(all, back.after(19*second+second/5))
		for i := 20; i < 32; i++ {
			n := healthy(5)
			if goesOn {
				n.fail(call.ListPodSandbox, call.ErrUnavailable, notThere, i)
			}
			all = append(all, n.after(time.Duration(i)*second))
		}
		if got := turns(play(t, all...)); got != want {
			t.Errorf("goes on %v: turns:\n%s", goesOn, got)
		}
	}
}

// A process was in the kernel while its container's status hung, and is part of that finding. When the status is
// answered, only a later look shows whether the process is still there.
func TestWhatAnswersAgainIsNotAccusedByAnOldLook(t *testing.T) {
	stuck := func(n *node, looked time.Duration) *node {
		r := lookedAt(n, looked)
		for _, p := range r.Processes.Containers["container-1-0"] {
			p.State, p.For, p.Wchan = evidence.Uninterrupted, time.Minute, "rpc_wait_bit_killable"
			r.Processes.Containers["container-1-0"] = []evidence.Process{p}
		}
		n.Evidence = r
		return n
	}
	got := play(t, stuck(healthy(5).hangOn(1, "app", 20*second).probesAnswered(), second).after(0), stuck(healthy(5), 2*second).after(second),
		stuck(healthy(5), 4*second).after(3*second), stuck(healthy(5), second).after(7*second), stuck(healthy(5), second).after(9*second))
	if got := turns(got); got != "0s began critical inspect-hung\n7s ended critical inspect-hung\n9s began warning process-stuck\n" {
		t.Errorf("turns:\n%s", got)
	}
}

// A runtime that answers again is not stopped, whatever the last look shows.
func TestStoppedRuntimeThatIsBack(t *testing.T) {
	look := func(n *node, before time.Duration) *node {
		n.Evidence = lookedAt(n, before)
		n.Evidence.Processes.Daemons[0].State = evidence.Stopped
		return n
	}
	var all []engine.Update
	for at := second; at <= 9*second; at += second {
		all = append(all, look(stopped(at), second).after(at))
	}
	for at := second; at < 12*second; at += second {
		n := look(healthy(5).answers(0, call.ListPodSandbox), at+second)
		if at > 2*second {
			n.Evidence = lookedAt(n, 0)
		}
		all = append(all, n.after(9*second+at))
	}
	got := play(t, all...)
	if got := turns(got); got != "1s began critical process-stuck\n2s began warning runtime-unresponsive\n5s changed critical runtime-unresponsive\n12s ended critical process-stuck\n13s ended critical runtime-unresponsive\n" {
		t.Errorf("turns:\n%s", got)
	}
	for _, u := range got[9:] {
		if len(u.Findings) > 0 || u.Headline.Word != "HEALTHY" {
			t.Errorf("%v: %+v, %v", u.Snapshot.At.Sub(now), u.Headline, ids(u.Findings))
		}
	}
}

// lookedAt returns a look at a healthy node, made some time ago.
func lookedAt(n *node, before time.Duration) *evidence.Report {
	r := looked(n)
	r.At, r.Took = ago(before), 0
	return r
}

// A socket that takes connections and answers nothing is one trouble: while calls hang, and also when each of them
// fails because of it after some seconds.
func TestSilentSocketIsOneTrouble(t *testing.T) {
	var all []engine.Update
	for at := second; at < 20*second; at += second {
		n := healthy(5).new(at)
		n.Health, n.Pods = kubelet.Health{}, nil
		for i := range n.Calls {
			n.Calls[i].LastOK = time.Time{}
		}
		if at >= 5*second {
			for _, op := range []call.Operation{call.ListPodSandbox, call.Status, call.Version} {
				n.fail(op, call.ErrSilent, "the socket says nothing", int(at/second)-4)
			}
		}
		if at%(5*second) > 2*second {
			n.hang(call.ListPodSandbox, at%(5*second)).hang(call.Version, at%(5*second)).Health.ListedAt = time.Time{}
		}
		all = append(all, n.after(at))
	}
	got := play(t, all...)
	if got := turns(got); got != "3s began warning runtime-unresponsive\n5s changed critical runtime-unresponsive\n" {
		t.Errorf("turns:\n%s", got)
	}
	for i, u := range got[4:] {
		if h := u.Headline; h.Word != "NOT ANSWERING" || h.Severity != Critical {
			t.Errorf("%d s: %+v", i+5, h)
		}
	}
	if f := got[9].Findings[0]; f.Summary != "no call has come back for 10s, not even Version" || !strings.Contains(f.Evidence[0], "the socket says nothing") {
		t.Errorf("%s\n%s", f.Summary, strings.Join(f.Evidence, "\n"))
	}
}

// A look at the node that is older than the latest answers begins nothing.
func TestOldLooksBeginNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		looked time.Duration
		change func(*node)
		begins bool
	}{
		"there": {2 * second, func(*node) {}, true},
		"gone": {2 * second, func(n *node) {
			sandbox := &n.pod(1).Old.Sandboxes[0]
			n.Gone = past.Gone{{ID: sandbox.ID, At: n.At}}
			sandbox.ID = "anew"
		}, false},
		"gone before the look": {0, func(n *node) { n.Pods = n.Pods[:1] }, true},
	} {
		n := healthy(5)
		r := lookedAt(n, tt.looked)
		shimOf(r, 1).State = evidence.Stopped
		n.Evidence = r
		tt.change(n)
		n.Health.ListedAt = ago(second)
		got := play(t, healthy(5).after(-second), n.after(0))
		if began := len(got[1].Turns) > 0; began != tt.begins {
			t.Errorf("%s: %s", name, turns(got))
		}
	}
}

// A sweep took over a hang from a call that was out before the runtime came back: that blames nothing, although the
// sweep ended after a good inspection of the pod.
func TestSweepOverAComebackAccusesNobody(t *testing.T) {
	for inRow, want := range map[int]int{1: 0, 2: 1} {
		n := healthy(5)
		n.Sweep = &answers.Sweep{Began: ago(second / 10), Ended: ago(second / 20), Width: 4, Timeout: 2 * second, Total: 15, Done: 15}
		n.sweepHung(1, "")
		hung := &n.Sweep.Hung[0]
		hung.Since, hung.At, hung.Took, hung.InRow = ago(20*second), ago(second/20), 20*second, inRow
		n.pod(1).InspectedAt, n.Memory.Back.At = ago(second/15), ago(second/12)
		if inRow > 1 { // it was asked again since
			n.Memory.Back.At = ago(3 * second)
		}
		if got := Diagnose(Input{Snapshot: &n.Snapshot}); len(got) != want {
			t.Errorf("%d in a row: %v", inRow, ids(got))
		}
	}
}

// A call that hung first is part of the silence that follows: it is not among the findings that ended lately. A call
// that was answered before the silence is.
func TestPartOfASilenceHasNotEnded(t *testing.T) {
	for answered, want := range map[bool][]string{false: nil, true: {"list-hung"}} {
		var all []engine.Update
		for at := second; at <= 12*second; at += second {
			n := healthy(5).hang(call.ListPodSandbox, at+second)
			switch {
			case at <= 5*second:
				n.probesAnswered()
			case answered && at == 6*second:
				n = healthy(5).answers(at, call.ListPodSandbox)
			case answered:
				n = stopped(at - 6*second)
				n.calls(call.ListPodSandbox).LastOK = ago(at - 6*second)
			default:
				n = stopped(at + second)
			}
			all = append(all, n.after(at))
		}
		got := play(t, all...)
		last := got[len(got)-1]
		var ended []string
		for _, u := range got {
			for _, e := range u.Ended {
				if !slices.Contains(ended, string(e.ID)) {
					ended = append(ended, string(e.ID))
				}
			}
		}
		if !slices.Equal(ended, want) || last.Headline.Word != "NOT ANSWERING" {
			t.Errorf("answered %v: ended %v, %s\n%s", answered, ended, last.Headline.Word, turns(got))
		}
	}
}

// A condition that is absent from some answers is one trouble: Status is asked every 5 s, at any moment of the trouble.
// Only the first time its end is on the screen at once, because nobody knows yet that it comes back.
func TestConditionByTurnsIsOneFinding(t *testing.T) {
	var all []engine.Update
	posted, asked := false, false
	for at := time.Duration(0); at < 120*second; at += second {
		if at%(5*second) == 0 {
			asked = at > 20*second && at < 80*second && at%(8*second) < 4*second
		}
		if at%(10*second) == 0 {
			posted = asked
		}
		n := healthy(5)
		n.calls(call.Status).LastOK = ago(at % (5 * second))
		if asked {
			n.Conditions = []pleg.Condition{{Type: "RuntimeReady", Status: true}, {Type: "NetworkReady", Reason: "NetworkPluginNotReady"}}
		}
		if posted {
			n.notReady(5 * second)
		}
		all = append(all, n.after(at))
	}
	got := play(t, all...)
	if said := turns(got); said != "25s began critical network-not-ready\n1m35s ended critical network-not-ready\n" {
		t.Errorf("turns:\n%s", said)
	}
	var words []string
	for _, u := range got {
		if n := len(words); n == 0 || words[n-1] != u.Headline.Word {
			words = append(words, u.Headline.Word)
		}
	}
	if want := []string{Healthy, "AT RISK", Healthy, "AT RISK", NotReady, Healthy}; !slices.Equal(words, want) {
		t.Errorf("headlines %q, want %q", words, want)
	}
}
