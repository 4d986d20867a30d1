package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/waits"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

var (
	cut  = diagnose.Step{Text: "ends the update", Command: "kill 4800", Kind: diagnose.Act, Risk: "it may do harm", Scope: "pod"}
	hung = diagnose.Finding{
		ID: diagnose.ListHung, Severity: diagnose.Critical, Summary: "list hung: behind runc update", Cause: diagnose.DiskFull, Count: 3,
		Subject:  diagnose.Subject{ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{Namespace: "shop", Name: "pay", UID: "u"}, Container: "app", ID: "3f2a9b1c0d4e5f60718293a4"}, Operation: "ListContainers"},
		Evidence: []string{"one", "two"},
		Next:     []diagnose.Step{{Kind: diagnose.Look, Text: "look", Command: "pstree 4800"}, cut, {Text: "reboot", Kind: diagnose.Act, Risk: "it may do harm", Scope: "pod"}},
		Chain:    []diagnose.Link{{Kind: waits.Relist, Name: "relist"}, {Kind: waits.Helper, ID: "4800", Name: "runc update", Proof: "child of its shim", Cut: &cut}},
	}
)

// told returns what stands in a section: each text, and each command after a dollar.
func told(s widget.Section) (all []string) {
	for _, r := range s.Rows {
		for _, span := range r.Spans {
			if span.Text != "" {
				all = append(all, span.Text)
			}
		}
		if r.Command != "" {
			all = append(all, "$ "+r.Command)
		}
	}
	return all
}

// TestFindingIsToldOnce holds that the sheet and the text tell the same in the same order: what
// differs is how much of the summary, the subject and the place among others.
func TestFindingIsToldOnce(t *testing.T) {
	th := theme.Default()
	sheet := Finding(Form{Theme: &th}, Found{Finding: &hung, LeadsTo: []string{"pleg-unhealthy", "events-discarded"}})
	brief := Finding(Form{Theme: &th, Brief: true}, Found{Finding: &hung})
	want := [][2][]string{
		{{"list hung: behind runc update"}, {"behind runc update"}},
		{
			{"runc update", "$ kill 4800", "it may do harm", "disk-full", "pleg-unhealthy, events-discarded"},
			nil, // the answer, which stands before all of them
		},
		{nil, nil}, // the chain: the same in both
		{{"one", "two"}, {"one", "two"}},
		{
			{"look", "$ pstree 4800", "reboot ! RISK: it may do harm"},
			{"look", "$ pstree 4800", "ends the update ! RISK: it may do harm", "$ kill 4800", "reboot ! RISK: it may do harm"},
		},
		{{"ListContainers", "shop", "pay", "u", "app", "3f2a9b1c0d4e5f60718293a4", "plegtop explain list-hung"}, {"ListContainers shop/pay/app, id 3f2a9b1c0d4e5"}},
	}
	if len(sheet) != len(want) || len(brief) != len(want) {
		t.Fatalf("%d and %d sections, want %d", len(sheet), len(brief), len(want))
	}
	for i, w := range want {
		got := [2][]string{told(sheet[i]), told(brief[i])}
		if w[0] == nil {
			if len(got[0]) < 4 || !slices.Equal(got[0], got[1]) {
				t.Errorf("chains %q", got)
			}
			continue
		}
		if diff := cmp.Diff(w, got); diff != "" {
			t.Errorf("section %d (-want +got):\n%s", i, diff)
		}
	}
	if title := sheet[5].Title; title != "Subject, the first of 3" {
		t.Errorf("title %q", title)
	}
}

// TestGoroutineIsCutAtTheRuntime holds that nobody is told to act on a goroutine.
func TestGoroutineIsCutAtTheRuntime(t *testing.T) {
	th := theme.Default()
	for kind, want := range map[waits.Kind]string{waits.Helper: th.Symbols.Left + " act here", waits.Goroutine: th.Symbols.Left + " act on the runtime"} {
		chain := []diagnose.Link{{Kind: waits.Relist, Name: "relist"}, {Kind: kind, Name: "last", Cut: &cut}}
		rows := Form{Theme: &th}.inline(diagnose.Answer{Chain: chain}, time.Time{})
		if got := told(widget.Section{Rows: rows}); !slices.Contains(got, want) {
			t.Errorf("%v: chain %q, want %q in it", kind, got, want)
		}
	}
}

// TestMarkStandsWithWhatItMarks holds that where a chain takes several lines, the last link and its
// mark stand in one, as far as a line holds both.
func TestMarkStandsWithWhatItMarks(t *testing.T) {
	th := theme.Default()
	chain := []diagnose.Link{{Kind: waits.Relist, Name: "relist"}, {Kind: waits.Goroutine, Name: "goroutine 375 waiting for a channel", Proof: "x", Cut: &cut}}
	last := th.Symbols.Step + " goroutine 375 waiting for a channel " + th.Symbols.Left + " act on the runtime"
	for width, want := range map[int][]string{
		80:                    {"relist " + last},
		text.Width(last):      {"relist", last},
		text.Width(last) - 20: {"relist " + th.Symbols.Step + " goroutine 375 waiting for a", "channel " + th.Symbols.Left + " act on the runtime"},
	} {
		var got []string
		for _, r := range (Form{Theme: &th, Width: width}).inline(diagnose.Answer{Chain: chain}, time.Time{}) {
			var line strings.Builder
			for _, s := range r.Spans {
				line.WriteString(s.Text + " ")
			}
			got = append(got, strings.TrimSpace(line.String()))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d cells (-want +got):\n%s", width, diff)
		}
	}
}
