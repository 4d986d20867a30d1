package knowledge

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every table is parsed strictly, and every row names its source.
func TestTables(t *testing.T) {
	hasSource := func(table, row, source string) {
		if len(source) < 5 {
			t.Errorf("%s: row %q has no source", table, row)
		}
	}
	for _, r := range Flavours {
		hasSource("flavours", r.Name, r.Source)
	}
	for _, r := range DaemonPrograms() {
		hasSource("programs", r.Name, r.Source)
	}
	for _, r := range managers() {
		hasSource("services", r.Name, r.Source)
	}
	for _, r := range kernelLines() {
		hasSource("kernel-lines", r.Kind+" "+r.Find, r.Source)
		if r.About == "" || len(r.Words) == 0 {
			t.Errorf("kernel line %q is about nothing, or has no word", r.Find)
		}
	}
	for _, r := range FileSystems() {
		hasSource("kernel-servers", r.Name, r.Source)
	}
	for _, r := range KernelWaits() {
		hasSource("kernel-waits", r.Reason, r.Source)
	}
	for _, r := range helpers() {
		hasSource("helpers", strings.Join(append(r.Verbs, r.Programs...), " "), r.Source)
		if r.Limit <= 0 || r.Reason == "" {
			t.Errorf("helper %v has no limit, or no reason for it", r.Verbs)
		}
	}
	for _, r := range Locks() {
		hasSource("locks", r.Of, r.Source)
	}
	for _, r := range stackRoles() {
		hasSource("stack-roles", r.Role, r.Source)
	}
	for _, r := range Signs() {
		hasSource("signs", r.Doing, r.Source)
		if r.Doing == "" || len(r.In) == 0 {
			t.Errorf("sign %q says nothing, or nothing shows it", r.Doing)
		}
	}
	for _, r := range Bugs() {
		hasSource("bugs", r.ID, r.Source)
	}
	for _, r := range needs() {
		hasSource("needs", r.Name, r.Source)
	}
	for _, r := range errorTexts() {
		hasSource("errors", r.Means, r.Source)
	}
	for _, r := range proxies() {
		hasSource("proxies", r.Program, r.Source)
	}
	for _, r := range handlers() {
		hasSource("handlers", r.Name, r.Source)
	}
	for _, r := range Findings() {
		hasSource("findings", r.ID, r.Source)
		for _, culprit := range r.Culprits {
			RemedyFor(culprit) // which panics where there is none
		}
	}
	for _, r := range Remedies() {
		hasSource("remedies", r.Culprit, r.Source)
	}
}

func TestUnknownFieldIsRefused(t *testing.T) {
	if rows, err := parse[Bug]([]byte("- id: x\n  colour: red\n")); err == nil {
		t.Errorf("a field that no row has is read: %v", rows)
	}
}

// A step has one of the three forms, and a step that acts says what it touches and what may go wrong.
func TestRemedies(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Remedies() {
		if seen[r.Culprit] {
			t.Errorf("%s has two rows", r.Culprit)
		}
		seen[r.Culprit] = true
		if r.About == "" || len(r.Steps) == 0 {
			t.Errorf("%s says not what it is, or has no step", r.Culprit)
		}
		for _, s := range r.Steps {
			at := r.Culprit + ": " + s.Look + s.Act + s.Do
			forms := 0
			for _, form := range []string{s.Look, s.Act, s.Do} {
				if form != "" {
					forms++
				}
			}
			if forms != 1 {
				t.Errorf("%s has %d of look, act and do", at, forms)
			}
			if (s.Look != "" || s.Act != "") == (s.Text == "") {
				t.Errorf("%s: a command has a text, and words have none", at)
			}
			if s.Look != "" && (s.Risk != "" || s.Scope != "" || s.Undo != "") {
				t.Errorf("%s: a look has no risk", at)
			}
			if s.Look == "" && (s.Risk == "" || !regexp.MustCompile("^(pod|mount|runtime|node)$").MatchString(s.Scope)) {
				t.Errorf("%s: an act has a risk and a scope", at)
			}
			for _, name := range s.Needs {
				if _, known := NeedNamed(name); !known {
					t.Errorf("%s: no need %q", at, name)
				}
			}
		}
	}
}

// The rows that docs/architecture.md shows can be added as they stand.
func TestRowsOfTheArchitecture(t *testing.T) {
	text, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for _, block := range strings.Split(string(text), "```yaml ")[1:] {
		file, row, _ := strings.Cut(block, "\n")
		rows[file], _, _ = strings.Cut(row, "```")
	}
	if lines, err := parse[KernelLine]([]byte(rows["kernel-lines.yaml"])); err != nil || len(lines) != 1 || lines[0].About != AboutNode {
		t.Errorf("a kernel line: %+v, %v", lines, err)
	}
	if flavours, err := parse[Flavour]([]byte(rows["flavours.yaml"])); err != nil || len(flavours) != 1 || flavours[0].Socket == "" {
		t.Errorf("a flavour: %+v, %v", flavours, err)
	}
	if remedies, err := parse[Remedy]([]byte(rows["remedies.yaml"])); err != nil || len(remedies) != 1 || len(remedies[0].Steps) != 2 {
		t.Errorf("a remedy: %+v, %v", remedies, err)
	}
}
