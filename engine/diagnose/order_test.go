package diagnose

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestEveryRuleExplainsWhatComesLater(t *testing.T) {
	for i, r := range rules {
		if ruleOf(r.id) != i {
			t.Errorf("%s stands twice", r.id)
		}
		for _, id := range append(slices.Clone(r.explains), r.replaces...) {
			if ruleOf(id) <= i {
				t.Errorf("%s explains %s, which stands before it or nowhere", r.id, id)
			}
		}
	}
}

// The documentation lists the findings in the order of the table, and the contract of
// check has each.
func TestFindingsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/findings.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented, want []ID
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllSubmatch(text, -1) {
		documented = append(documented, ID(m[1]))
	}
	schema, err := os.ReadFile("../../docs/check.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		want = append(want, r.id)
		if !strings.Contains(string(schema), `"`+string(r.id)+`"`) {
			t.Errorf("docs/check.schema.json lacks %s", r.id)
		}
	}
	if !slices.Equal(documented, want) {
		t.Errorf("docs/findings.md has\n%v, want\n%v", documented, want)
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
