package diagnose

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

func isHeadWord(word string) bool {
	return slices.ContainsFunc(HeadWords(), func(w HeadWord) bool { return w.Word == word })
}

// TestHeadWordsAreDocumented checks that the page on findings has the table.
func TestHeadWordsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/findings.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range HeadWords() {
		if row := "| `" + w.Word + "` | " + w.Meaning + " |"; !strings.Contains(string(page), row) {
			t.Errorf("docs/findings.md lacks %q", row)
		}
		if len(w.Word) > 20 {
			t.Errorf("%s is too long", w.Word)
		}
	}
}

// TestHeadlineSaysWhatBecomesOfTheNode checks the field Node: nobody has to parse the text to learn what becomes of the
// node.
func TestHeadlineSaysWhatBecomesOfTheNode(t *testing.T) {
	for want, n := range map[string]*node{
		NodeReadyNow:   healthy(5),
		NodeNotReadyIn: healthy(5).hang(call.ListContainers, 40*time.Second).probesAnswered(),
		NodeNotReady:   healthy(5).dead(40).notReady(10 * time.Second),
		"":             checked(5),
	} {
		v := n.facts()
		if got := v.headline(v.diagnose()); got.Node != want {
			t.Errorf("%+v, want %q", got, want)
		}
	}
}

// TestWordIsSteady checks that the word does not flicker when faults come and go in turn. What gets worse or is
// critical is shown at once, and so is its end, except the end of a risk.
func TestWordIsSteady(t *testing.T) {
	risk, degraded := Headline{Word: "AT RISK", Severity: Warning, Text: "a"}, Headline{Word: Degraded, Severity: Warning, Text: "b"}
	hang, well := Headline{Word: "LISTS HANG", Severity: Critical}, Headline{Word: Healthy}
	var s steadyHeadline
	at := now
	for i, step := range []struct {
		after time.Duration
		is    Headline
		want  string
	}{
		{0, well, Healthy},
		{time.Second, risk, "AT RISK"},
		{time.Second, degraded, "AT RISK"},
		{12 * time.Second, degraded, "AT RISK"},
		{2 * time.Second, degraded, Degraded},
		{time.Second, risk, "AT RISK"},
		{time.Second, hang, "LISTS HANG"},
		{time.Second, risk, "AT RISK"},
		{time.Second, well, "AT RISK"},
		{15 * time.Second, well, Healthy},
		{time.Second, degraded, Degraded},
		{time.Second, well, Healthy},
		{time.Second, hang, "LISTS HANG"},
		{time.Second, well, Healthy},
	} {
		at = at.Add(step.after)
		got := nextOf(&s, step.is, nil, at, time.Time{})
		if got.Word == step.is.Word && s.worst != "" { // which says so
			got.Text = strings.TrimSuffix(strings.TrimSuffix(got.Text, s.trouble(at)), "; ")
		}
		if got.Word != step.want || got.Word == step.is.Word && got != step.is || got.Word != step.is.Word && !strings.HasPrefix(got.Text, "until a moment ago; now "+step.is.Word+": ") {
			t.Errorf("step %d: %+v, want %s", i, got, step.want)
		}
	}
}

// TestReadySaysWhatWas checks that a node that stays Ready says for a minute what was wrong, except for one call that
// was late; and that a relist failed, if no headline said so.
func TestReadySaysWhatWas(t *testing.T) {
	well, warned := Headline{Word: Healthy, Text: "12 pods"}, Headline{Word: Degraded, Severity: Warning, Text: staysReady + "1 warning"}
	for name, tt := range map[string]struct {
		was   []string
		after time.Duration
		fails bool
		now   Headline
		want  string
	}{
		"slow":            {[]string{"SLOW", "SLOW"}, 20 * time.Second, false, well, "12 pods; was SLOW 09:26:43 to 09:26:53 (list-hung)"},
		"long ago":        {[]string{"SLOW", "SLOW"}, 2 * time.Minute, false, well, "12 pods"},
		"one late call":   {[]string{"SLOW?", "SLOW?"}, 20 * time.Second, false, well, "12 pods"},
		"said once":       {[]string{"RUNTIME DOWN", "RUNTIME DOWN"}, 20 * time.Second, true, well, "12 pods; was RUNTIME DOWN 09:26:43 to 09:26:53 (list-hung)"},
		"a relist":        {[]string{Healthy, Healthy}, 20 * time.Second, true, well, "12 pods; relists failed until 09:26:53"},
		"one long ago":    {[]string{Healthy, Healthy}, 2 * time.Minute, true, well, "12 pods"},
		"a warning":       {[]string{"RUNTIME DOWN", "RUNTIME DOWN"}, 20 * time.Second, true, warned, readyNow + "1 warning; was RUNTIME DOWN 09:26:43 to 09:26:53 (list-hung)"},
		"a relist and so": {[]string{Healthy, Healthy}, 20 * time.Second, true, warned, readyNow + "1 warning; relists failed until 09:26:53"},
		"a stuck shim":    {[]string{Degraded, Degraded}, 20 * time.Second, false, well, "12 pods; was DEGRADED 09:26:43 to 09:26:53 (list-hung)"},
		"then worse":      {[]string{"LISTS HANG", NotReady}, 20 * time.Second, false, well, "12 pods; was LISTS HANG, then NOT READY, 09:26:43 to 09:26:53 (list-hung)"},
		"risk, then down": {[]string{"AT RISK", "RUNTIME DOWN"}, 20 * time.Second, false, well, "12 pods; was AT RISK, then RUNTIME DOWN, 09:26:43 to 09:26:53 (list-hung)"},
		"calmer at last":  {[]string{"RUNTIME DOWN", "AT RISK"}, 20 * time.Second, false, well, "12 pods; was RUNTIME DOWN 09:26:43 to 09:26:53"},
		"worse":           {[]string{"AT RISK", "AT RISK"}, 20 * time.Second, true, Headline{Word: "LISTS HANG", Severity: Critical, Text: "x"}, "x"},
	} {
		var s steadyHeadline
		var failed time.Time
		if tt.fails {
			failed = now
		}
		for i, at := range []time.Time{now.Add(-10 * time.Second), now} {
			nextOf(&s, Headline{Word: tt.was[i], Severity: Critical}, [][]Finding{nil, {{ID: ListHung, Severity: Critical}}}[i], at, failed)
		}
		got := nextOf(&s, tt.now, nil, now.Add(tt.after), failed)
		if want := strings.NewReplacer("09:26:43", clock(now.Add(-10*time.Second), now), "09:26:53", clock(now, now)).Replace(tt.want); got.Text != want {
			t.Errorf("%s: %q, want %q", name, got.Text, want)
		}
	}
}

// TestWhatWasSaysWhetherNotReadyWasPosted checks that the text about a trouble that is over says whether NotReady was
// posted, and which finding it had at its worst.
func TestWhatWasSaysWhetherNotReadyWasPosted(t *testing.T) {
	var s steadyHeadline
	say := func(after time.Duration, word string, severity Severity, node string, id ID) string {
		return nextOf(&s, Headline{Word: word, Severity: severity, Text: "x", Node: node}, []Finding{{ID: id, Severity: severity}}, now.Add(after), time.Time{}).Text
	}
	say(0, "RUNTIME DOWN", Critical, NodeNotReadyIn, RuntimeDown)
	say(30*time.Second, "RUNTIME DOWN", Critical, NodeNotReady, RuntimeDown) // which the word says
	say(40*time.Second, "AT RISK", Critical, NodeReadyNow, ProcessStuck)
	want := "x; was RUNTIME DOWN " + clock(now, now) + " to " + clock(now.Add(40*time.Second), now) + ", NotReady from " + clock(now.Add(30*time.Second), now)
	if got := say(60*time.Second, Healthy, Info, NodeReadyNow, ""); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestDegradedGetsWorse checks a node that had a warning before a critical trouble: it says only of the critical one
// what was wrong.
func TestDegradedGetsWorse(t *testing.T) {
	var s steadyHeadline
	say := func(after time.Duration, h Headline, held ...Finding) string {
		return nextOf(&s, h, held, now.Add(after), time.Time{}).Text
	}
	say(0, Headline{Word: Degraded, Severity: Warning, Text: staysReady + "1 warning"})
	for _, after := range []time.Duration{10 * time.Second, 20 * time.Second} {
		say(after, Headline{Word: Degraded, Severity: Critical, Text: "stuck"}, Finding{ID: ProcessStuck, Severity: Critical})
	}
	want := readyNow + "1 warning; was DEGRADED " + clock(now.Add(10*time.Second), now) + " to " + clock(now.Add(20*time.Second), now) + " (process-stuck)"
	if got := say(40*time.Second, Headline{Word: Degraded, Severity: Warning, Text: staysReady + "1 warning"}); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSinceIsSteady checks that a finding's begin does not move with the rounding of a process's age, but moves if
// another process has begun.
func TestSinceIsSteady(t *testing.T) {
	var tr Steady
	for i, step := range []struct{ since, want time.Duration }{
		{60 * second, 60 * second}, {59 * second, 60 * second}, {60 * second, 60 * second}, {61500 * time.Millisecond, 60 * second}, {20 * second, 20 * second},
	} {
		tr.see(now.Add(time.Duration(i)*second), Finding{ID: HelperStuck, Severity: Critical, Since: ago(step.since)})
		if got := tr.now[0].finding.Since; !got.Equal(ago(step.want)) {
			t.Errorf("look %d: since %v, want %v", i, got, ago(step.want))
		}
	}
}

// TestInspectionKeepsItsWord checks that nothing changes when a call runs into its deadline and is asked anew with the
// next relist.
func TestInspectionKeepsItsWord(t *testing.T) {
	hangs := healthy(5).hangOn(3, "app", 47*time.Second).probesAnswered()
	hangs.Phase.EndsBy = now.Add(73 * time.Second)
	between := healthy(5).podFails(3, "app", call.ErrDeadline, tooLate, 1)
	for _, n := range []*node{hangs, between} {
		v := n.facts()
		if got := v.headline(v.diagnose()); got.Word != "INSPECTION HANGS" {
			t.Errorf("%+v", got)
		}
	}
}

// TestFlakyRuntimeIsNotDown checks lists that fail now and then: if all calls fail a few times in a row, by chance, the
// word does not change.
func TestFlakyRuntimeIsNotDown(t *testing.T) {
	for flaky, want := range map[bool]string{true: "AT RISK", false: "RUNTIME DOWN"} {
		n := healthy(5).fail(call.ListPodSandbox, call.ErrOther, "ttrpc: closed", 4).fail(call.Status, call.ErrOther, "ttrpc: closed", 2).fail(call.Version, call.ErrOther, "ttrpc: closed", 2)
		if flaky {
			for i := range answers.Outages {
				f := *n.Failure
				f.At = ago(time.Duration(answers.Outages-i) * 5 * time.Second)
				n.Memory.Outages.ListsFailed = append(n.Memory.Outages.ListsFailed, f)
			}
		}
		v := n.facts()
		if got := v.headline(v.diagnose()); got.Word != want {
			t.Errorf("flaky %v: %+v", flaky, got)
		}
	}
}

// TestHeadlineSaysWhatElseIs checks that a headline with its own word names one other finding, and counts more than
// one; effects do not count.
func TestHeadlineSaysWhatElseIs(t *testing.T) {
	lost := Finding{ID: RuntimeDown, Group: groupSocket, Severity: Warning, Summary: "lost"}
	crash := Finding{ID: CrashLoop, Severity: Warning}
	crash.Subject.Pod = pleg.PodRef{Namespace: "pay", Name: "api-cllcr4tczg-4j7wp"}
	address, effect := Finding{ID: NoAddress, Severity: Warning, Count: 4}, Finding{ID: RuntimeSlow, Severity: Warning, Cause: RuntimeDown}
	for want, held := range map[string][]Finding{
		"lost":                             {lost, effect, {ID: ClockStep}},
		"lost; also crash loop of pay/api": {lost, crash, effect},
		"lost; also 2 other findings":      {lost, crash, address},
	} {
		if got := healthy(1).facts().byHeld(held); got.Word != "SOCKET LOST" || got.Text != "node Ready until the kubelet reconnects: "+want {
			t.Errorf("%+v, want %q", got, want)
		}
	}
}

// Both of two warnings are named; of more, the first is named.
func TestWarningsAreNamed(t *testing.T) {
	of := func(id ID, pod string) Finding {
		f := Finding{ID: id, Severity: Warning}
		f.Subject.Pod = pleg.PodRef{Namespace: "pay", Name: pod}
		return f
	}
	crash, address := of(CrashLoop, "api-cllcr4tczg-4j7wp"), Finding{ID: NoAddress, Severity: Warning, Count: 4}
	for n, want := range map[int]string{
		0: "",
		1: "1 warning, about an application: crash loop of pay/api-cllcr4tczg-4j7wp",
		2: "2 warnings: crash loop of pay/api and no IP in 4 pods",
		5: "5 warnings: crash loop of pay/api-cllcr4tczg-4j7wp, and 4 more",
	} {
		held := append([]Finding{{Severity: Info}, crash}, slices.Repeat([]Finding{address}, max(n-1, 0))...)
		if n == 0 {
			held = held[:1]
		}
		if got := asideOf(held); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
