package ui

import (
	"testing"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/layer"
	"github.com/plegtop/plegtop/ui/pane"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
)

// list is the least that a layer of one document has to say.
type list struct{ layer.Text }

func (l *list) Info() pane.Info { return l.Titled("List", keymap.Matching) }

func (l *list) Observe(v *pane.View, w, h int) {
	l.Write(v, w, h, func(d *widget.Doc) {
		for _, word := range []string{"one", "two", "three", "four"} {
			d.Item(word)
			d.Line(text.Span{Text: word})
		}
	})
}

func TestText(t *testing.T) {
	l := &list{}
	if got := l.Info(); got.Name != "List" || got.About != nil {
		t.Errorf("before it was observed: %+v", got)
	}
	s := NewStage(l, View(Healthy()), 20, 2)
	if got := s.Info(); got.Wanted != 4 || got.About[0].Text != "1-2/4" {
		t.Errorf("wants %d lines, %v", got.Wanted, got.About)
	}
	s.Act(keymap.Down)
	if s.Row("two") == "" || l.Current() != "two" || s.Subject() != (pane.Subject{}) {
		t.Errorf("after down on %v:\n%s", l.Current(), s.Text())
	}
	if s.Act(keymap.Filter); len(s.Layers) != 1 {
		t.Fatal("/ asks for nothing")
	}
	if press(s, "four\r"); s.Row("four") == "" || s.Info().About[0].Text != "/four" {
		t.Errorf("after a search %v:\n%s", s.Info().About, s.Text())
	}
}
