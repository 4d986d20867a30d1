package engine_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// apply changes the text of the file that h is about, if it is there already.
func (h hunk) apply(text []byte) ([]byte, error) {
	if h.isNew {
		return []byte(h.now), nil
	}
	text, old := append([]byte{'\n'}, text...), []byte("\n"+h.old) // whole lines only
	if n := bytes.Count(text, old); n != 1 {
		return nil, fmt.Errorf("%s has these lines %d times, want once:\n%s", h.file, n, h.old)
	}
	return bytes.Replace(text, old, []byte("\n"+h.now), 1)[1:], nil
}

// changed returns the files that hunks change, as they are then, by their path in the
// module.
func changed(hunks []hunk) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, h := range hunks {
		text, known := files[h.file]
		var err error
		if !known && !h.isNew {
			text, err = os.ReadFile(filepath.Join(root, filepath.FromSlash(h.file)))
		}
		if err == nil {
			files[h.file], err = h.apply(text)
		}
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// build compiles the packages of the files, and their tests, as if the files were in the
// tree. The go command lays them over it, so that what they do not touch comes from its
// cache. It need not link, and cannot vet: that wants to be in the folder of the package,
// which may be new.
func build(t *testing.T, files map[string][]byte) {
	t.Helper()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	dir := t.TempDir()
	args := []string{"list", "-export", "-test", "-overlay", filepath.Join(dir, "overlay.json")}
	for name, text := range files {
		if tidy, err := format.Source(text); path.Ext(name) == ".go" && (err != nil || !bytes.Equal(tidy, text)) {
			t.Errorf("%s is not as gofmt writes it: %v", name, err)
		}
		whole, err := filepath.Abs(filepath.Join(root, filepath.FromSlash(name)))
		laid := filepath.Join(dir, fmt.Sprint(len(overlay.Replace)))
		if err = errors.Join(err, os.WriteFile(laid, text, 0o644)); err != nil {
			t.Fatal(err)
		}
		overlay.Replace[whole] = laid
		if pkg := "./" + path.Dir(name); path.Ext(name) == ".go" && !slices.Contains(args, pkg) {
			args = append(args, pkg)
		}
	}
	text, err := json.Marshal(overlay)
	if err = errors.Join(err, os.WriteFile(args[4], text, 0o644)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("with the example in it the tree does not build: %v\n%s", err, out)
	}
}

// examples are what docs/architecture.md shows how to add.
var examples = []string{"A finding", "A part of the machine", "A kind of edge", "A kind of evidence", "A kubelet release", "A pane", "A view", "A column", "A key", "A scenario"}

// Every example of the architecture is a whole change: it applies and builds, and
// the tests of the packages that it changes still compile.
func TestExamplesOfTheArchitectureBuild(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, example := range diffBlock.FindAllSubmatch(text, -1) {
		titles = append(titles, string(example[1]))
		t.Run(string(example[1]), func(t *testing.T) {
			hunks, err := hunksOf(string(example[2]))
			if err != nil {
				t.Fatal(err)
			}
			files, err := changed(hunks)
			if err != nil {
				t.Fatal(err)
			}
			build(t, files)
		})
	}
	if diff := cmp.Diff(examples, titles); diff != "" {
		t.Errorf("what can be added (-want +got):\n%s", diff)
	}
}
