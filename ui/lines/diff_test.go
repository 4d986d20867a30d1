package lines

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/replay/replaytest"
)

var diffSchema = compiled("diff.schema.json")

// differed returns what diff writes as text and as JSON, and its exit code.
func differed(t *testing.T, a, b string) (text string, object diffed, code int) {
	t.Helper()
	for _, o := range []CheckOptions{{Width: 80}, {JSON: true}} {
		var out bytes.Buffer
		var err error
		if code, err = Diff(t.Context(), &out, [2]string{a, b}, o); err != nil {
			t.Fatal(err)
		}
		if !o.JSON {
			text = out.String()
			continue
		}
		fits(t, diffSchema, out.Bytes())
		if err := json.Unmarshal(out.Bytes(), &object); err != nil {
			t.Fatal(err)
		}
	}
	return text, object, code
}

// A diffed is what a reader takes of the JSON.
type diffed struct {
	Alike bool
	A, B  struct {
		From, To       time.Time
		KubeletVersion string
		Headline       string
	}
	Pods     []struct{ How, Namespace, Pod, Container, Was, Now string }
	Findings []struct{ In, ID, Severity string }
	Relists  struct{ A, B struct{ Count, Errors int } }
	Calls    []struct {
		Operation string
		A, B      struct{ Count, Errors int }
	}
}

// Before and after: another kubelet, a pod more, a container that has ended, calls that hang.
func TestDiffOfTwoRecordings(t *testing.T) {
	before, _ := recorded(t, replaytest.Night{Pods: 2, For: 10 * time.Minute, Segments: 4 * time.Minute, Release: 28})
	n := hungNight(36)
	n.For, n.Troubles[0].ID = 13*time.Minute, "app-000"
	after, _ := recorded(t, n)
	text, o, code := differed(t, before, after)
	if code != ExitDiffers || o.Alike {
		t.Errorf("exit code %d", code)
	}
	wantPods := []struct{ How, Namespace, Pod, Container, Was, Now string }{
		{"changed", "shop", "web-000", "app", "running", "exited"},
		{"came", "shop", "web-002", "", "", "ready"},
	}
	if diff := cmp.Diff(wantPods, o.Pods); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
	hung := false
	for _, f := range o.Findings {
		hung = hung || f.In == "b" && f.ID == "inspect-hung" && f.Severity == "critical"
	}
	for _, c := range o.Calls {
		if c.Operation == "ContainerStatus" && (c.A.Errors > 0 || c.B.Errors == 0 || c.A.Count != 4) {
			t.Errorf("ContainerStatus %+v", c)
		}
	}
	if !hung || o.A.KubeletVersion != "1.28" || o.B.KubeletVersion != "1.36" || o.A.Headline != "HEALTHY" || o.Relists.A.Count < 500 || o.Relists.B.Count > 600 {
		t.Errorf("%+v", o)
	}
	narrowed(t, text)
	for _, want := range []string{"kubelet     1.28 in A, 1.36 in B", "changed     shop/web-000 app: running > exited", "came        shop/web-002: ready", "only in B"} {
		if !strings.Contains(strings.ReplaceAll(text, "›", ">"), want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	t.Log("\n" + text)
}

// Of two moments of one recording the later side is of the time between them.
func TestDiffOfTwoMoments(t *testing.T) {
	path, seen := recorded(t, hungNight(28))
	_, o, code := differed(t, path+"@-28m", path+"@-20m")
	if code != ExitDiffers || len(o.Pods) != 1 || o.Pods[0].Now != "exited" {
		t.Errorf("exit code %d, %+v", code, o)
	}
	if gap := o.B.From.Sub(o.A.To); gap < 0 || gap > 2*time.Second {
		t.Errorf("B begins %v after the end of A", gap)
	}
	var up engine.Snapshot
	for _, u := range seen {
		if s := u.Snapshot; !s.At.After(o.B.To) {
			up = *s
		}
	}
	if got := o.Relists.A.Count + o.Relists.B.Count; got < int(up.Relists.Count)-2 || got > int(up.Relists.Count)+2 {
		t.Errorf("%d relists in both, and %d were seen", got, up.Relists.Count)
	}
	_, back, _ := differed(t, path+"@-20m", path+"@-28m")
	if back.A.From != o.B.From || back.B.To != o.A.To || back.Pods[0].Was != "exited" {
		t.Errorf("the other way round %+v", back)
	}
	if _, o, code := differed(t, path+"@-28m", path+"@-27m"); code != ExitOK || !o.Alike {
		t.Errorf("two moments at which nothing had happened: %+v", o)
	}
}

// A file is what it is called, though there is an @ in its name.
func TestDiffOfAFileWithAnAt(t *testing.T) {
	path, _ := recorded(t, replaytest.Night{Pods: 1, For: time.Minute, Segments: time.Minute})
	at := filepath.Join(t.TempDir(), "night@2am")
	if err := os.Rename(path, at); err != nil {
		t.Fatal(err)
	}
	if _, o, code := differed(t, at, at+"@-10s"); code != ExitOK || !o.Alike {
		t.Errorf("exit code %d, %+v", code, o)
	}
	for _, name := range []string{at + "@noon", at + "x", t.TempDir()} {
		if code, err := Diff(t.Context(), new(bytes.Buffer), [2]string{at, name}, CheckOptions{}); code != ExitCannotTell || err == nil {
			t.Errorf("%s: exit code %d, %v", name, code, err)
		}
	}
}

// A moment that is empty is a mistake: mostly of a script whose variable nobody has set.
func TestDiffOfNoMoment(t *testing.T) {
	path, _ := recorded(t, replaytest.Night{Pods: 1, For: time.Minute, Segments: time.Minute})
	_, err := Diff(t.Context(), new(bytes.Buffer), [2]string{path, path + "@"}, CheckOptions{})
	if want := path + "@ names no moment: write " + path + "@-10m, or " + path + " alone for all of it"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestPodsThatAreOthers(t *testing.T) {
	of := func(uid, sandbox, container string) []*engine.Pod {
		ref := pleg.PodRef{UID: pleg.UID(uid), Namespace: "shop", Name: "web"}
		return []*engine.Pod{{PodRef: ref, Current: &pleg.Pod{
			PodRef: ref, Sandboxes: []pleg.Sandbox{{ID: sandbox, State: pleg.Running}}, Containers: []pleg.Container{{ID: container, Name: "app", State: pleg.Running}},
		}}}
	}
	want := []changed{
		{"replaced", "shop", "web", "", "ready", "ready"},
		{"replaced", "shop", "web", "app", "running", "running"},
	}
	if diff := cmp.Diff(want, podsChanged(of("1", "s1", "c1"), of("2", "s2", "c2"), nil)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := podsChanged(of("1", "s1", "c1"), nil, []string{"other"}); len(got) > 0 {
		t.Errorf("of another namespace: %v", got)
	}
}
