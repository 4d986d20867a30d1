package ui

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/pane"
)

// lineTwo returns the second line of the screen.
func (s *stage) lineTwo() string {
	return strings.TrimSpace(strings.Split(withoutStyles(s.m.frame()), "\n")[1])
}

// TestHeadlineIsLineTwo holds that it is so whatever else happens.
func TestHeadlineIsLineTwo(t *testing.T) {
	for _, keys := range []string{"", "v", "?", "4 enter", "/ x", "o", "enter", "2 f", "5", "Z"} {
		for _, size := range sizes[1:] {
			s := newStage(t, size.w, size.h).find(Findings()...).show(Hung()).press(strings.Fields(keys)...)
			if got := s.lineTwo(); !strings.HasPrefix(got, "✖ INSPECTION HANGS  node NotReady in 2m13s  ContainerStatus") {
				t.Errorf("after %q at %v: %q", keys, size, got)
			}
		}
	}
	if got := newStage(t, 80, 24).lineTwo(); got != "? STARTING  waiting for the first answers of kubelet and runtime" {
		t.Errorf("before the first update: %q", got)
	}
}

// The headline of chosen namespaces names no warning elsewhere.
func TestHeadlineNamesNoWarningElsewhere(t *testing.T) {
	const said = "node Ready, 1 warning: crash loop of shop/api/app"
	f := diagnose.Finding{ID: diagnose.CrashLoop, Severity: diagnose.Warning, Subject: diagnose.Subject{ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{Namespace: "shop", Name: "api"}}}}
	u := diagnose.Update{Update: engine.Update{Snapshot: Healthy()}, Headline: diagnose.Headline{Word: "DEGRADED", Severity: diagnose.Warning, Text: said}, Findings: []diagnose.Finding{f}}
	for namespace, want := range map[string]string{"": said, "shop": said, "other": ""} {
		s := newStage(t, 80, 24, func(c *Config) {
			if namespace != "" {
				c.Namespaces = []string{namespace}
			}
		})
		if got := s.send(updateMsg{u, u.Standings()}).m.view.Headline.Text; got != want {
			t.Errorf("of %q: %q", namespace, got)
		}
	}
}

// TestNamespacesHoldForEverything holds that findings, too, are those of the namespaces
// that were chosen, and at once: no update may come for long. They hold beside a filter
// that does not parse.
func TestNamespacesHoldForEverything(t *testing.T) {
	f := diagnose.Finding{ID: diagnose.CrashLoop, Severity: diagnose.Warning, Subject: diagnose.Subject{ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{Namespace: "shop", Name: "api"}}}}
	s := newStage(t, 80, 24, func(c *Config) { c.Namespaces, c.Filter = []string{"default"}, "age<x" }).find(f).show(Healthy())
	check := func(pods, findings int) {
		t.Helper()
		if got := [...]int{len(s.m.view.Pods.Shown), len(s.m.view.Findings)}; got != [...]int{pods, findings} {
			t.Errorf("%d pods and %d findings of %q, want %d and %d", got[0], got[1], s.m.view.Filter.Namespaces, pods, findings)
		}
	}
	check(1, 0)
	s.press("0")
	check(11, 1)
	s.press("o", "space", "enter")
	check(2, 0)
}

// TestCriticalFindingOfAPodIsTold holds that, unlike a warning, it is not left to the row
// of the pod, which may be out of sight.
func TestCriticalFindingOfAPodIsTold(t *testing.T) {
	of := func(severity diagnose.Severity) []diagnose.Finding {
		pod := diagnose.Subject{ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{Namespace: "shop", Name: "api"}}}
		return []diagnose.Finding{{ID: "a", Severity: diagnose.Critical, Summary: "first"}, {ID: "b", Severity: severity, Summary: "second", Subject: pod}}
	}
	for severity, want := range map[diagnose.Severity]bool{diagnose.Critical: true, diagnose.Warning: false} {
		s := newStage(t, 100, 45).press("1").find(of(severity)...).show(Healthy())
		if told := s.rowOf("b: ") != ""; told != want {
			t.Errorf("severity %v: told %v", severity, told)
		}
	}
}

// TestHelpExplainsThePanes holds that what the words of the headline, the columns and the signs of
// each pane mean is in the help.
func TestHelpExplainsThePanes(t *testing.T) {
	s := newStage(t, 200, 400).show(Healthy()).press("?")
	for _, p := range s.m.panes {
		e, ok := p.(pane.Explainer)
		if !ok {
			continue
		}
		for _, row := range e.Legend() {
			if s.rowOf(" "+row[0]+" ") == "" {
				t.Errorf("the help does not explain %s of the %s", row[0], p.Info().Name)
			}
		}
	}
	for _, w := range diagnose.HeadWords() {
		if row := s.rowOf(w.Meaning[:min(len(w.Meaning), 30)]); !strings.Contains(row, " "+w.Word+" ") {
			t.Errorf("the help does not explain %s", w.Word)
		}
	}
}

// TestNamespacesOnTheScreen holds that the screen shows of some namespaces what check and
// watch do: a headline does not speak of the pod of another one.
func TestNamespacesOnTheScreen(t *testing.T) {
	s := newStage(t, 160, 40).find(Findings()[:2]...).show(Hung())
	if s.rowOf("default/nfs-client") == "" {
		t.Fatal("nothing hangs")
	}
	s.m.SetNamespaces([]string{"shop"})
	s.show(Hung())
	if got := s.lineTwo(); !strings.HasPrefix(got, "▲ INSPECTION HANGS") || !strings.Contains(got, "for a pod of another namespace") {
		t.Errorf("headline %q", got)
	}
	want := diagnose.Update{Update: engine.Update{Snapshot: s.m.view.Snapshot}, Headline: s.m.found.Headline, Findings: s.found}.Within([]string{"shop"})
	if diff := cmp.Diff(want.Findings, s.m.view.Findings, cmpopts.IgnoreUnexported(diagnose.Step{}, diagnose.Link{})); diff != "" || want.Headline != s.m.view.Headline {
		t.Errorf("headline %+v, findings (-want +got):\n%s", s.m.view.Headline, diff)
	}
}

// TestAnswerComesFirst holds that in an incident the screen shows the answer, the pods with a
// problem and the findings; that enter opens the finding and c copies what checks it until the
// cursor is moved; and that the choice of a person stands until they go back.
func TestAnswerComesFirst(t *testing.T) {
	incident := func() *stage {
		return newStage(t, 120, 40).show(Healthy()).find(Chained()...).show(Hung())
	}
	s := incident()
	for _, want := range []string{" act ", " check ", "with a problem; W shows all", "4 Findings"} {
		if s.rowOf(want) == "" {
			t.Errorf("%q is not on the screen:\n%s", want, withoutStyles(s.m.frame()))
		}
	}
	all := s.m.view.Pods.Len()
	if shown := len(s.m.view.Pods.Shown); shown == 0 || shown >= all || s.m.panes[s.m.below()[0]].Info().Name != "Findings" {
		t.Errorf("%d of %d pods, below them %s", shown, all, s.m.panes[s.m.below()[0]].Info().Name)
	}
	if s.press("W"); len(s.m.view.Pods.Shown) != all {
		t.Errorf("%d of %d pods after W", len(s.m.view.Pods.Shown), all)
	}
	if s := incident().press("c"); !strings.Contains(s.m.flash.text, "copied "+s.m.view.Answer.Check.Command) {
		t.Errorf("c: %q", s.m.flash.text)
	}
	if s := incident().press("enter"); s.m.top() == nil || s.m.top().Subject().Finding == nil || s.rowOf(" check   ") != "" {
		t.Error("enter opens no finding, or the answer stands above its own sheet")
	}
	if s := incident().press("j", "enter"); s.m.top() == nil || s.m.top().Subject().Finding != nil {
		t.Error("after a move enter does not open what the cursor is on")
	}
	for _, keys := range [][]string{{"2"}, {"tab"}, {"f"}} {
		s := incident().press(keys...)
		if s.m.view.Led || s.rowOf(" act ") != "" || s.rowOf("press x: who waits for whom, and what to do") == "" {
			t.Errorf("%q: the choice does not stand, or nobody says that there is an answer:\n%s", keys, withoutStyles(s.m.frame()))
		}
		if s.press("x"); !s.m.view.Led || s.rowOf(" act ") == "" || s.m.focus != 0 {
			t.Errorf("%q, then x: no answer", keys)
		}
	}
}

// TestASmallScreenSaysThatItIsFiltered holds that a filter is seen also where no pane is, with what
// drops it.
func TestASmallScreenSaysThatItIsFiltered(t *testing.T) {
	for _, size := range [][2]int{{80, 12}, {40, 10}} {
		s := newStage(t, size[0], size[1]).show(Healthy()).press("/", "n", "o", "s", "u", "c", "h", "enter")
		if s.rowOf("filter nosuch (esc drops it)") == "" {
			t.Errorf("%v: no filter is told:\n%s", size, withoutStyles(s.m.frame()))
		}
		if s.press("esc"); s.rowOf("(esc drops it)") != "" {
			t.Errorf("%v: esc does not drop it", size)
		}
		s.m.SetNamespaces([]string{"shop", "web"})
		if s.press("j"); s.rowOf("only ns:shop,web (0 shows all)") == "" {
			t.Errorf("%v: no namespace is told:\n%s", size, withoutStyles(s.m.frame()))
		}
	}
}

// TestASmallScreenSaysWhatToType holds that at 80x24 a warning whose headline and commands take two
// lines has what checks it, what ends it, and the risk above the panes; half of that is no help.
func TestASmallScreenSaysWhatToType(t *testing.T) {
	socket := "/run/a-folder-with-a-long-name/containerd.sock"
	f := diagnose.Finding{
		ID: diagnose.RuntimeDown, Severity: diagnose.Warning, Summary: "containerd (pid 812) answers no new connection: its socket is gone",
		Next: []diagnose.Step{{Kind: diagnose.Look, Text: "what is there", Command: "ls -ld " + socket + "; ss -xlp | grep -F -e " + socket}, {Text: "creates its socket again", Command: "systemctl restart containerd", Kind: diagnose.Act, Risk: "containers live on; no pod starts or stops while it restarts", Scope: "pod"}},
	}
	u := diagnose.Update{Update: engine.Update{Snapshot: Healthy()}, Headline: diagnose.Headline{Word: "SOCKET LOST", Severity: diagnose.Warning, Text: "node Ready, " + f.Summary}, Findings: []diagnose.Finding{f}}
	s := newStage(t, 80, 24).send(updateMsg{u, u.Standings()})
	for _, want := range []string{"check     ls -ld ", "act       systemctl restart", "RISK      containers live on", "list age"} {
		if s.rowOf(want) == "" {
			t.Errorf("%q is not on the screen:\n%s", want, s.m.frame())
		}
	}
}

// TestRiskStandsBesideALongCommand holds that at 80x24 what a command risks is not left out where the
// command, or when to take it, is long: of a warning, and of what is critical.
func TestRiskStandsBesideALongCommand(t *testing.T) {
	const long = "ls -ld /run/a-folder-with-a-long-name/containerd.sock; ss -xlp | grep -F -e /run/a-folder-with-a-long-name/containerd.sock"
	for severity, act := range map[diagnose.Severity]diagnose.Step{
		diagnose.Warning:  {Command: "systemctl restart containerd", When: "the kubelet was not restarted yet", Text: "makes the socket anew", Kind: diagnose.Act, Risk: "no pod starts or stops while containerd restarts", Scope: "pod"},
		diagnose.Critical: {Command: strings.Repeat(long+"; ", 3), Text: "removes what it lists", Kind: diagnose.Act, Risk: "it may do harm", Scope: "pod"},
	} {
		f := diagnose.Finding{ID: diagnose.RuntimeDown, Severity: severity, Summary: "containerd (pid 812) answers no new connection: its socket is gone", Next: []diagnose.Step{{Kind: diagnose.Look, Text: "what is there", Command: long}, act}}
		u := diagnose.Update{Update: engine.Update{Snapshot: Healthy()}, Headline: diagnose.Headline{Word: "SOCKET LOST", Severity: severity, Text: "node Ready until the kubelet reconnects: " + f.Summary + "; also crash loop of shop/ledger"}, Findings: []diagnose.Finding{f}}
		s := newStage(t, 80, 24).send(updateMsg{u, u.Standings()})
		for _, want := range []string{"act       ", "RISK      ", " NAMESPACE "} {
			if s.rowOf(want) == "" {
				t.Errorf("%v: %q is not on the screen:\n%s", severity, want, withoutStyles(s.m.frame()))
			}
		}
	}
}
