package lines

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/theme"
)

var update = flag.Bool("update", false, "write the goldens again")

// forms are the ways in which each scene is kept.
var forms = []struct {
	name string
	with func(*CheckOptions)
}{
	{"80.txt", func(o *CheckOptions) { o.Width = 80 }},
	{"120.txt", func(o *CheckOptions) { o.Width = 120 }},
	{"pipe.txt", func(*CheckOptions) {}},
	{"ascii.txt", func(o *CheckOptions) { o.Width, o.Theme = 80, theme.Default().Plain() }},
	{"colour.txt", func(o *CheckOptions) { o.Width, o.Colour = 80, true }},
	{"npd.txt", func(o *CheckOptions) { o.NPD = true }},
	{"json", func(o *CheckOptions) { o.JSON = true }},
}

func TestCheckGolden(t *testing.T) {
	for _, scene := range scenes {
		for _, form := range forms {
			name := scene.name + "." + form.name
			t.Run(name, func(t *testing.T) {
				o := options
				form.with(&o)
				got := checkOutput(t, scene.make(), o)
				if o.JSON {
					got = indented(t, got)
				}
				golden(t, filepath.Join("testdata", name), got)
			})
		}
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func checkOutput(t *testing.T, r diagnose.Update, o CheckOptions) []byte {
	t.Helper()
	answer, _ := o.Answer(r)
	return answer
}

// indented makes a golden of JSON fit to be read in a diff.
func indented(t *testing.T, object []byte) []byte {
	t.Helper()
	if n := bytes.Count(object, []byte("\n")); n != 1 || object[len(object)-1] != '\n' {
		t.Errorf("the JSON has %d line feeds, want one at its end", n)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, object, "", "  "); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestCheckTextFits holds that no line is wider than the terminal but commands,
// which must stay whole to be copied, and that none has anything in it that a
// terminal would obey.
func TestCheckTextFits(t *testing.T) {
	for _, scene := range scenes {
		for _, width := range []int{0, 40, 80, 120, 300} {
			for line := range strings.Lines(string(checkOutput(t, scene.make(), CheckOptions{Width: width, Source: "cri"}))) {
				line = strings.TrimSuffix(line, "\n")
				if harmful(line) {
					t.Errorf("%s: control character in %q", scene.name, line)
				}
				command := regexp.MustCompile(`^ *(next|check|act)? *\$ `).MatchString(line)
				if w := ansi.StringWidth(line); width >= 80 && w > width && !command {
					t.Errorf("%s: %d cells at width %d: %s", scene.name, w, width, line)
				}
				if line != strings.TrimRight(line, " ") {
					t.Errorf("%s: line ends in spaces: %q", scene.name, line)
				}
			}
		}
	}
}

func TestCheckASCII(t *testing.T) {
	for _, scene := range scenes {
		got := string(checkOutput(t, scene.make(), CheckOptions{Width: 80, Theme: theme.Default().Plain()}))
		if i := strings.IndexFunc(got, func(r rune) bool { return r >= utf8.RuneSelf }); i >= 0 {
			t.Errorf("%s: not ASCII: %q", scene.name, got[i:min(len(got), i+20)])
		}
	}
}

func TestColourOnlyAddsSequences(t *testing.T) {
	for _, scene := range scenes {
		plain := string(checkOutput(t, scene.make(), CheckOptions{Width: 80}))
		coloured := string(checkOutput(t, scene.make(), CheckOptions{Width: 80, Colour: true}))
		if plain == coloured {
			t.Errorf("%s: no colour", scene.name)
		}
		if diff := cmp.Diff(plain, ansi.Strip(coloured)); diff != "" {
			t.Errorf("%s: colour changes the text (-plain +coloured):\n%s", scene.name, diff)
		}
	}
}

// harmful reports whether a terminal may obey a part of s.
func harmful(s string) bool {
	return !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) })
}

var schema = compiled("check.schema.json")

// TestSweepNamesNotTooMany holds that a node on which everything fails still
// gets an object of a sensible size, with the true counts in it.
func TestSweepNamesNotTooMany(t *testing.T) {
	r := hungCheck()
	for range 250 {
		r.Snapshot.Sweep.Failed = append(r.Snapshot.Sweep.Failed, r.Snapshot.Sweep.Hung[0])
	}
	object := checkOutput(t, r, CheckOptions{JSON: true, Source: "cri"})
	var back struct {
		Sweep struct {
			Hung, Failed int
			Objects      []struct{ Outcome string }
		}
	}
	if err := json.Unmarshal(object, &back); err != nil || valid(object) != nil {
		t.Fatal(err, valid(object))
	}
	if w := back.Sweep; w.Hung != 1 || w.Failed != 250 || len(w.Objects) != sweptLimit || w.Objects[0].Outcome != "hung" {
		t.Errorf("hung %d, failed %d, %d objects, the first %+v", w.Hung, w.Failed, len(w.Objects), w.Objects[0])
	}
}

func TestExitCodes(t *testing.T) {
	whole, cutOff := healthyCheck().Snapshot, warningsCheck().Snapshot
	of := func(all ...diagnose.Severity) (findings []diagnose.Finding) {
		for _, s := range all {
			findings = append(findings, diagnose.Finding{ID: diagnose.InspectHung, Severity: s})
		}
		return findings
	}
	for _, tt := range []struct {
		findings            []diagnose.Finding
		code, npd, npdIfCut int
	}{
		{nil, 0, 0, 2},
		{of(diagnose.Info), 0, 0, 2},
		{of(diagnose.Info, diagnose.Warning), 1, 0, 2},
		{of(diagnose.Warning, diagnose.Critical, diagnose.Info), 2, 1, 1},
	} {
		if got := ExitCode(found(whole, tt.findings...)); got != tt.code {
			t.Errorf("ExitCode(%v) = %d, want %d", tt.findings, got, tt.code)
		}
		if got := npdCode(found(whole, tt.findings...)); got != tt.npd {
			t.Errorf("npdCode(%v) = %d, want %d", tt.findings, got, tt.npd)
		}
		unsure := found(cutOff, tt.findings...)
		unsure.Headline = diagnose.Headline{Word: "NO LIST", Severity: diagnose.Warning}
		if got := ExitCode(unsure); got != max(tt.code, ExitWarning) {
			t.Errorf("ExitCode(%v) without a list = %d", tt.findings, got)
		}
		if got := npdCode(found(cutOff, tt.findings...)); got != tt.npdIfCut {
			t.Errorf("npdCode(%v) cut off = %d, want %d", tt.findings, got, tt.npdIfCut)
		}
	}
}

// TestExitCodeOfNamespaces holds that what is critical in a namespace that nobody asked for
// fails no check.
func TestExitCodeOfNamespaces(t *testing.T) {
	u := found(healthyCheck().Snapshot,
		diagnose.Finding{ID: diagnose.InspectHung, Severity: diagnose.Critical, Summary: "it hangs", Subject: diagnose.Subject{ObjectRef: pleg.ObjectRef{Pod: pleg.PodRef{Namespace: "a", Name: "pod"}}}},
		diagnose.Finding{ID: diagnose.HostPressure, Severity: diagnose.Warning, Summary: "the disk is full"})
	u.Headline = diagnose.Headline{Word: "INSPECTION HANGS", Severity: diagnose.Critical, Text: "it hangs"}
	for namespace, want := range map[string]int{"a": ExitCritical, "b": ExitWarning} {
		if got := ExitCode(u.Within([]string{namespace})); got != want {
			t.Errorf("of %s: %d, want %d", namespace, got, want)
		}
	}
}

// What is shown as not healthy is never told as well.
func TestNothingShownUnhealthyEndsWell(t *testing.T) {
	s := *healthyCheck().Snapshot
	s.Health.Healthy = false
	u := found(&s)
	if got := ExitCode(u); got != ExitCannotTell {
		t.Errorf("ExitCode = %d", got)
	}
	if got, line := npdCode(u), string(checkOutput(t, u, CheckOptions{NPD: true})); got != NPDUnknown || !strings.HasPrefix(line, "unknown: ") {
		t.Errorf("npdCode = %d, line %q", got, line)
	}
}

// TestEffectsStandUnderTheirCause holds that every finding is written exactly
// once, even when they explain each other in a circle or name one not there.
func TestEffectsStandUnderTheirCause(t *testing.T) {
	r := healthyCheck()
	r.Findings = []diagnose.Finding{
		{ID: diagnose.PLEGUnhealthy, Cause: diagnose.ListHung, Summary: "one"},
		{ID: diagnose.ListHung, Cause: diagnose.PLEGUnhealthy, Summary: "two"},
		{ID: diagnose.CrashLoop, Cause: diagnose.GhostRunning, Summary: "three"},
		{ID: diagnose.InspectHung, Cause: diagnose.InspectHung, Summary: "four"},
		{ID: diagnose.DiskFull, Summary: "five"},
		{ID: diagnose.InspectFailing, Cause: diagnose.DiskFull, Summary: "six"},
	}
	got := string(checkOutput(t, r, CheckOptions{}))
	for _, want := range []string{"one", "two", "three", "four", "five", "six"} {
		if n := strings.Count(got, ": "+want+"\n"); n != 1 {
			t.Errorf("%q is written %d times in\n%s", want, n, got)
		}
	}
	if !strings.Contains(got, "leads to\n") {
		t.Errorf("no effect in\n%s", got)
	}
	if c := diagnose.RootCause(hungCheck().Findings[1:]); c.ID != diagnose.PLEGUnhealthy {
		t.Errorf("cause of an effect alone = %s", c.ID)
	}
	if c := diagnose.RootCause(downCheck().Findings); c.ID != diagnose.RuntimeDown {
		t.Errorf("cause = %s, want %s", c.ID, diagnose.RuntimeDown)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, fmt.Errorf("disk full") }

func TestCheckTellsOfItsWriter(t *testing.T) {
	if code, err := Check(t.Context(), failing{}, looked(healthyCheck().Snapshot, nil), CheckOptions{}); err == nil || code != ExitCannotTell {
		t.Error("Check has no error though nothing was written")
	}
	if _, err := WriteUnknown(failing{}, os.ErrPermission, &engine.Snapshot{}, CheckOptions{NPD: true}); err == nil {
		t.Error("WriteUnknown has no error though nothing was written")
	}
}

// TestAnswerComesFirst holds that a person reads headline, chain, check, act, risk and
// whom it is about first, in this order, before all else.
func TestAnswerComesFirst(t *testing.T) {
	lines := strings.Split(string(checkOutput(t, chainCheck(), CheckOptions{})), "\n")
	for i, want := range []string{"LISTS HANG  node NotReady in 2m48s (PLEG)", "chain  ", "check  ", "act  ", "RISK  ", "affected  "} {
		if !strings.Contains(lines[i], want) {
			t.Errorf("line %d is %q, want %q", i+1, lines[i], want)
		}
	}
}

// TestChainJSON holds that a link has four fields and no other.
func TestChainJSON(t *testing.T) {
	var back struct {
		Findings []struct{ Chain []map[string]string }
	}
	if err := json.Unmarshal(checkOutput(t, chainCheck(), CheckOptions{JSON: true}), &back); err != nil {
		t.Fatal(err)
	}
	chain := back.Findings[0].Chain
	if len(chain) != 8 || back.Findings[1].Chain != nil {
		t.Fatalf("chains %v, %v", chain, back.Findings[1].Chain)
	}
	want := map[string]string{"kind": "helper", "id": "4800", "name": "runc update for 10m", "proof": "child of the shim"}
	if diff := cmp.Diff(want, chain[5]); diff != "" {
		t.Errorf("a link (-want +got):\n%s", diff)
	}
	if last := chain[7]; len(last) != 4 || last["proof"] != "" {
		t.Errorf("one that is only likely: %v", last)
	}
}

// A node of which a part was not asked for when the deadline came does not end with 0,
// whatever that part hides; nor does one with entries that nobody can ask for.
func TestWhatWasNotAskedIsNotHealthy(t *testing.T) {
	for _, spoil := range []func(*engine.Snapshot){
		func(s *engine.Snapshot) { s.Sweep.Done, s.Sweep.CutOff = 1, true },
		func(s *engine.Snapshot) { s.Anomalies.NoID = 95000 },
	} {
		s := *healthyCheck().Snapshot
		sweep := *s.Sweep
		s.Policy.Once, s.Sweep, s.Evidence = true, &sweep, nil
		if u := diagnose.Once(&s, ""); ExitCode(u) != ExitOK || npdCode(u) != NPDOK {
			t.Fatalf("all was asked for: %+v", u.Headline)
		}
		spoil(&s)
		if u := diagnose.Once(&s, ""); ExitCode(u) != ExitWarning || npdCode(u) != NPDUnknown || u.Headline.Word != "NOT ALL SEEN" {
			t.Errorf("exit codes %d, %d: %+v", ExitCode(u), npdCode(u), u.Headline)
		}
	}
}
