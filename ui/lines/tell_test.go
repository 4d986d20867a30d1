package lines

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
)

// hung returns a finding of that severity about a container of that name.
func hung(s diagnose.Severity, container string) diagnose.Finding {
	return diagnose.Finding{ID: diagnose.InspectHung, Severity: s, Summary: container + " hangs", Subject: diagnose.Subject{Operation: "ContainerStatus", Pod: nfsPod, Container: container}}
}

// TestTeller plays findings second by second: each letter is one that is there,
// a container of that name, critical if it is a capital.
func TestTeller(t *testing.T) {
	for _, tt := range []struct{ name, play, want string }{
		{"lasts", "a a a a a a a a", "0 began warning a"},
		{"goes", "a a - - - - - - - -", "0 began warning a; 7 ended warning a 1s"},
		{"flickers", "a - a - - a - - - - a - a", "0 began warning a"},
		{"comes back", "a - - - - - - a", "0 began warning a; 6 ended warning a 0s; 7 began warning a"},
		{"two", "a ab b b b b b b b", "0 began warning a; 1 began warning b; 7 ended warning a 1s"},
		{"worse at once", "a A A", "0 began warning a; 1 changed critical a 1s"},
		{"better when it stays so", "A a a a a a a a", "0 began critical a; 5 changed warning a 5s"},
		{"severity flickers", "a A a A a a a A", "0 began warning a; 1 changed critical a 1s"},
		{"not there after a minute of silence", "a ^ - - - - - -", "0 began warning a; 66 ended warning a 0s"},
	} {
		var tl teller
		var said []string
		at := noon
		for moment := range strings.FieldsSeq(tt.play) {
			if moment == "^" { // nothing was published for a minute
				at = at.Add(time.Minute)
			}
			for _, u := range tl.tell(at, cast(moment)) {
				line := fmt.Sprintf("%d %s %v %s", int(at.Sub(noon).Seconds()), u.state, u.finding.Severity, u.finding.Subject.Container)
				if u.state != "began" {
					line += " " + u.lasted.String()
				}
				said = append(said, line)
			}
			at = at.Add(time.Second)
		}
		if diff := cmp.Diff(tt.want, strings.Join(said, "; ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func cast(moment string) (findings []diagnose.Finding) {
	for _, r := range strings.Trim(moment, "-^") {
		severity, name := diagnose.Warning, string(r)
		if r < 'a' {
			severity, name = diagnose.Critical, strings.ToLower(name)
		}
		findings = append(findings, hung(severity, name))
	}
	return findings
}

// played returns updates a second apart, and the options with a diagnosis of
// each as play says.
func played(o Options, play string) (Options, []engine.Update) {
	moments := strings.Fields(play)
	var updates []engine.Update
	for i := range moments {
		s := healthy()
		s.At = noon.Add(time.Duration(i) * time.Second)
		updates = append(updates, engine.Update{Snapshot: s})
	}
	o.Diagnose = func(u engine.Update) []diagnose.Finding { return cast(moments[int(u.Snapshot.At.Sub(noon).Seconds())]) }
	return o, updates
}

const story = "a A - - - - - - -"

func TestWatchFindingsText(t *testing.T) {
	o, updates := played(Options{}, story)
	want := `12:00:00.000 PLEG is healthy
12:00:00.000 finding began: warning inspect-hung: a hangs
12:00:01.000 finding changed: warning to critical inspect-hung: a hangs
12:00:07.000 finding ended: inspect-hung ContainerStatus default/nfs-client a after 1s
`
	if diff := cmp.Diff(want, watch(t, o, updates...)); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

func TestWatchFindingsJSON(t *testing.T) {
	o, updates := played(Options{JSON: true}, story)
	var got []string
	for line := range strings.Lines(watch(t, o, updates...)) {
		var l findingLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if l.Kind == "finding" {
			got = append(got, strings.TrimSpace(fmt.Sprint(l.State, " ", l.Finding.ID, " ", l.Finding.Severity, " ", l.Finding.Subject.Container, " ", l.LastedSeconds, " ", l.Was)))
		}
	}
	want := []string{"began inspect-hung warning a 0", "changed inspect-hung critical a 1 warning", "ended inspect-hung critical a 1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// TestWatchFindingIsAsInCheck holds that both views write the same object.
func TestWatchFindingIsAsInCheck(t *testing.T) {
	r := hostileCheck()
	line := appendFinding(nil, noon, turn{state: "began", finding: r.Findings[0]})
	if harmful(strings.TrimSuffix(string(line), "\n")) {
		t.Errorf("control character in %q", line)
	}
	object := appendJSON(nil, newFindingObject(r.Findings[0]))
	if whole := checkOutput(t, r, CheckOptions{JSON: true}); !bytes.Contains(whole, bytes.TrimSpace(object)) || !bytes.Contains(line, bytes.TrimSpace(object)) {
		t.Errorf("watch writes %s\nwhich check does not", line)
	}
}
