package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A hunk is what one "@@" of a diff changes: the lines that it finds, and those
// that it puts there. It has no numbers, so that a document need not follow every
// change of the files.
type hunk struct {
	file     string
	isNew    bool
	old, now string
}

var diffBlock = regexp.MustCompile("(?s)### ([^\n]+)\n.*?```diff\n(.*?)```\n")

// hunksOf reads a diff as docs/architecture.md has them.
func hunksOf(diff string) (hunks []hunk, err error) {
	var file string
	isNew := false
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "--- "):
			isNew = strings.TrimSpace(line) == "--- /dev/null"
		case strings.HasPrefix(line, "+++ b/"):
			file = strings.TrimSpace(strings.TrimPrefix(line, "+++ b/"))
		case strings.HasPrefix(line, "@@"):
			hunks = append(hunks, hunk{file: file, isNew: isNew})
		case len(hunks) == 0:
			return nil, fmt.Errorf("line %q stands before any @@", line)
		default:
			h := &hunks[len(hunks)-1]
			kind, rest := line[:1], line[1:]
			if kind == "\n" {
				kind, rest = " ", "\n"
			}
			if kind != "+" {
				h.old += rest
			}
			if kind != "-" {
				h.now += rest
			}
		}
	}
	return hunks, nil
}

func (h hunk) apply(dir string) error {
	name := filepath.Join(dir, filepath.FromSlash(h.file))
	if h.isNew {
		return errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(h.now), 0o644))
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if n := bytes.Count(text, []byte(h.old)); n != 1 {
		return fmt.Errorf("%s has these lines %d times, want once:\n%s", h.file, n, h.old)
	}
	return os.WriteFile(name, bytes.Replace(text, []byte(h.old), []byte(h.now), 1), 0o644)
}

// Every example of the architecture is a whole change: it applies and builds, and
// the tests of the packages that it names still compile.
func TestExamplesOfTheArchitectureBuild(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	examples := diffBlock.FindAllSubmatch(text, -1)
	if len(examples) < 5 {
		t.Errorf("%d examples, want a finding, a kind of evidence, a kubelet release, a pane and a scenario", len(examples))
	}
	for _, example := range examples {
		t.Run(string(example[1]), func(t *testing.T) {
			hunks, err := hunksOf(string(example[2]))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			for _, part := range []string{"go.mod", "go.sum", "engine", "cri", "keymap", "ui", "docs"} {
				if out, err := exec.Command("cp", "-r", filepath.Join(root, part), dir).CombinedOutput(); err != nil {
					t.Fatalf("copy the tree: %v\n%s", err, out)
				}
			}
			args := []string{"vet"}
			for _, h := range hunks {
				if err := h.apply(dir); err != nil {
					t.Fatal(err)
				}
				if strings.HasSuffix(h.file, ".go") {
					args = append(args, "./"+path.Dir(h.file))
				}
			}
			vet := exec.Command("go", args...)
			vet.Dir = dir
			if out, err := vet.CombinedOutput(); err != nil {
				t.Errorf("with the example in it the tree does not build: %v\n%s", err, out)
			}
		})
	}
}
