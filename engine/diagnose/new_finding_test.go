package diagnose

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The finding that docs/architecture.md adds as a diff compiles, and its rule and its row fit together.
func TestTheNewFindingOfTheArchitecture(t *testing.T) {
	text, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, diff, _ := strings.Cut(string(text), "```diff\n")
	diff, _, closed := strings.Cut(diff, "```")
	if !closed {
		t.Fatal("docs/architecture.md has no diff")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	replaced := make(map[string]string) // what go test reads in place of a file
	for _, found := range regexp.MustCompile(`(?m)^\+\+\+ b/(.*)$`).FindAllStringSubmatch(diff, -1) {
		from, to := filepath.Join(root, found[1]), filepath.Join(dir, found[1])
		replaced[from] = to
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if was, err := os.ReadFile(from); err == nil {
			if err := os.WriteFile(to, was, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	apply := exec.Command("git", "apply", "-")
	apply.Dir, apply.Stdin = dir, strings.NewReader(diff)
	run(t, apply)

	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	out := run(t, exec.Command("go", "test", "-count=1", "-vet=off", "-overlay", list, "-run", "^TestRowsAndRules$", "-v", "."))
	if !strings.Contains(out, "PASS: TestRowsAndRules") {
		t.Errorf("TestRowsAndRules did not run:\n%s", out)
	}
}

// run runs a command that must succeed, and returns what it printed.
func run(t *testing.T, c *exec.Cmd) string {
	t.Helper()
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", c, err, out)
	}
	return string(out)
}
