package engine_test

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// drawn has the files of ui that compare a time with a figure of their own, and why that is no
// judgement of a node: those belong into engine/diagnose or engine/answers.
var drawn = map[string]string{
	"ui/events/events.go":     "how long rows stay where they are",
	"ui/findings/findings.go": "how long texts stay as they are",
	"ui/header/gauges.go":     "which steps would only flicker",
	"ui/model/relists.go":     "how far back things are kept",
	"ui/lines/bench.go":       "which periods a person is asked about",
	"ui/lines/measurement.go": "how long a bench waits for its source",
	"ui/lines/progress.go":    "when a bar is drawn",
	"ui/metrics/serve.go":     "whether plegtop itself is at work",
	"ui/model/pod.go":         "how a time is written in few cells",
	"ui/lines/whatif.go":      "how alike a replay is to what was recorded",
	"ui/play.go":              "whether a time is written with its day",
	"ui/requests.go":          "which periods a person is asked about",
	"ui/say/streams.go":       "how an age is rounded",
	"ui/text/figure.go":       "how a time is written",
	"ui/widget/cell.go":       "how an age is rounded",
	"ui/widget/axis.go":       "how times are written along an axis",
	"ui/say/figures.go":       "how a time is rounded",
}

// No view decides what is late, slow or old: diagnose says so, to all of them.
func TestNoThresholdInUI(t *testing.T) {
	found := map[string]string{} // files, and where the first comparison is
	for dir, files := range sources(t) {
		if dir != "ui" && !strings.HasPrefix(dir, "ui/") || slices.Contains([]string{"ui/e2e", "ui/terminal", "ui/crash", "ui/pane/panetest"}, dir) {
			continue
		}
		times := timesOf(files)
		for _, file := range files {
			ast.Inspect(file.syntax, func(n ast.Node) bool {
				if b, is := n.(*ast.BinaryExpr); is && slices.Contains([]token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ}, b.Op) && (ofTime(b.X, times) || ofTime(b.Y, times)) {
					at := file.fset.Position(b.Pos())
					found[path.Join(dir, filepath.Base(at.Filename))] = at.String()
				}
				return true
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if drawn[name] == "" {
			t.Errorf("%s: a time is compared with a figure of ui: let engine/diagnose judge, or say in drawn why this is none", found[name])
		}
	}
	for name := range drawn {
		if found[name] == "" {
			t.Errorf("%s is in drawn, and compares no time", name)
		}
	}
}

// timesOf returns the names of constants of a package that are made of units of time.
func timesOf(files []source) map[string]bool {
	times := map[string]bool{}
	for _, file := range files {
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			if spec, is := n.(*ast.ValueSpec); is {
				for i, v := range spec.Values {
					if i < len(spec.Names) && ofTime(v, times) {
						times[spec.Names[i].Name] = true
					}
				}
			}
			return true
		})
	}
	return times
}

// ofTime reports whether a figure is made of units of time, or of constants that are. What a
// function makes of them is none.
func ofTime(e ast.Expr, times map[string]bool) bool {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		of, is := e.X.(*ast.Ident)
		return is && of.Name == "time" && slices.Contains([]string{"Nanosecond", "Microsecond", "Millisecond", "Second", "Minute", "Hour"}, e.Sel.Name)
	case *ast.Ident:
		return times[e.Name]
	case *ast.BinaryExpr:
		return e.Op != token.QUO && (ofTime(e.X, times) || ofTime(e.Y, times))
	case *ast.ParenExpr:
		return ofTime(e.X, times)
	}
	return false
}

// A pane reads the view, and asks its host: only the screen changes what all panes show.
func TestNoPaneWritesIntoTheView(t *testing.T) {
	writes := map[string][]string{
		"Pods": {"Arrange", "Filter", "Observe"}, "Journal": {"Filter", "Mark", "Observe"}, "Axis": {"Follow", "Zoom"},
	}
	all := sources(t)
	for _, dir := range append(opened(t, all), "ui/header", "ui/strip", "ui/layer") {
		for _, file := range all[dir] {
			ast.Inspect(file.syntax, func(n ast.Node) bool {
				call, is := n.(*ast.SelectorExpr)
				if !is {
					return true
				}
				if part, is := call.X.(*ast.SelectorExpr); is && slices.Contains(writes[part.Sel.Name], call.Sel.Name) {
					t.Errorf("%s: a pane must not call %s.%s: that is the screen's", file.fset.Position(n.Pos()), part.Sel.Name, call.Sel.Name)
				}
				return true
			})
		}
	}
}
