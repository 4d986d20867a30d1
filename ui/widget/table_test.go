package widget_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

type row struct {
	name, note string
	n          int
}

type table = widget.Table[row, string]

func newTable(w, h int, rows ...row) *table {
	t := &table{
		Key: func(r row) string { return r.name },
		Columns: []widget.Column[row]{
			{Name: "n", Head: "N", Help: "a number", Least: 4, Rank: 2, Right: true,
				Value: func(p widget.Pen, r row) widget.Cell { return widget.Number(p.Text, int64(r.n)) }},
			{Name: "name", Head: "NAME", Help: "a name", Least: 6, Fair: 12, Most: 30, Fits: true,
				Value: func(p widget.Pen, r row) widget.Cell { return widget.Say(p.Text, r.name) }},
			{Name: "state", Head: "STATE", Help: "a word", Least: 5, Rank: 1, Unsorted: true,
				Value: func(p widget.Pen, _ row) widget.Cell { return widget.Say(p.Bad, "bad") }},
			{Name: "note", Head: "NOTE", Help: "the rest", Least: 8, Most: 100, Rank: 3, Fits: true, Unsorted: true,
				Value: func(p widget.Pen, r row) widget.Cell { return widget.Say(p.Dim, r.note) }},
		},
	}
	t.Resize(pen(), w, h)
	t.Set(rows)
	return t
}

func abc() []row {
	return []row{{name: "b", n: 2, note: "second"}, {name: "a", n: 3, note: "first"}, {name: "c", n: 1, note: hostile}}
}

func current(tab *table) string {
	r, _ := tab.Current()
	return r.name
}

func TestCursorStaysOnItsRow(t *testing.T) {
	tab := newTable(40, 5, abc()...)
	if tab.Set([]row{{name: "new"}, {name: "b"}}); current(tab) != "new" {
		t.Errorf("nobody put the cursor on %q", current(tab))
	}
	tab.Set(abc())
	tab.Do(keymap.Down)
	tab.Set([]row{{name: "x"}, {name: "y"}, {name: "c"}, {name: "a"}})
	if current(tab) != "a" {
		t.Errorf("the cursor went from a to %q", current(tab))
	}
	tab.Set([]row{{name: "x"}, {name: "y"}, {name: "c"}, {name: "z"}})
	if current(tab) != "z" {
		t.Errorf("a has gone, the cursor is on %q, want the row in its line", current(tab))
	}
	tab.Set([]row{{name: "z"}, {name: "x"}})
	if current(tab) != "z" {
		t.Errorf("the cursor went on to %q", current(tab))
	}
	tab.Set(nil)
	if _, ok := tab.Current(); ok {
		t.Error("a row of none")
	}
	if tab.Set(abc()); current(tab) != "a" {
		t.Errorf("a is back, the cursor is on %q", current(tab))
	}
	tab.Do(keymap.Top)
	if tab.Set(append([]row{{name: "worse"}}, abc()...)); current(tab) != "worse" {
		t.Errorf("the cursor is at the top no longer: %q", current(tab))
	}
	if tab.GoTo("not yet") || current(tab) != "worse" {
		t.Error("went to a row that is not there")
	}
	if tab.Set([]row{{name: "p"}, {name: "not yet"}}); current(tab) != "not yet" {
		t.Errorf("the cursor is on %q, want the row that was asked for", current(tab))
	}
}

func TestSort(t *testing.T) {
	tab := newTable(40, 5, abc()...)
	names := func() string {
		rows := abc()
		tab.Sort(rows)
		tab.Set(rows)
		s := ""
		for _, r := range rows {
			s += r.name
		}
		name, inverted := tab.Sorted()
		return fmt.Sprint(s, " ", name, " ", inverted)
	}
	check := func(what, want, head string) {
		t.Helper()
		if got := names(); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
		if line := lines(t, tab.Draw, 40, 1)[0]; !strings.Contains(line, head) {
			t.Errorf("%s: heads %q, want %q in it", what, line, head)
		}
	}
	check("at first", "bac  false", "   N NAME   STATE")
	tab.Order(keymap.SortInvert)
	check("inverted", "cab  true", "   N NAME   STATE")
	tab.Invert()
	tab.Order(keymap.SortNext)
	check("next", "abc n false", "  N↓ NAME")
	tab.Order(keymap.SortNext)
	check("next but one", "abc name false", "NAME↑")
	tab.Invert()
	check("inverted", "cba name true", "NAME↓")
	tab.Order(keymap.SortNext)
	check("round", "cab  true", "NAME  ")
	tab.Order(keymap.SortPrev)
	check("back", "cba name true", "NAME↓")
	if tab.SortBy("state") || tab.SortBy("nothing") || !tab.SortBy("N") {
		t.Error("columns by name")
	}
	check("by name", "cba n true", "N↑")
	tab.SortBy("")
}

// All keeps its colour in the row under the cursor: on one background, which is of no cell
// alone, behind a bar in the margin.
func TestTheSelectedRowKeepsItsColours(t *testing.T) {
	for _, name := range theme.Names() {
		look, _ := theme.Named(name)
		draw := func(st theme.Style) string {
			var l text.Line
			l.Begin(10)
			l.Margin()
			widget.Pen{Theme: &look}.Bar(&l, true)
			l.Put(st, "x")
			line := string(l.Buf)
			if !strings.HasPrefix(plain(line), "▌x") {
				t.Errorf("%s: no bar before %q", name, line)
			}
			return strings.TrimSuffix(line[strings.LastIndex(line, "\x1b[m\x1b")+3:], "x\x1b[m")
		}
		text, bad, dim := draw(look.Text), draw(look.Bad), draw(look.Dim)
		if text == bad || text == dim || bad == dim {
			t.Errorf("%s: in the row ordinary text is %q, trouble %q, what matters less %q", name, text, bad, dim)
		}
		for _, st := range []string{text, bad, dim} {
			if name == "mono" && strings.Contains(st, "7") || name != "mono" && (!strings.Contains(st, "48;5;") || strings.Contains(st, "7;")) {
				t.Errorf("%s: no background, or an inverted cell: %q", name, st)
			}
		}
	}
}

func TestDrawingATableDoesNotAllocate(t *testing.T) {
	tab := newTable(100, 5, row{name: "default/nginx", note: "a note", n: 1234}, row{name: "b"})
	p := pen()
	l := text.Line{Buf: make([]byte, 0, 4096)}
	if n := testing.AllocsPerRun(100, func() {
		for y := range 5 {
			l.Buf = l.Buf[:0]
			l.Begin(100)
			tab.Draw(&l, p, y, true)
			l.End()
		}
	}); n > 0 {
		t.Errorf("drawing allocates %v times", n)
	}
}

// TestEmptyColumnsGiveTheirRoom holds that a column of which no row has anything is not shown,
// that the others have its cells, and that it comes with the first value.
func TestEmptyColumnsGiveTheirRoom(t *testing.T) {
	tab := &widget.Table[row, string]{Key: func(r row) string { return r.name }, Columns: []widget.Column[row]{
		{Name: "name", Head: "NAME", Least: 4, Most: 20, Fits: true, Value: func(p widget.Pen, r row) widget.Cell { return widget.Name(p.Text, r.name) }},
		{Name: "exit", Head: "EXIT", Least: 9, Rank: 1, Gives: true, Value: func(p widget.Pen, r row) widget.Cell {
			if r.n == 0 {
				return widget.Cell{}
			}
			return widget.Number(p.Bad, int64(r.n))
		}},
	}}
	tab.Resize(pen(), 20, 5)
	tab.Set([]row{{name: "a-long-name-12345"}})
	if got := lines(t, tab.Draw, 20, 2); got[0] != "NAME" || got[1] != "a-long-name-12345" {
		t.Errorf("without a value: %q", got)
	}
	tab.Set([]row{{name: "a-long-name-12345", n: 7}})
	if got := lines(t, tab.Draw, 20, 2); !strings.Contains(got[0], "EXIT") || !strings.Contains(got[1], "…12345         7") {
		t.Errorf("with a value: %q", got)
	}
	tab.Set([]row{{name: "a-long-name-12345"}})
	tab.Refit()
	if got := lines(t, tab.Draw, 20, 1)[0]; !strings.Contains(got, "EXIT") {
		t.Errorf("it went with its last value, and all moved: %q", got)
	}
}
