package engine_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const (
	module = "github.com/plegtop/plegtop"
	root   = ".." // of the module, from here
)

// A rule says what one package may import beside the standard library. Paths of
// ours are relative to the module; one that ends in /... stands for the package
// and all below it.
type rule struct {
	ours    []string
	modules []string
	never   []string // of the standard library; with net goes all below it
}

var (
	runtimeAPI = []string{"google.golang.org/grpc/...", "google.golang.org/protobuf/...", "k8s.io/cri-api/..."}
	charm      = []string{
		"charm.land/bubbletea/v2", "charm.land/bubbles/v2/...", "charm.land/lipgloss/v2/...",
		"github.com/charmbracelet/x/ansi/...", "github.com/charmbracelet/colorprofile", "github.com/mattn/go-runewidth",
	}
	seen = []string{"engine", "engine/pleg", "engine/call", "engine/answers", "engine/diagnose", "engine/evidence", "engine/ledger", "engine/podworker", "engine/waits"}
	// panes is what every pane and every layer that ui/openers.go opens may import: what
	// panes are made of, and no other pane.
	panes = rule{
		ours: append(slices.Clone(seen), "keymap", "ui/layer", "ui/pane", "ui/widget", "ui/strip", "ui/text", "ui/theme",
			"ui/say", "ui/report", "ui/model", "ui/story", "cri/sim/script"),
		modules: charm, never: []string{"os", "net"},
	}
)

// rules is the table of packages. A package that is not here, and no pane either, has
// no place in the design yet: give it its row before its first line.
var rules = map[string]rule{
	".": {ours: []string{"engine/...", "cri", "cri/sim", "keymap", "ui/..."}, modules: []string{"..."}},

	"engine/pleg":    {never: []string{"context", "sync", "sync/atomic", "os", "net", "io/fs", "log", "log/slog", "math/rand", "math/rand/v2", "runtime", "syscall", "unsafe"}},
	"engine/call":    {ours: []string{"engine/pleg"}, never: []string{"os", "net"}},
	"engine/answers": {ours: []string{"engine/call", "engine/pleg", "engine/evidence", "engine/quantile"}, never: []string{"os", "net"}},
	"engine": {
		ours:    []string{"engine/..."},
		modules: []string{"golang.org/x/sync/..."},
		never:   []string{"os", "net"},
	},
	"engine/evidence":          {ours: []string{"engine/flavour", "engine/pleg"}, never: []string{"os", "net"}},
	"engine/flavour":           {never: []string{"os", "net"}},
	"engine/ledger":            {ours: []string{"engine/pleg", "engine/quantile"}, never: []string{"os", "net"}},
	"engine/quantile":          {modules: []string{"github.com/HdrHistogram/hdrhistogram-go"}, never: []string{"os", "net"}},
	"engine/survey":            {ours: []string{"engine/pleg", "engine/call", "engine/answers"}, never: []string{"os", "net"}},
	"engine/past":              {ours: []string{"engine/pleg", "engine/call", "engine/evidence", "engine/answers"}, never: []string{"os", "net"}},
	"engine/waits":             {ours: []string{"engine/pleg", "engine/call", "engine/evidence"}, never: []string{"os", "net"}},
	"engine/diagnose":          {ours: []string{"engine", "engine/answers", "engine/pleg", "engine/call", "engine/evidence", "engine/flavour", "engine/ledger", "engine/past", "engine/podworker", "engine/waits"}, modules: []string{"go.yaml.in/yaml/..."}, never: []string{"os", "net"}},
	"engine/stacks":            {ours: []string{"engine/evidence"}, never: []string{"os", "net"}},
	"engine/smallfile":         {never: []string{"net"}},
	"engine/osfile":            {modules: []string{"golang.org/x/sys/windows"}, never: []string{"net"}},
	"engine/podworker":         {ours: []string{"engine/pleg"}, never: []string{"os", "net"}},
	"engine/record":            {ours: []string{"engine", "engine/pleg", "engine/call", "engine/evidence", "engine/frozen", "engine/osfile"}, modules: []string{"github.com/klauspost/compress/zstd"}, never: []string{"net"}},
	"engine/replay":            {ours: []string{"engine", "engine/record", "engine/diagnose", "engine/call", "engine/pleg", "engine/quantile"}, never: []string{"os", "net"}},
	"engine/testgc":            {},
	"engine/replay/replaytest": {ours: []string{"engine", "engine/record", "engine/diagnose", "engine/pleg", "engine/call"}, never: []string{"os", "net"}},
	"engine/host/reads":        {never: []string{"os", "net"}},
	"engine/frozen":            {never: []string{"os", "net"}},
	"engine/host/proc": {
		ours:    []string{"engine/evidence", "engine/flavour", "engine/pleg", "engine/smallfile", "engine/host/reads"},
		modules: []string{"github.com/prometheus/procfs", "golang.org/x/sys/unix"}, never: []string{"net"},
	},
	"engine/host/proctest": {ours: []string{"engine/evidence"}, never: []string{"net"}},
	"engine/host/cgroup": {
		ours:    []string{"engine/pleg", "engine/call", "engine/host/reads", "engine/host/proc"},
		modules: []string{"github.com/fsnotify/fsnotify", "golang.org/x/sys/unix"}, never: []string{"net"},
	},
	"engine/host": {
		ours:    []string{"engine/evidence", "engine/flavour", "engine/pleg", "engine/call", "engine/smallfile", "engine/stacks", "engine/host/reads", "engine/host/proc", "engine/host/cgroup"},
		modules: []string{"github.com/prometheus/procfs/...", "github.com/prometheus/common/expfmt", "github.com/prometheus/common/model", "github.com/prometheus/client_model/...", "golang.org/x/sys/unix", "github.com/godbus/dbus/v5", "github.com/pelletier/go-toml/v2", "go.yaml.in/yaml/..."},
	},

	"cri": {
		ours:    []string{"engine/flavour", "engine/pleg", "engine/call", "engine/smallfile"},
		modules: append(slices.Clone(runtimeAPI), "go.yaml.in/yaml/...", "golang.org/x/sync/singleflight", "golang.org/x/sys/unix"),
	},
	"cri/sim":          {ours: []string{"cri/sim/proc", "cri/sim/script", "engine/osfile", "engine/pleg", "engine/podworker"}, modules: runtimeAPI},
	"cri/sim/proc":     {never: []string{"net"}},
	"cri/sim/script":   {never: []string{"os", "net"}},
	"cri/e2e":          {modules: runtimeAPI},
	"cri/e2e/workload": {},

	"keymap": {modules: []string{"charm.land/bubbles/v2/key"}, never: []string{"os", "net"}},
	"ui": {
		ours:    append(slices.Clone(seen), "engine/replay", "keymap", "ui/..."),
		modules: charm,
		never:   []string{"os", "net"},
	},
	"ui/pane": {
		ours:    append(slices.Clone(seen), "keymap", "ui/text", "ui/theme", "ui/model", "ui/widget", "ui/say"),
		modules: charm, never: []string{"os", "net"},
	},
	"ui/strip":  {ours: append(slices.Clone(seen), "ui/pane", "ui/widget", "ui/text", "ui/theme", "ui/say", "ui/model"), never: []string{"os", "net"}},
	"ui/header": {ours: append(slices.Clone(seen), "keymap", "ui/text", "ui/theme", "ui/say", "ui/pane", "ui/report", "ui/widget"), never: []string{"os", "net"}},
	"ui/pane/panetest": {
		ours:    panes.ours,
		modules: append(slices.Clone(charm), "github.com/google/go-cmp/cmp"), never: []string{"net"},
	},
	"ui/widget":      {ours: []string{"keymap", "ui/text", "ui/theme"}, modules: charm, never: []string{"os", "net"}},
	"ui/layer":       {ours: []string{"keymap", "ui/pane", "ui/text", "ui/widget"}, modules: charm, never: []string{"os", "net"}},
	"ui/say":         {ours: append(slices.Clone(seen), "ui/text", "ui/theme", "ui/widget"), never: []string{"os", "net"}},
	"ui/model":       {ours: append(slices.Clone(seen), "ui/say", "ui/text", "ui/theme", "ui/widget"), never: []string{"os", "net"}},
	"ui/story":       {ours: append(slices.Clone(seen), "ui/text", "ui/say", "ui/model", "ui/widget"), never: []string{"os", "net"}},
	"ui/jsonline":    {ours: []string{"ui/text"}, never: []string{"os", "net"}},
	"ui/text":        {ours: []string{"ui/theme"}, modules: []string{"github.com/charmbracelet/x/ansi/...", "github.com/mattn/go-runewidth"}, never: []string{"os", "net"}},
	"ui/theme":       {ours: []string{"ui/theme/early"}, modules: charm, never: []string{"net"}},
	"ui/theme/early": {never: []string{"net"}},
	"ui/report":      {ours: append(slices.Clone(seen), "ui/text", "ui/theme", "ui/widget", "ui/say"), never: []string{"os", "net"}},
	"ui/terminal":    {ours: []string{"ui", "ui/crash", "ui/text", "ui/theme"}, modules: append(slices.Clone(charm), "github.com/charmbracelet/x/term", "github.com/muesli/cancelreader", "golang.org/x/sys/unix"), never: []string{"net"}},
	"ui/options": {
		ours:    []string{"engine", "engine/ledger", "engine/pleg", "engine/smallfile", "cri/sim", "keymap", "ui/text", "ui/theme", "ui/widget", "ui/model"},
		modules: []string{"github.com/spf13/pflag", "go.yaml.in/yaml/...", "charm.land/lipgloss/v2/..."}, never: []string{"net"},
	},
	"ui/history": {ours: []string{"engine/osfile", "engine/smallfile"}, never: []string{"net"}},
	"ui/crash":   {modules: []string{"golang.org/x/sys/unix"}, never: []string{"net"}},
	"ui/source":  {ours: append(slices.Clone(seen), "engine/host", "engine/smallfile", "cri", "cri/sim", "ui/pane", "ui/director", "ui/options", "ui/recording"), never: []string{"net"}},
	"ui/lines":   {ours: append(slices.Clone(seen), "engine/osfile", "engine/record", "engine/replay", "keymap", "ui/jsonline", "ui/text", "ui/theme", "ui/say", "ui/model", "ui/report", "ui/widget"), never: []string{"net"}},
	"ui/metrics": {ours: append(slices.Clone(seen), "engine/quantile", "ui/text"), modules: []string{"github.com/prometheus/..."}},
	"ui/fleet": {
		ours:    []string{"engine/diagnose", "keymap", "ui/crash", "ui/jsonline", "ui/lines", "ui/say", "ui/terminal", "ui/text", "ui/theme", "ui/widget"},
		modules: append(slices.Clone(charm), "github.com/spf13/pflag"),
	},
	"ui/e2e":       {modules: []string{"github.com/creack/pty", "github.com/charmbracelet/x/vt", "golang.org/x/sys/unix"}},
	"ui/recording": {ours: []string{"engine", "engine/diagnose", "engine/osfile", "engine/record", "engine/smallfile", "ui/options", "ui/pane", "ui/text"}, never: []string{"net"}},
}

// topLevel is what the root of the module may hold, beside dot-files and what
// git ignores.
var topLevel = []string{
	"go.mod", "go.sum", "main.go", "ui", "engine", "cri", "keymap", "docs", "README.md", "LICENSE",
}

func TestTopLevelIsFixed(t *testing.T) {
	ignored, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	byGit := strings.Fields(strings.ReplaceAll(string(ignored), "/", ""))
	for _, e := range entries {
		if name := e.Name(); !strings.HasPrefix(name, ".") && !slices.Contains(topLevel, name) && !slices.Contains(byGit, name) {
			t.Errorf("%s: the top level is fixed to %s and dot-files", name, strings.Join(topLevel, ", "))
		}
	}
}

func TestImportsFollowTheLayout(t *testing.T) {
	all := sources(t)
	opened := opened(t, all)
	for dir, files := range all {
		r, known := rules[dir]
		if slices.Contains(opened, dir) {
			r, known = panes, true
		}
		if !known {
			t.Errorf("package %s is not in the table of packages: add it there with its one job and its imports", dir)
			continue
		}
		for _, file := range files {
			for _, broken := range r.check(file) {
				t.Errorf("%s: package %s must not import %s", broken.where, dir, broken.what)
			}
		}
	}
}

// Only the list of panes names two of them: all else works with any pane.
func TestNoFileNamesTwoPanes(t *testing.T) {
	all := sources(t)
	opened := opened(t, all)
	for dir, files := range all {
		for _, file := range files {
			var named []string
			for _, spec := range file.syntax.Imports {
				if own := ours(spec); slices.Contains(opened, own) {
					named = append(named, own)
				}
			}
			if name := file.fset.File(file.syntax.Pos()).Name(); len(named) > 1 && path.Join(dir, filepath.Base(name)) != openers {
				t.Errorf("%s names %s: only %s may name two panes", name, strings.Join(named, " and "), openers)
			}
		}
	}
}

// The table of packages in the architecture has each package once.
func TestArchitectureHasEachPackage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ = bytes.Cut(text, []byte("\n## Packages\n"))
	text, _, _ = bytes.Cut(text, []byte("\n## "))
	rows := map[string]int{".": 1} // what stands above the table
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z0-9/]+)` \\|").FindAllSubmatch(text, -1) {
		rows[string(row[1])]++
	}
	all := sources(t)
	for dir := range all {
		if rows[dir] != 1 {
			t.Errorf("package %s has %d rows, want one", dir, rows[dir])
		}
	}
	for dir := range rows {
		if _, known := all[dir]; !known {
			t.Errorf("there is no package %s", dir)
		}
	}
}

// openers is the file that has the list of panes, and of the layers with a key of their own.
const openers = "ui/openers.go"

// opened returns the packages of what that file opens.
func opened(t *testing.T, all map[string][]source) (dirs []string) {
	t.Helper()
	for _, file := range all[path.Dir(openers)] {
		if filepath.Base(file.fset.File(file.syntax.Pos()).Name()) != path.Base(openers) {
			continue
		}
		for _, spec := range file.syntax.Imports {
			own := ours(spec)
			if _, known := rules[own]; own != "" && !known {
				dirs = append(dirs, own)
			}
		}
	}
	if len(dirs) < 5 {
		t.Fatalf("%s opens only %v", openers, dirs)
	}
	return dirs
}

// ours returns what is imported, relative to the module; empty if it is not ours.
func ours(spec *ast.ImportSpec) string {
	p, _ := strconv.Unquote(spec.Path.Value)
	own, _ := strings.CutPrefix(p, module+"/")
	if own == p {
		return ""
	}
	return own
}

// A shell goes by what its machine says: a recording of that is a whole run then.
func TestShellReadsNoFieldOfTheMachine(t *testing.T) {
	says := []string{"step", "due", "snapshot", "out", "emulate", "standing"}
	steps := 0
	for _, file := range sources(t)["engine"] {
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			of, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if owner, ok := of.X.(*ast.SelectorExpr); ok && owner.Sel.Name == "machine" {
				steps++
				if !slices.Contains(says, of.Sel.Name) {
					t.Errorf("%s: a shell must not read machine.%s", file.fset.Position(n.Pos()), of.Sel.Name)
				}
			}
			return true
		})
	}
	if steps == 0 {
		t.Error("nobody steps a machine")
	}
}

// The relist core is given its times and does all in the caller's goroutine, so
// that equal calls give equal results.
func TestCoreReadsNoClock(t *testing.T) {
	forbidden := []string{"Now", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick", "Sleep"}
	files := sources(t)["engine/pleg"]
	if len(files) == 0 {
		t.Fatal("engine/pleg has no source files")
	}
	for _, file := range files {
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if pkg, ok := n.X.(*ast.Ident); ok && pkg.Name == "time" && slices.Contains(forbidden, n.Sel.Name) {
					t.Errorf("%s: engine/pleg must not call time.%s", file.fset.Position(n.Pos()), n.Sel.Name)
				}
			case *ast.GoStmt:
				t.Errorf("%s: engine/pleg must not start a goroutine", file.fset.Position(n.Pos()))
			}
			return true
		})
	}
}

// What reads the node may meet anything: its goroutines are started in the one place where
// a panic becomes an error.
func TestNodeIsReadInGoroutinesThatRecover(t *testing.T) {
	const one = "engine/host/reads"
	count := 0
	for dir, files := range sources(t) {
		if dir != one && dir != "engine/host" && path.Dir(dir) != "engine/host" {
			continue
		}
		for _, file := range files {
			ast.Inspect(file.syntax, func(n ast.Node) bool {
				if isStart(n) {
					if count++; dir != one {
						t.Errorf("%s: start it with reads.Go", file.fset.Position(n.Pos()))
					}
				}
				return true
			})
		}
	}
	if count != 1 {
		t.Errorf("%d places start goroutines, want one", count)
	}
}

// isStart reports whether code starts a goroutine: by a go statement, or by a method of
// package sync or time that does.
func isStart(n ast.Node) bool {
	if _, is := n.(*ast.GoStmt); is {
		return true
	}
	s, is := n.(*ast.SelectorExpr)
	if !is {
		return false
	}
	of, _ := s.X.(*ast.Ident)
	return s.Sel.Name == "AfterFunc" || s.Sel.Name == "Go" && (of == nil || of.Name != "reads")
}

// What CI runs of others is named by its hash: a tag can be moved.
func TestActionsAreNamedByHash(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	byHash := regexp.MustCompile(`uses: [\w-]+/[\w/-]+@[0-9a-f]{40} # v\d`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "uses:") && !byHash.MatchString(line) {
				t.Errorf("%s: %q: want a commit's hash, and its tag in a comment", file, strings.TrimSpace(line))
			}
		}
	}
}

func TestRuleCheck(t *testing.T) {
	r := rule{ours: []string{"engine/...", "cri"}, modules: []string{"example.com/a/...", "example.com/b"}, never: []string{"os", "net"}}
	allowed := []string{
		"fmt", "os/signal", module + "/engine", module + "/engine/pleg", module + "/cri",
		"example.com/a", "example.com/a/c", "example.com/b",
	}
	forbidden := []string{"os", "net/http", module, module + "/cri/sim", module + "/enginex", "example.com/b/c", "example.com/ab"}
	for _, p := range allowed {
		if !r.allows(p) {
			t.Errorf("allows(%q) = false, want true", p)
		}
	}
	for _, p := range forbidden {
		if r.allows(p) {
			t.Errorf("allows(%q) = true, want false", p)
		}
	}
}

// A source is one Go file that is not a test.
type source struct {
	fset   *token.FileSet
	syntax *ast.File
}

type breach struct{ where, what string }

func (r rule) check(s source) (broken []breach) {
	for _, spec := range s.syntax.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err != nil || !r.allows(p) {
			broken = append(broken, breach{s.fset.Position(spec.Pos()).String(), spec.Path.Value})
		}
	}
	return broken
}

func (r rule) allows(importPath string) bool {
	if own, ok := strings.CutPrefix(importPath+"/", module+"/"); ok {
		return covers(r.ours, path.Clean(own))
	}
	if first, _, _ := strings.Cut(importPath, "/"); strings.Contains(first, ".") {
		return covers(r.modules, importPath)
	}
	return !slices.Contains(r.never, importPath) && !(slices.Contains(r.never, "net") && strings.HasPrefix(importPath, "net/"))
}

func covers(patterns []string, importPath string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		tree, isTree := strings.CutSuffix(pattern, "...")
		if !isTree {
			return pattern == importPath
		}
		return strings.HasPrefix(importPath+"/", tree)
	})
}

// sources returns the module's Go files that are not tests, by folder, to be read only. A
// folder that holds tests alone is there without files.
func sources(t *testing.T) map[string][]source {
	t.Helper()
	found, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 4 {
		t.Fatalf("found only the packages %v", slices.Sorted(maps.Keys(found)))
	}
	return found
}

// parsed parses them once for all tests.
var parsed = sync.OnceValues(func() (map[string][]source, error) {
	found := map[string][]source{}
	err := filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			return enter(file, e.Name())
		}
		if filepath.Ext(file) != ".go" {
			return nil
		}
		dir, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		return add(found, filepath.ToSlash(dir), file)
	})
	return found, err
})

// enter skips what the go command skips.
func enter(dir, name string) error {
	if dir != root && (name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
		return fs.SkipDir
	}
	return nil
}

func add(found map[string][]source, dir, file string) error {
	if strings.HasSuffix(file, "_test.go") {
		if _, known := found[dir]; !known {
			found[dir] = nil
		}
		return nil
	}
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("parse %s: %w", file, err)
	}
	found[dir] = append(found[dir], source{fset, syntax})
	return nil
}
