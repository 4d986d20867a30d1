package diagnose

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var writeDocs = flag.Bool("update", false, "write docs/guide.md, and the kinds of findings into docs/findings.md and the schemas")

func TestEveryKindIsListedOnce(t *testing.T) {
	for i, k := range kinds {
		if kindOf(k.id) != k || k.rank != i {
			t.Errorf("%s stands twice", k.id)
		}
		if k.replaces != "" && kindOf(k.replaces).rank <= i {
			t.Errorf("%s replaces %s, which stands before it", k.id, k.replaces)
		}
		if k.replaces != "" && kindOf(k.replaces) == unknownKind {
			t.Errorf("%s replaces %s, which is none", k.id, k.replaces)
		}
	}
}

// A reason that nothing before a kind is, and a role that nothing names, are slips.
func TestEveryRoleHasBothSides(t *testing.T) {
	var are, named role
	for _, k := range kinds {
		for r := role(1); r <= haunts; r <<= 1 {
			if k.because&r != 0 && are&r == 0 {
				t.Errorf("%s is because of what no kind before it is (%b)", k.id, r)
			}
		}
		are, named = are|k.is, named|k.because
	}
	if are != named {
		t.Errorf("kinds are %b, and %b is named", are, named)
	}
}

// enum writes the ids as an enum of a schema has them.
func enum() string {
	out, line := "", "       "
	for i, id := range IDs() {
		one := fmt.Sprintf(" %q", id)
		if i < len(kinds)-1 {
			one += ","
		}
		if len(line)+len(one) > 100 {
			out, line = out+line+"\n", "       "
		}
		line += one
	}
	return out + line + "\n"
}

// The documentation and both contracts have every kind, by rank.
func TestFindingsAreDocumented(t *testing.T) {
	table := ""
	for _, k := range kinds {
		table += strings.ReplaceAll(fmt.Sprintf("| `%s` | %s | %s | %s |\n", k.id, k.severity, k.when, k.scenario), "|  |", "| |")
	}
	ids := regexp.MustCompile(`(?s)("id": \{\n      "enum": \[\n).*?(      \])`)
	for _, tt := range []struct {
		name, now string
		where     *regexp.Regexp
	}{
		{"findings.md", table, regexp.MustCompile("(?s)(\\| id \\| severity [^\n]*\n\\|---[^\n]*\n).*?(\n## )")},
		{"check.schema.json", enum(), ids},
		{"watch.schema.json", enum(), ids},
	} {
		name := "../../docs/" + tt.name
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		at := tt.where.FindSubmatchIndex(text)
		if at == nil {
			t.Fatalf("%s has no place for the kinds of findings", name)
		}
		want := string(text[:at[3]]) + tt.now + string(text[at[4]:])
		switch diff := cmp.Diff(string(text), want); {
		case diff == "":
		case *writeDocs:
			if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s is not as the kinds say; run go test ./engine/diagnose -run Documented -update:\n%s", name, diff)
		}
	}
}

func TestOrder(t *testing.T) {
	got := order([]Finding{
		{ID: PLEGUnhealthy, Severity: Critical, Cause: InspectHung},
		{ID: HostPressure, Severity: Warning},
		{ID: CrashLoop, Severity: Warning},
		{ID: InspectHung, Severity: Warning, Summary: "slow"},
		{ID: ListTooBig, Severity: Critical},
		{ID: InspectHung, Severity: Critical, Summary: "first"},
		{ID: InspectHung, Severity: Critical, Summary: "second"},
		{ID: ListHung, Severity: Warning, Cause: InspectHung},
		{ID: RuntimeDown, Severity: Critical},
	})
	want := []ID{RuntimeDown, ListTooBig, InspectHung, InspectHung, InspectHung, CrashLoop, HostPressure, PLEGUnhealthy, ListHung}
	if !slices.Equal(ids(got), want) || got[2].Summary != "first" {
		t.Errorf("order %v, want %v", ids(got), want)
	}
}

// A finding that none of the kinds made is the least of all, live as in check.
func TestUnknownKindStandsLast(t *testing.T) {
	n := healthy(3)
	r := looked(n)
	odd, known := Finding{ID: "odd", Severity: Critical}, Finding{ID: HostPressure, Severity: Critical}
	var told tracker
	for range 2 {
		in := n.input()
		in.Evidence = r
		v := newView(in)
		told.track(v, []Finding{odd, known})
		if got := ids(told.findings(v)); !slices.Equal(got, []ID{HostPressure, "odd"}) {
			t.Errorf("found %v", got)
		}
		n.At = n.At.Add(time.Second)
		v.At = n.At
		if got := told.ended(v); got != nil {
			t.Errorf("ended %v", got)
		}
	}
	if got := ids(order(explain([]Finding{odd, known}))); !slices.Equal(got, []ID{HostPressure, "odd"}) {
		t.Errorf("check has %v", got)
	}
}
