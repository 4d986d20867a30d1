package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// TestAnswerIsOfTheHeadline checks that the answer below a headline is about the same trouble: also if another warning
// is listed before it, and if it is over.
func TestAnswerIsOfTheHeadline(t *testing.T) {
	loop := Finding{ID: CrashLoop, Severity: Warning, Next: []Step{{Kind: Look, Text: "why", Command: "crictl logs"}}}
	lists := Finding{ID: PLEGUnhealthy, Severity: Warning, Next: []Step{{Kind: Look, Text: "what it says", Command: "journalctl"}, {Kind: Act, Command: "systemctl restart", Risk: "x"}}}
	worse := lists
	worse.Severity = Critical
	const over = "nothing: it is over. What the check shows says why it happened"
	for name, tt := range map[string]struct {
		about      ID
		findings   []Finding
		ended      []Ended
		check, act string
	}{
		"nothing is wrong":          {"", nil, nil, "", ""},
		"the first warning":         {"", []Finding{loop, lists}, nil, "crictl logs", ""},
		"the one of the headline":   {PLEGUnhealthy, []Finding{loop, lists}, nil, "journalctl", "systemctl restart"},
		"one that is over":          {PLEGUnhealthy, []Finding{loop}, []Ended{{Finding: lists}}, "journalctl", over},
		"one that nobody has found": {PLEGUnhealthy, []Finding{loop}, nil, "crictl logs", ""},
		"what is critical":          {CrashLoop, []Finding{loop, worse}, nil, "journalctl", "systemctl restart"},
	} {
		u := Update{Update: engine.Update{Snapshot: &healthy(1).Snapshot}, Headline: Headline{about: tt.about}, Findings: tt.findings, Ended: tt.ended}
		a := u.Answer()
		act := a.Act.Command
		if act == "" {
			act = a.Act.Text
		}
		if a.Check.Command != tt.check || act != tt.act {
			t.Errorf("%s: check %q and act %q, want %q and %q", name, a.Check.Command, act, tt.check, tt.act)
		}
	}
}

// TestHeadlineKnowsItsFinding checks that a headline about another finding than the first knows which one, also while
// its word is kept.
func TestHeadlineKnowsItsFinding(t *testing.T) {
	turns := healthy(5).fail(call.ListPodSandbox, call.ErrOther, "ttrpc: closed", 1)
	for i := range answers.Outages {
		f := *turns.Failure
		f.At = ago(time.Duration(answers.Outages-i) * 5 * time.Second)
		turns.Memory.Outages.ListsFailed = append(turns.Memory.Outages.ListsFailed, f)
	}
	for name, tt := range map[string]struct {
		node *node
		want ID
	}{
		"lists by turns": {turns, PLEGUnhealthy},
		"nobody there":   {healthy(5).dead(3), RuntimeDown},
		"well":           {healthy(5), ""},
	} {
		v := tt.node.facts()
		if h := v.headline(v.diagnose()); h.about != tt.want {
			t.Errorf("%s: %+v, want it to be about %q", name, h, tt.want)
		}
	}
	turns.Relists.History = []engine.Relist{{At: ago(30 * time.Second), Failed: true}, {At: ago(20 * time.Second)}, {At: ago(2 * answers.FlakyFor), Failed: true}}
	f := findingOf(t, turns.anew().diagnose(), PLEGUnhealthy)
	if !strings.Contains(f.check().Command, "journalctl") || !slices.Contains(f.Evidence, "1 of 2 relists of the last 1m0s failed") {
		t.Errorf("check %q, evidence %q", f.check().Command, f.Evidence)
	}
	var s steadyHeadline
	nextOf(&s, Headline{Word: "AT RISK", Severity: Warning, about: PLEGUnhealthy}, nil, now, time.Time{})
	if h := nextOf(&s, Headline{Word: Degraded, Severity: Warning}, nil, now.Add(time.Second), time.Time{}); h.about != PLEGUnhealthy {
		t.Errorf("a word that is kept is about %q", h.about)
	}
}

// TestDumpFirst checks the check when lists hang or nothing is answered, and no dump was read: it is the one that gives
// plegtop the cause, for a runtime that is known to write a dump.
func TestDumpFirst(t *testing.T) {
	list := healthy(3).hang(call.ListContainers, 40*time.Second).probesAnswered()
	silent := healthy(3).hang(call.ListPodSandbox, 30*time.Second).hang(call.Version, 20*time.Second).hang(call.Status, 20*time.Second)
	for name, tt := range map[string]struct {
		node   *node
		socket string
		want   string
	}{
		"a list hangs":        {list, knowledge.Containerd.Socket, "kill -USR1 1019"},
		"nothing is answered": {silent, knowledge.Containerd.Socket, "kill -USR1 1019"},
		"CRI-O":               {list, knowledge.CRIO.Socket, "kill -USR1 1019"},
		"another":             {list, "/run/cri-dockerd.sock", "timeout 5 crictl"},
	} {
		in := tt.node.input()
		in.Evidence, in.Endpoint = looked(tt.node), "unix://"+tt.socket
		in.Evidence.Processes.Daemons[0].Command = factsOf(in).program()
		found := Diagnose(in)
		check := found[0].check()
		if !strings.HasPrefix(check.Command, tt.want) || check.Dumps() != strings.HasPrefix(tt.want, "kill") {
			t.Errorf("%s: %v", name, found[0].Next)
		}
	}
}

// TestRestartKeepsTheDump checks that the advice to restart a runtime in which something hangs first says how to keep
// the dump; but not if an earlier step has it written, or if nothing hangs.
func TestRestartKeepsTheDump(t *testing.T) {
	for name, tt := range map[string]struct {
		node *node
		from string
		want string // the first step
	}{
		"from a debug socket": {healthy(3).hang(call.ListContainers, 40*time.Second).probesAnswered(), "/run/containerd/debug.sock", "kill -USR1 1019"},
		"from a file":         {healthy(3).hang(call.ListContainers, 40*time.Second).probesAnswered(), "/tmp/containerd.7.stacks.log", "systemctl restart containerd"},
		"not read":            {healthy(3).hang(call.ListContainers, 40*time.Second).probesAnswered(), "", "systemctl restart containerd"},
		"nothing hangs":       {healthy(3), "/run/containerd/debug.sock", "systemctl restart containerd"},
	} {
		s := sick{tt.node, looked(tt.node)}
		s.r.Deep = new(evidence.Deep)
		if tt.from != "" {
			s.r.Deep.Stacks = evidence.Stacks{Source: evidence.Source{From: tt.from}, Total: 400}
		}
		in := tt.node.input()
		in.Evidence = s.r
		steps := factsOf(in).thenRestart()
		if last := steps[len(steps)-1]; steps[0].Command != tt.want || last.Command != "systemctl restart containerd" {
			t.Errorf("%s: %q, want %q first", name, steps, tt.want)
		}
	}
}

// TestSilenceOfOneList checks a node on which nothing is answered, and a lock holds the list that the relist waits for:
// the chain leads to that lock, whichever call is silent for longest.
func TestSilenceOfOneList(t *testing.T) {
	n := healthy(3).hang(call.Status, 40*time.Second).hang(call.Version, 40*time.Second).hang(call.ListPodSandbox, 30*time.Second)
	s := sick{n, looked(n)}
	s.r.Deep = new(evidence.Deep)
	s = s.locks(evidence.Lock{Of: "store.(*Store).List", Address: "0xa", Waiters: 9, Calls: []string{"ListPodSandbox"}, Holder: evidence.Goroutine{Number: 5, Doing: "fsync"}})
	if found, _ := s.diagnose(); !strings.Contains(tell(found), "\nlock [0xa]") {
		t.Errorf("no lock in the chain:\n%s", tell(found))
	}
}

// TestHangSaysThatItIsNotTheFirst checks that a finding about a list that hangs says that PLEG was unhealthy before.
func TestHangSaysThatItIsNotTheFirst(t *testing.T) {
	for _, flips := range []int{0, 2} {
		n := healthy(3).hang(call.ListContainers, 40*time.Second).probesAnswered()
		n.Health.Flips, n.Health.Since = flips, ago(2*time.Minute)
		found := Diagnose(n.input())
		said := slices.Contains(found[0].Evidence, "again: PLEG was unhealthy until "+clock(ago(2*time.Minute), now)+", and recovered")
		if found[0].ID != ListHung || said != (flips > 0) {
			t.Errorf("%d flips: %s %q", flips, found[0].ID, found[0].Evidence)
		}
	}
}

// Of two findings of one kind the one at the root counts, not the first of the kind: a cause that has just been found
// may still be milder than what it explains.
func TestRootCauseIsOfTheVeryOne(t *testing.T) {
	other := Finding{ID: ProcessStuck, Severity: Warning, Group: "a"}
	cause := Finding{ID: ProcessStuck, Severity: Warning, Group: "b"}
	effect := Finding{ID: InspectHung, Severity: Critical}
	effect.because(&cause)
	if f := RootCause([]Finding{other, cause, effect}); f.Group != "b" {
		t.Errorf("root cause is %v of group %q", f.ID, f.Group)
	}
}

// TestAnApplicationAnswersNoWordOfTheRuntime checks a headline about something that is no finding yet: a finding about
// an application does not stand below it as if that were the cause.
func TestAnApplicationAnswersNoWordOfTheRuntime(t *testing.T) {
	n := healthy(3).fail(call.ListPodSandbox, call.ErrOther, "locked", 1)
	v := n.facts()
	loop := Finding{ID: CrashLoop, Severity: Warning, Next: []Step{{Command: "logs"}}}
	u := Update{Update: engine.Update{Snapshot: v.Snapshot}, Findings: []Finding{loop}, Headline: v.headline([]Finding{loop})}
	if a := u.Answer(); u.Headline.Word != "AT RISK" || a.ID != "" {
		t.Errorf("%s is answered by %s", u.Headline.Word, a.ID)
	}
	u.Headline = healthy(3).facts().headline([]Finding{loop})
	if a := u.Answer(); u.Headline.Word != Degraded || a.ID != CrashLoop {
		t.Errorf("%s is answered by %s", u.Headline.Word, a.ID)
	}
}
