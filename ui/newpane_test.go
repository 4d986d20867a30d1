package ui

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/widget"
)

// oneMore is a pane that nobody has thought of yet.
type oneMore struct{ layer.Text }

func (o *oneMore) Info() pane.Info { return o.Titled("One more", 0) }

func (o *oneMore) Observe(v *pane.View, w, h int) {
	o.Write(v, w, h, func(d *widget.Doc) { d.Field("one", v.Theme.Text, "more") })
}

// TestANewPaneChangesNoGolden holds that a pane more in the list changes no whole frame that
// is kept, and on the screens with room for two panes none of the others: only the titles
// name it.
func TestANewPaneChangesNoGolden(t *testing.T) {
	before := panes
	defer func() { panes = before }()
	frames := func(sc int, size size) (kept, shown []string, m *Model) {
		s := stageOf(t, size.w, size.h, goldenPanes, scenes[sc].config)
		scenes[sc].play(s)
		kept = strings.Split(s.m.frame(), "\n")
		s = stageOf(t, size.w, size.h, panes, scenes[sc].config)
		scenes[sc].play(s)
		return kept, strings.Split(s.m.frame(), "\n"), s.m
	}
	for i, sc := range scenes {
		for _, size := range sizes[:3] {
			panes = before
			kept, shown, _ := frames(i, size)
			panes = append(slices.Clone(before), func(pane.Settings) pane.Pane { return &oneMore{} })
			keptNow, shownNow, m := frames(i, size)
			if diff := cmp.Diff(kept, keptNow); diff != "" {
				t.Errorf("%s at %v: the frame that is kept (-without +with one pane more):\n%s", sc.name, size, diff)
			}
			if m.top() != nil {
				continue // of the panes nothing is seen, and help names the new one
			}
			for _, b := range m.layout.boxes {
				shown[b.y], shownNow[b.y] = "", ""
			}
			if diff := cmp.Diff(shown, shownNow); diff != "" {
				t.Errorf("%s at %v: below the titles (-without +with one pane more):\n%s", sc.name, size, diff)
			}
		}
	}
}
