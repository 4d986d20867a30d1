package ui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/header"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
)

var headerStyles = regexp.MustCompile("\x1b\\[[0-9;:]*m")

// observed returns the header of a view.
func observed(v *pane.View, r header.Room) *header.Header {
	h := &header.Header{Keys: keymap.Default().Keys}
	r.Lines = max(r.Lines, header.Least)
	h.Observe(v, r)
	return h
}

// row returns line y of a header, without its look.
func row(h *header.Header, y, w int) string {
	var l text.Line
	l.Begin(w)
	h.Draw(&l, y)
	return strings.TrimSpace(headerStyles.ReplaceAllString(string(l.Buf), ""))
}

func headerView(s *engine.Snapshot, found ...diagnose.Finding) *pane.View {
	return With(View(s), found...)
}

func TestHeadline(t *testing.T) {
	paused := Healthy()
	paused.Paused, paused.Health.Healthy, paused.Health.ListedAt = true, false, Ago(4*time.Minute)
	paused.Health.Verdict = "pleg was last seen active 4m0s ago; threshold is 3m0s"
	soon := Hung()
	soon.InFlight[0].Since, soon.Phase.Began = Ago(700*time.Millisecond), Ago(720*time.Millisecond)
	for _, tt := range []struct {
		name string
		v    *pane.View
		r    header.Room
		want string
	}{
		{"the first second of a call", headerView(soon), header.Room{Width: 80}, "▲ AT RISK  node NotReady in 2m13s"},
		{"sound", headerView(Healthy()), header.Room{Width: 80}, "✔ HEALTHY"},
		{"a cause that is long", headerView(Hung(), Findings()...), header.Room{Width: 80, Lines: 5}, "✖ INSPECTION HANGS  node NotReady in 2m13s  ContainerStatus"},
		{"in full", headerView(Hung(), Findings()...), header.Room{Width: 200, Lines: 5}, "✖ INSPECTION HANGS  node NotReady in 2m13s  ContainerStatus of default/nfs-client/app: no reply for 47s while 5 other calls answer within 2ms; unhealthy in 2m13s"},
		{"cut", headerView(Hung(), Findings()...), header.Room{Width: 80}, "✖ INSPECTION HANGS  node NotReady in 2m13s  ContainerStatus of default/nfs-cl…"},
		{"paused", headerView(paused), header.Room{Width: 120}, "? PAUSED  the last look was 4m ago"},
	} {
		h := observed(tt.v, tt.r)
		if got := row(h, 1, tt.r.Width); got != tt.want {
			t.Errorf("%s:\n%q, want\n%q", tt.name, got, tt.want)
		}
		if said := fmt.Sprint(h.Alerts()); tt.name == "paused" && strings.Contains(said, "pleg was last seen") {
			t.Errorf("a verdict while nobody looks: %s", said)
		}
	}
}

// TestSinceEndsTheHeadline holds that since when it is so stands at the end of the headline, in one
// line or in several, unless it would be a line of its own, and takes nothing from what is said.
func TestSinceEndsTheHeadline(t *testing.T) {
	v := headerView(Hung(), Findings()...)
	v.Headline = diagnose.Headline{Word: "LISTS HANG", Severity: diagnose.Critical, Text: "likely blocked by default/nfs-client-99ln52z7ng-bj4ld/client (pid 4479, D in nfs4_proc_getattr)"}
	v.Answer.Severity, v.Answer.Since = diagnose.Critical, Ago(time.Minute)
	ends := " since " + v.Answer.Since.Local().Format(time.TimeOnly)
	for w, want := range map[int][]string{
		140: {"✖ LISTS HANG  " + v.Headline.Text + strings.Repeat(" ", 14) + ends},
		115: {"✖ LISTS HANG  " + v.Headline.Text},
		100: {"✖ LISTS HANG  likely blocked by default/nfs-client-99ln52z7ng-bj4ld/client (pid 4479, D", "in nfs4_proc_getattr)" + strings.Repeat(" ", 60) + ends},
		90:  {"✖ LISTS HANG  likely blocked by default/nfs-client-99ln52z7ng-bj4ld/client (pid 4479, D", "in nfs4_proc_getattr)"},
	} {
		h := observed(v, header.Room{Width: w, Lines: 5})
		var got []string
		for i := range want {
			got = append(got, row(h, 1+i, w))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d cells (-want +got):\n%s", w, diff)
		}
	}
}

// TestASoundNodeIsReady holds what a healthy node says of itself, by the room that there is.
func TestASoundNodeIsReady(t *testing.T) {
	v := headerView(Healthy())
	v.Headline.Text, v.Headline.Node = "26 pods, 38 containers, every call is answered", diagnose.NodeReadyNow
	for w, want := range map[int]string{
		160: "node Ready · Pod Lifecycle Event Generator (PLEG) healthy · 26 pods, 38 containers, every call is answered",
		110: "node Ready · Pod Lifecycle Event Generator (PLEG) healthy · 26 pods, 38 containers",
		90:  "node Ready · PLEG healthy · 26 pods, 38 containers, every call is answered",
		80:  "node Ready · PLEG healthy · 26 pods, 38 containers",
		58:  "node Ready · 26 pods, 38 containers",
	} {
		if got := row(observed(v, header.Room{Width: w}), 1, w); got != "✔ HEALTHY  "+want {
			t.Errorf("%d cells: %q, want %q", w, got, want)
		}
	}
	v.Headline.Text += "; was SLOW 12:00:04 to 12:00:30"
	for w, want := range map[int]string{
		130: "node Ready · Pod Lifecycle Event Generator (PLEG) healthy · 26 pods, 38 containers; was SLOW 12:00:04 to 12:00:30",
		90:  "node Ready · 26 pods, 38 containers; was SLOW 12:00:04 to 12:00:30",
		60:  "node Ready · was SLOW 12:00:04 to 12:00:30",
	} {
		if got := row(observed(v, header.Room{Width: w}), 1, w); got != "✔ HEALTHY  "+want {
			t.Errorf("%d cells: %q, want %q", w, got, want)
		}
	}
}

// TestHeadlineEndsWithWhatHoldsItUp holds that a line that is short cuts what stands before
// that, unless it would be all that is left.
func TestHeadlineEndsWithWhatHoldsItUp(t *testing.T) {
	v := headerView(Hung(), Findings()...)
	v.Headline = diagnose.Headline{Word: "LISTS HANG", Severity: diagnose.Critical, Text: "lists hang behind ContainerStatus of shop/payments-6c8f9d7b5-t8wfx/app -> runc update (4m)"}
	for w, want := range map[int]string{
		100: "✖ LISTS HANG  behind ContainerStatus of shop/payments-6c8f9d7b5-t8wfx/app -> runc update (4m)",
		80:  "✖ LISTS HANG  behind ContainerStatus of shop/payments-6c8… -> runc update (4m)",
		60:  "✖ LISTS HANG  behind ContainerStatus of shop/payments-6c8…",
		40:  "✖ LISTS HANG  behind ContainerStatus …",
	} {
		if got := row(observed(v, header.Room{Width: w}), 1, w); got != want {
			t.Errorf("%d cells:\n%q, want\n%q", w, got, want)
		}
	}
}

// TestGaugesShowAllThatRunsOut holds that a Status that fails, which makes a node NotReady
// after 30 s, and a call that is given up in a second are not hidden behind the three
// minutes of PLEG.
func TestGaugesShowAllThatRunsOut(t *testing.T) {
	status := Hung()
	status.Node.DownAt = Noon.Add(18 * time.Second)
	over := Hung()
	over.Health.ListedAt = Ago(4 * time.Minute)
	unlisted := Healthy()
	unlisted.Health.ListedAt = time.Time{}
	paused := Healthy()
	paused.Paused = true
	for want, s := range map[string]*engine.Snapshot{
		`^list age █·+ <2s of 3m   relist 12ms, 2 pods inspected$`:                                                                 Healthy(),
		`^list age █+·+ 47s of 3m   ContainerStatus █+·+ 47s of 2m   relist: inspecting pod 4 of 17$`:                              Hung(),
		`^list age █+·+ 47s of 3m   last good Status █+·+ 12s of 30s   ContainerStatus █+·+ 47s of 2m   relist: inspecting pod 4 `: status,
		`^list age █+ 4m, limit 3m   Con`:          over,
		`^waiting for the first list  relist 12ms`: unlisted,
		`^list age █·+ <2s of 3m   relist paused$`: paused,
	} {
		if got := gauges(s, 160); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// gauges returns the last line of the header of a node.
func gauges(s *engine.Snapshot, w int) string {
	h := observed(headerView(s, Findings()...), header.Room{Width: w, Lines: 9})
	return row(h, h.Height()-1, w)
}

// TestRelistNamesWhichTryItIs holds that a list that was asked for again does not seem
// to have been out for less time than it was not answered; and that a Status that hangs beside
// a list, and has been out for longer, is not taken for what the relist waits for.
func TestRelistNamesWhichTryItIs(t *testing.T) {
	soon := Hung()
	soon.InFlight[0].Since, soon.Phase.Began = Ago(700*time.Millisecond), Ago(720*time.Millisecond)
	again := Healthy()
	again.Phase = engine.Phase{Step: engine.Listing, Began: Ago(77 * time.Second)}
	again.InFlight = []call.Flight{{Op: call.ListContainers, Since: Ago(77 * time.Second)}}
	again.Failure = &answers.Failure{Flight: call.Flight{Op: call.ListContainers}, InRow: 1, Err: &call.Error{Op: call.ListContainers}}
	beside := Healthy()
	beside.Phase = engine.Phase{Step: engine.Listing, Began: Ago(9 * time.Second)}
	beside.InFlight = []call.Flight{
		{Op: call.Status, Since: Ago(9 * time.Second)},
		{Op: call.ListPodSandbox, Since: Ago(8 * time.Second)},
	}
	for want, s := range map[string]*engine.Snapshot{
		"relist: inspecting pod 4 of 17, default/nfs-client ContainerStatus app 1s": soon,
		"1m17s of 2m   relist: listing, 2nd try":                                    again,
		"ListPodSandbox █··················· 8s of 2m   relist: listing":            beside,
	} {
		if got := gauges(s, 160); !strings.Contains(got, want) {
			t.Errorf("%q, want %q in it", got, want)
		}
	}
}

// TestAlertOfOnePodNamesIt holds that a relist of one pod that a key asked for
// does not fail in silence.
func TestAlertOfOnePodNamesIt(t *testing.T) {
	s := Healthy()
	s.PodFailure = &answers.Failure{
		Flight: call.Flight{Op: call.ListContainers, Pod: pleg.PodRef{UID: "u", Namespace: "shop", Name: "cart-0"}},
		Err:    &call.Error{Op: call.ListContainers, Kind: call.ErrUnavailable, Code: "Unavailable", Text: "connection refused"},
		InRow:  1,
	}
	want := "ListContainers of shop/cart-0 failed: Unavailable: connection refused"
	if got := observed(headerView(s), header.Room{Width: 200}).Alerts(); len(got) != 1 || !strings.Contains(got[0].Text, want) {
		t.Errorf("alerts = %v, want one that says %q", got, want)
	}
}

// TestAlertsDoNotRepeatTheHeadline holds that below the header stands only what
// neither the headline nor the panes say.
func TestAlertsDoNotRepeatTheHeadline(t *testing.T) {
	all := Findings()
	over := headerView(Healthy())
	over.Findings = []diagnose.Finding{{ID: diagnose.RuntimeDown, Severity: diagnose.Warning, Summary: "no call reaches the runtime"}}
	over.Headline = diagnose.Headline{Word: "HEALTHY"}
	for name, tt := range map[string]struct {
		v    *pane.View
		r    header.Room
		want []string
	}{
		"the worst is the headline":                 {headerView(Hung(), all...), header.Room{Width: 200}, []string{"▲ crash-loop"}},
		"the rest of its text":                      {headerView(Hung(), all[:2]...), header.Room{Width: 80, Lines: 5}, []string{"▲ crash-loop"}},
		"the kubelet's words where they do not fit": {headerView(Unhealthy(), all...), header.Room{Width: 120, Lines: 4}, []string{"▲ crash-loop", "▲ odd answers"}},
		"those told below":                          {headerView(Hung(), all...), header.Room{Width: 200, Lines: 5, Told: true}, nil},
		"the one that is open":                      {headerView(Hung(), all...), header.Room{Width: 200, Opened: all[1].Summary}, nil},
		"a warning under a sound word":              {headerView(Healthy(), all[1]), header.Room{Width: 80}, []string{"▲ crash-loop"}},
		"information is none":                       {headerView(Healthy(), diagnose.Finding{ID: "x", Summary: "by the way"}), header.Room{Width: 80}, nil},
		"what is over":                              {over, header.Room{Width: 80}, nil},
	} {
		got := observed(tt.v, tt.r).Alerts()
		ok := len(got) == len(tt.want)
		for i := range min(len(got), len(tt.want)) {
			ok = ok && strings.HasPrefix(got[i].Text, tt.want[i])
		}
		if !ok {
			t.Errorf("%s: alerts\n%v\nwant\n%q", name, got, tt.want)
		}
	}
}

// TestBadgesOfEventSources holds that whoever reads the runtime's events sees that, and
// whether all is well with it; and in which mode.
func TestBadgesOfEventSources(t *testing.T) {
	for _, tt := range []struct {
		states []sources.StreamState
		mode   sources.ModeState
		want   string
	}{
		{nil, sources.ModeState{}, "endpoint"},
		{[]sources.StreamState{sources.StreamOff, sources.StreamOff}, sources.ModeState{}, "endpoint"},
		{[]sources.StreamState{sources.StreamOpening}, sources.ModeState{}, "endpoint  EVENTS cri"},
		{[]sources.StreamState{sources.StreamConnected, sources.StreamOff}, sources.ModeState{}, "endpoint  EVENTS cri"},
		{[]sources.StreamState{sources.StreamConnected, sources.StreamLost}, sources.ModeState{}, "endpoint  ▲ EVENTS cri,cgroup"},
		{[]sources.StreamState{sources.StreamRefused}, sources.ModeState{}, "endpoint  ▲ EVENTS cri"},
		{[]sources.StreamState{sources.StreamConnected}, sources.ModeState{Mode: pleg.Evented, Asked: pleg.Evented}, "endpoint  EVENTS cri   EVENTED"},
		{[]sources.StreamState{sources.StreamFellBack}, sources.ModeState{Asked: pleg.Evented}, "endpoint  ▲ EVENTS cri   ▲ FELL BACK"},
	} {
		s := Healthy()
		s.Mode = tt.mode
		for i, state := range tt.states {
			s.Sources = append(s.Sources, sources.SourceState{Source: sources.Source(i + 1), State: state})
		}
		v := headerView(s)
		v.Source.Endpoint = "endpoint"
		got := row(observed(v, header.Room{Width: 160}), 0, 160)
		if got = strings.Join(strings.Fields(got[strings.Index(got, "endpoint"):]), " "); got != strings.Join(strings.Fields(tt.want), " ") {
			t.Errorf("%v %v: %q, want %q", tt.states, tt.mode, got, tt.want)
		}
	}
}

// TestEventSourceThatIsNotReadSaysWhy holds that the mark of the badge is explained without a key.
func TestEventSourceThatIsNotReadSaysWhy(t *testing.T) {
	for state, want := range map[sources.StreamState]string{
		sources.StreamConnected: "",
		sources.StreamOff:       "",
		sources.StreamRefused:   "▲ event source cri refused: containerd 1.7",
		sources.StreamLost:      "▲ event source cri lost: containerd 1.7",
	} {
		s := Healthy()
		s.Sources = []sources.SourceState{{Source: sources.FromCRI, State: state, Reason: "containerd 1.7"}}
		var got string
		for _, a := range observed(headerView(s), header.Room{Width: 160}).Alerts() {
			got += a.Text
		}
		if got != want {
			t.Errorf("%v: %q, want %q", state, got, want)
		}
	}
}

// TestTinyScreenHasAGauge holds that on the smallest screen the headline and the clock
// come first.
func TestTinyScreenHasAGauge(t *testing.T) {
	h := observed(headerView(Hung(), Findings()...), header.Room{Width: 40})
	var got []string
	for y := range 9 {
		var l text.Line
		l.Begin(40)
		h.Tiny(&l, y, 9)
		got = append(got, strings.TrimSpace(headerStyles.ReplaceAllString(string(l.Buf), "")))
	}
	for i, want := range []string{"✖ INSPECTION HANGS", "node NotReady in 2m13s", "act    kill -9 41100", "RISK   kill the shim of this one pod;", "its containers die and are", "list age █··· 47s of 3m", "ContainerStatus of"} {
		if !strings.HasPrefix(got[i], want) {
			t.Errorf("line %d is %q, want %q", i+1, got[i], want)
		}
	}
}

// TestWarningSaysWhatEndsIt holds that a warning has, beside what checks it, what ends it and what that
// risks where there is room, and at least what checks it.
func TestWarningSaysWhatEndsIt(t *testing.T) {
	v := headerView(Healthy())
	v.Headline = diagnose.Headline{Word: "DEGRADED", Severity: diagnose.Warning, Text: "node Ready, 1 warning"}
	v.Answer = diagnose.Answer{Finding: diagnose.Finding{ID: diagnose.CrashLoop, Severity: diagnose.Warning}, Check: diagnose.Step{Command: "look"}}
	for _, tt := range []struct {
		act   diagnose.Step
		lines int
		want  string
	}{
		{diagnose.Step{Command: "end it", Text: "it ends", Kind: diagnose.Act, Risk: "it may do harm", Scope: "pod"}, 7, "check look act end it  # it ends RISK it may do harm"},
		{diagnose.Step{Command: "end it", Text: "it ends", When: "so it is", Kind: diagnose.Act, Risk: "it may do harm", Scope: "pod"}, 8, "check look act end it  # it ends when so it is RISK it may do harm"},
		{diagnose.Step{Command: "end it", Text: "it ends", Kind: diagnose.Act, Risk: "it may do harm", Scope: "pod"}, 4, "check look"},
		{diagnose.Step{Command: "end it", Text: "it ends", Kind: diagnose.Act, Risk: "none", Scope: "pod"}, 7, "check look act end it  # it ends RISK none"},
		{diagnose.Step{Text: "replace the disk", Kind: diagnose.Act, Risk: "none", Scope: "pod"}, 7, "check look act replace the disk"},
	} {
		v.Answer.Act = tt.act
		h, got := observed(v, header.Room{Width: 100, Lines: tt.lines}), ""
		for y := range h.Height() {
			for _, label := range []string{"check", "act", "when", "RISK"} {
				if said, is := strings.CutPrefix(strings.TrimSpace(row(h, y, 100)), label+" "); is {
					got += " " + label + " " + strings.TrimSpace(said)
				}
			}
		}
		if got != " "+tt.want {
			t.Errorf("%+v in %d lines: %q, want %q", tt.act, tt.lines, got, tt.want)
		}
	}
}

// TestAnswerHasRoomForWhatMattersMost holds that of an answer that there is no room for the
// evidence goes first, then who waits for whom, and last the command that ends it: never what
// that risks before who waits.
func TestAnswerHasRoomForWhatMattersMost(t *testing.T) {
	v := headerView(Hung(), Chained()...)
	for lines, want := range map[int][]string{
		20: {"chain", "check", "act", "RISK", "evidence"},
		11: {"chain", "check", "act", "RISK"},
		7:  {"check", "act", "RISK"},
		6:  {"check", "act"},
		5:  {"act"},
	} {
		h, got := observed(v, header.Room{Width: 100, Lines: lines, Led: true}), []string{}
		for y := range h.Height() {
			for _, label := range []string{"chain", "check", "act", "RISK", "evidence"} {
				if strings.HasPrefix(row(h, y, 100), label+" ") {
					got = append(got, label)
				}
			}
		}
		if !slices.Equal(got, want) || h.Height() > lines {
			t.Errorf("in %d lines: %q in %d, want %q", lines, got, h.Height(), want)
		}
	}
}

// TestNoCommandStandsWithoutItsRisk holds that an answer takes more lines than it may otherwise where
// what a command risks would be left out.
func TestNoCommandStandsWithoutItsRisk(t *testing.T) {
	v := headerView(Hung(), Chained()...)
	for most, want := range map[int]bool{0: false, 6: false, 7: true} {
		h, risk := observed(v, header.Room{Width: 100, Lines: 6, Most: most, Led: true}), false
		for y := range h.Height() {
			risk = risk || strings.HasPrefix(row(h, y, 100), "RISK ")
		}
		if risk != want {
			t.Errorf("at most %d lines: RISK is shown: %v", most, risk)
		}
	}
}

// TestAnswerIsPointedAt holds that a person who has chosen a pane is told by which key the
// answer is shown; that the answer does not stand above its own sheet; and that there is none
// where nothing critical is wrong.
func TestAnswerIsPointedAt(t *testing.T) {
	all := Chained()
	for name, tt := range map[string]struct {
		v    *pane.View
		r    header.Room
		want bool
	}{
		"a pane was chosen": {headerView(Hung(), all...), header.Room{Lines: 5}, true},
		"a sheet is open":   {headerView(Hung(), all...), header.Room{Lines: 5, Opened: all[0].Summary}, false},
		"a warning":         {headerView(Healthy(), Findings()[1]), header.Room{Lines: 5}, false},
	} {
		tt.r.Width = 200
		h := observed(tt.v, tt.r)
		if got := strings.Contains(row(h, 2, 200), "press x:"); got != tt.want {
			t.Errorf("%s: %q", name, row(h, 2, 200))
		}
	}
}

// TestBadgeOfARecording holds that whoever looks sees that a file is written, or no more.
func TestBadgeOfARecording(t *testing.T) {
	for want, is := range map[string]engine.Recording{
		"endpoint":       {Span: time.Minute, Kept: 9},
		"   REC":         {File: "f"},
		"   ▲ REC ENDED": {File: "f", Ended: "no space left on device"},
	} {
		s := Healthy()
		s.Recording = is
		v := headerView(s)
		v.Source.Endpoint = "endpoint"
		if got := row(observed(v, header.Room{Width: 160}), 0, 160); !strings.HasSuffix(got, want) {
			t.Errorf("%+v: %q, want %q", is, got, want)
		}
	}
}
