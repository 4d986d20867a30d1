package engine_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module = "github.com/plegtop/plegtop"
	root   = ".." // of the module, from here
)

var (
	grpc  = []string{"google.golang.org/grpc"}
	api   = []string{"k8s.io/cri-api"}
	charm = []string{"charm.land", "github.com/charmbracelet"}
)

// A ban says what the packages below a folder must not import: packages whose paths begin with these. Our own
// paths are relative to the module.
type ban struct {
	below  string
	never  []string
	except []string // folders that may
}

// The engine decides, cri talks to the runtime, and ui draws. None does the work of another.
var bans = []ban{
	{below: "engine", never: slices.Concat(grpc, api, charm, []string{"ui", "keymap"})},
	{below: "engine", never: []string{"cri"}, except: []string{"engine/record"}}, // whose files have CRI's own messages
	{below: "engine/pleg", never: []string{"context", "sync", "os", "net", "io/fs", "log", "math/rand", "runtime", "syscall"}},
	{below: "cri", never: append([]string{"ui", "keymap"}, charm...)},
	{below: "ui", never: slices.Concat(grpc, api)},
	{below: "ui", never: []string{"cri"}, except: []string{"ui/source", "ui/options", "ui/director"}},
	{below: "ui", never: []string{"os", "net"}, except: []string{
		"ui/lines", "ui/metrics", "ui/options", "ui/recording", "ui/source", "ui/terminal",
	}},
}

func TestImportsFollowTheLayout(t *testing.T) {
	files := 0
	err := filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "testdata" || strings.HasPrefix(e.Name(), ".") && file != root):
			return fs.SkipDir
		case filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		files++
		syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir, _ := filepath.Rel(root, filepath.Dir(file))
		for _, spec := range syntax.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			for _, b := range bans {
				if b.forbids(filepath.ToSlash(dir), strings.TrimPrefix(imported, module+"/")) {
					t.Errorf("%s must not import %s", file, imported)
				}
			}
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Errorf("read %d files: %v", files, err)
	}
}

func (b ban) forbids(dir, imported string) bool {
	below := func(p string) func(string) bool {
		return func(folder string) bool { return strings.HasPrefix(p+"/", folder+"/") }
	}
	return below(dir)(b.below) && slices.ContainsFunc(b.never, below(imported)) && !slices.ContainsFunc(b.except, below(dir))
}
