package diagnose

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plegtop/plegtop/engine/knowledge"
)

// source returns the text of the package without its tests.
func source(t *testing.T) (code string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if !strings.HasSuffix(name, "_test.go") {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			code += string(text)
		}
	}
	return code
}

// Each rule has a row, and each row has a rule. A row names only what the code has: values, lines, steps, variants, and
// kinds that come before its own.
func TestRowsAndRules(t *testing.T) {
	code := source(t)
	quoted := func(name string) bool { return strings.Contains(code, `"`+name+`"`) }
	value := regexp.MustCompile(`\{\??([a-zA-Z0-9]+)\}`)
	for _, row := range knowledge.Findings() {
		if rank(ID(row.ID)) == len(rules) {
			t.Errorf("%s has no rule", row.ID)
		}
		for _, id := range row.Because {
			if rank(ID(id)) >= rank(ID(row.ID)) {
				t.Errorf("%s: %s explains it and does not stand before it", row.ID, id)
			}
		}
		variants := []knowledge.Variant{row.Variant("")}
		for name := range row.Variants {
			if variants = append(variants, row.Variant(name)); !quoted(name) {
				t.Errorf("%s: no rule reports the variant %q", row.ID, name)
			}
		}
		texts := []string{row.Member, row.Rest}
		for _, v := range variants {
			texts = append(append(texts, v.Summary, v.Several), v.Evidence...)
			for _, step := range v.Steps {
				if step[0] == '+' && !quoted(step) {
					t.Errorf("%s: nobody gives the steps %s", row.ID, step)
				} else if step[0] != '+' {
					knowledge.RemedyFor(step) // panics if there is none
				}
			}
		}
		for _, text := range texts {
			if aName.MatchString(text) && !quoted(text) {
				t.Errorf("%s: nobody gives the line %s", row.ID, text)
			}
			for _, found := range value.FindAllStringSubmatch(text, -1) {
				if !quoted(found[1]) {
					t.Errorf("%s: nobody gives {%s} of %q", row.ID, found[1], text)
				}
			}
		}
		for _, id := range row.Hides {
			if rank(ID(id)) == len(rules) {
				t.Errorf("%s hides %s, which has no rule", row.ID, id)
			}
		}
		for _, name := range row.Kernel {
			if !quoted(name) {
				t.Errorf("%s: nobody knows the kernel lines %q", row.ID, name)
			}
		}
		for _, name := range row.Node {
			if nodeLines[name] == nil {
				t.Errorf("%s: there are no node lines %q", row.ID, name)
			}
		}
	}
	for _, r := range rules {
		if r.row().ID == "" {
			t.Errorf("%s has no row", r.ID)
		}
	}
	for _, found := range regexp.MustCompile(`(?:Variant[:=]+ |Variant, .*= )"([a-z-]+)"`).FindAllStringSubmatch(code, -1) {
		if !slices.ContainsFunc(knowledge.Findings(), func(row knowledge.Finding) bool { _, has := row.Variants[found[1]]; return has }) && found[1] != restVariant {
			t.Errorf("no row has the variant %q", found[1])
		}
	}
}

// A rule or a row names each row of remedies.yaml, and something gives each value that the row needs.
func TestEveryRemedyIsNamed(t *testing.T) {
	code := source(t)
	named := func(culprit string) bool {
		return strings.Contains(code, `"`+culprit+`"`) || slices.ContainsFunc(knowledge.Findings(), func(row knowledge.Finding) bool {
			in := row.RestOf == culprit || slices.Contains(row.Steps, culprit)
			for _, v := range row.Variants {
				in = in || slices.Contains(v.Steps, culprit)
			}
			return in
		})
	}
	for _, r := range knowledge.Remedies() {
		if !named(r.Culprit) {
			t.Errorf("nothing names the culprit %s", r.Culprit)
		}
		for _, a := range r.Steps {
			names := slices.Concat(a.Given, a.Without)
			for _, found := range placeholder.FindAllStringSubmatch(strings.Join([]string{a.Look, a.Act, a.Do, a.Text, a.When, a.Risk, a.Undo}, " "), -1) {
				names = append(names, found[2])
			}
			for _, name := range names {
				if !strings.Contains(name, ".") && !strings.Contains(code, `"`+name+`"`) {
					t.Errorf("%s: nobody gives {%s}", r.Culprit, name)
				}
			}
		}
	}
}

func TestSentence(t *testing.T) {
	v := Values{"a": "x", "n": many{1200, "pod"}, "none": nil, "no": false, "yes": true}
	for _, tt := range []struct {
		template, want string
		whole          bool
	}{
		{"{a} has {n}", "x has 1,200 pods", true},
		{"{a}[ and {none}]", "x", true},
		{"{a} and {none}", "x and ", false},
		{"[{?yes}only then]", "only then", true},
		{"[{?no}only then]", "", true},
		{"no value", "no value", true},
	} {
		if got, whole := sentence(tt.template, v, now); got != tt.want || whole != tt.whole {
			t.Errorf("%q is %q, whole %t; want %q, %t", tt.template, got, whole, tt.want, tt.whole)
		}
	}
}
