package say

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/theme"
)

func TestEffectsComeBelowTheirCauses(t *testing.T) {
	f := func(id, cause diagnose.ID) diagnose.Finding { return diagnose.Finding{ID: id, Cause: cause} }
	for _, tt := range []struct {
		name string
		all  []diagnose.Finding
		want string
	}{
		{"causes first, as they are diagnosed", []diagnose.Finding{f("a", ""), f("b", ""), f("c", "a"), f("d", "a")}, "a .c .d b"},
		{"below the last of a kind", []diagnose.Finding{f("a", ""), f("x", ""), f("a", ""), f("c", "a")}, "a x a .c"},
		{"two effects of a kind", []diagnose.Finding{f("a", ""), f("c", "a"), f("c", "a")}, "a .c .c"},
		{"a cause that is not there", []diagnose.Finding{f("a", ""), f("c", "gone")}, "a c"},
		{"findings that explain each other", []diagnose.Finding{f("a", "b"), f("b", "a"), f("c", "c")}, "a b c"},
		{"nothing", nil, ""},
	} {
		var got []string
		for _, r := range FindingTree(tt.all) {
			got = append(got, theme.When(r.Effect, ".", "")+string(r.ID))
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestHeadlineIsNeverGreenOverTrouble holds that only one word with nothing wrong
// has the look of a sound node.
func TestHeadlineIsNeverGreenOverTrouble(t *testing.T) {
	look := theme.Default()
	for _, tt := range []struct {
		h      diagnose.Headline
		symbol string
		st     theme.Style
	}{
		{diagnose.Headline{Word: "HEALTHY"}, look.Symbols.Good, look.Good},
		{diagnose.Headline{Word: "HEALTHY", Severity: diagnose.Warning}, look.Symbols.Warn, look.Warn},
		{diagnose.Headline{Word: "AT RISK", Severity: diagnose.Critical}, look.Symbols.Bad, look.Bad},
		{diagnose.Headline{Word: "AT RISK", Severity: diagnose.Critical, Node: diagnose.NodeReadyNow}, look.Symbols.Warn, look.Warn},
		{diagnose.Headline{Word: "AT RISK", Severity: diagnose.Critical, Node: diagnose.NodeReadyNow, Clock: diagnose.Clock{What: "relist ends"}}, look.Symbols.Bad, look.Bad},
		{diagnose.Headline{Word: "AT RISK", Severity: diagnose.Critical, Node: diagnose.NodeNotReadyIn}, look.Symbols.Bad, look.Bad},
		{diagnose.Headline{Word: "INSPECTION HANGS", Severity: diagnose.Critical, Node: diagnose.NodeReadyNow, Clock: diagnose.Clock{What: "relist ends"}}, look.Symbols.Warn, look.Warn},
		{diagnose.Headline{Word: "INSPECTION HANGS", Severity: diagnose.Critical, Node: diagnose.NodeNotReadyIn}, look.Symbols.Bad, look.Bad},
		{diagnose.Headline{Word: "RUNTIME DOWN", Severity: diagnose.Warning, Node: diagnose.NodeNotReadyIn, Clock: diagnose.Clock{What: "NotReady", In: time.Minute}}, look.Symbols.Bad, look.Bad},
		{diagnose.Headline{Word: "LISTS FAIL", Severity: diagnose.Warning, Node: diagnose.NodeNotReadyIn, Clock: diagnose.Clock{What: "PLEG unhealthy", In: 2 * time.Minute}}, look.Symbols.Warn, look.Warn},
		{diagnose.Headline{Word: "PAUSED"}, look.Symbols.Unknown, look.Warn},
		{diagnose.Headline{Word: "NO LIST YET"}, look.Symbols.Unknown, look.Warn},
	} {
		if symbol, st := HeadlineLook(&look, tt.h); symbol != tt.symbol || st != tt.st {
			t.Errorf("%s, %v: %s %v, want %s %v", tt.h.Word, tt.h.Severity, symbol, st, tt.symbol, tt.st)
		}
	}
}

// TestChecked holds that only the headline of a node that is sound, and that says
// nothing more, is spelled out.
func TestChecked(t *testing.T) {
	s := &engine.Snapshot{
		Counts: engine.Counts{Pods: 110, Containers: 1},
		Table: answers.Table{
			Calls: []answers.Calls{{Count: 3, Max: 7 * time.Millisecond}, {Count: 2, Errors: 1, Max: time.Millisecond}},
		},
	}
	for _, tt := range []struct {
		h    diagnose.Headline
		want string
	}{
		{diagnose.Headline{Word: "HEALTHY"}, "110 pods, 1 container: 1 of 5 calls failed, slowest 7ms"},
		{diagnose.Headline{Word: "HEALTHY", Text: "1 warning"}, "1 warning"},
		{diagnose.Headline{Word: "NO LIST", Severity: diagnose.Warning}, ""},
	} {
		if got := Checked(tt.h, s); got.Text != tt.want || got.Word != tt.h.Word {
			t.Errorf("%s: %q, want %q", tt.h.Word, got.Text, tt.want)
		}
	}
}

func TestCountdown(t *testing.T) {
	for want, c := range map[string]diagnose.Clock{
		"":                           {},
		"node NotReady in 9s":        {What: "NotReady", In: 9 * time.Second},
		"node NotReady in 9s to 19s": {What: "NotReady", In: 9 * time.Second, To: 19 * time.Second},
		"node NotReady in 1m to 1m10s (when Version gives up)": {What: "NotReady", In: time.Minute, To: 70 * time.Second, Held: true},
		"node NotReady within 4s":                              {What: "NotReady", In: -6 * time.Second, To: 4 * time.Second},
		"node NotReady in 2m3s (PLEG)":                         {What: "PLEG unhealthy", In: 2*time.Minute + 3*time.Second},
	} {
		if got := Countdown(diagnose.Headline{Clock: c}); got != want {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
		of := diagnose.Headline{Clock: c, Node: diagnose.NodeNotReady}
		if got := Countdown(of); got != "" {
			t.Errorf("of a node that is not ready: %q", got)
		}
	}
}
