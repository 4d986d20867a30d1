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
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/jsonline"
)

// hung returns a finding of that severity about a container of that name.
func hung(s diagnose.Severity, container string) diagnose.Finding {
	return diagnose.Finding{ID: diagnose.InspectHung, Severity: s, Summary: container + " hangs", Subject: diagnose.Subject{Operation: "ContainerStatus", ObjectRef: pleg.ObjectRef{Pod: nfsPod, Container: container}}}
}

// story is updates a second apart in which a finding begins, gets worse and ends.
func story() []diagnose.Update {
	mild, bad := hung(diagnose.Warning, "a"), hung(diagnose.Critical, "a")
	return []diagnose.Update{
		second(0, diagnose.Turn{Kind: diagnose.Began, Finding: mild}),
		second(1, diagnose.Turn{Kind: diagnose.Changed, Finding: bad, Was: diagnose.Warning, Lasted: time.Second}),
		second(7, diagnose.Turn{Kind: diagnose.Over, Finding: bad, Lasted: time.Second}),
	}
}

// asJSON returns a watcher that writes NDJSON.
func asJSON() *watcher { return &watcher{o: Options{JSON: true}} }

// That a finding is the same as before stands in its line.
func TestWatchFindingAgain(t *testing.T) {
	for _, again := range []bool{false, true} {
		line := asJSON().turn(nil, noon, diagnose.Turn{Finding: hung(diagnose.Warning, "a"), Again: again})
		if got := bytes.Contains(line, []byte(`"again":true`)); got != again {
			t.Errorf("again %v: %s", again, line)
		}
	}
}

func second(n int, turns ...diagnose.Turn) diagnose.Update {
	s := healthy()
	s.At = noon.Add(time.Duration(n) * time.Second)
	u := seen(engine.Update{Snapshot: s})
	u.Turns = turns
	return u
}

func TestWatchFindingsText(t *testing.T) {
	want := `12:00:00.000 headline: HEALTHY
12:00:00.000 PLEG is healthy
12:00:00.000 finding began: warning inspect-hung: a hangs
12:00:01.000 finding changed: warning to critical inspect-hung: a hangs
12:00:07.000 finding ended: inspect-hung ContainerStatus default/nfs-client/a after 1s
12:00:08.000 finding ended: limits-near: 53 of 54 files are open; after 4s
`
	files := diagnose.Finding{ID: diagnose.LimitsNear, Summary: "53 of 54 files are open"} // its processes may be near as well
	told := append(story(), second(8, diagnose.Turn{Kind: diagnose.Over, Finding: files, Lasted: 4 * time.Second}))
	told = append(told, second(9, diagnose.Turn{Kind: diagnose.Began, Finding: files, Lasted: 9 * time.Second, Again: true}))
	want += "12:00:09.000 finding began again: info limits-near: 53 of 54 files are open\n"
	if diff := cmp.Diff(want, watch(t, Options{}, told...)); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

func TestWatchFindingsJSON(t *testing.T) {
	var got []string
	for line := range strings.Lines(watch(t, Options{JSON: true}, story()...)) {
		var l struct {
			Kind, State, Was string
			LastedSeconds    float64
			Finding          struct {
				ID, Severity string
				Subject      struct{ Container string }
			}
		}
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
	line := asJSON().turn(nil, noon, diagnose.Turn{Finding: r.Findings[0]})
	if harmful(strings.TrimSuffix(string(line), "\n")) {
		t.Errorf("control character in %q", line)
	}
	object := jsonline.Append(nil, &r.Findings[0])
	if whole := checkOutput(t, r, CheckOptions{JSON: true}); !bytes.Contains(whole, bytes.TrimSpace(object)) || !bytes.Contains(line, bytes.TrimSpace(object)) {
		t.Errorf("watch writes %s\nwhich check does not", line)
	}
}
