package diagnose

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/engine/knowledge"
)

var writeDocs = flag.Bool("update", false, "write docs/guide.md, and the kinds of findings into docs/findings.md and the schemas")

// enum returns the list of kinds as a JSON schema has it.
func enum() string {
	out, line := "", "       "
	for i, id := range IDs() {
		one := fmt.Sprintf(" %q", id)
		if i < len(rules)-1 {
			one += ","
		}
		if len(line)+len(one) > 100 {
			out, line = out+line+"\n", "       "
		}
		line += one
	}
	return out + line + "\n"
}

// The documentation and both contracts have every kind, in the order of rules.
func TestFindingsAreDocumented(t *testing.T) {
	table := ""
	for _, row := range knowledge.Findings() {
		table += strings.ReplaceAll(fmt.Sprintf("| `%s` | %s | %s | %s |\n", row.ID, row.Severity, row.When, row.Scenario), "|  |", "| |")
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
