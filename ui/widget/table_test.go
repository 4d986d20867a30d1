package widget_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

type row struct {
	name, note string
	n          int
	in         string // the row that it is in
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

// heads returns the names of the columns that are shown, by what stands in the heads.
func heads(t *testing.T, tab *table, w int) []string {
	t.Helper()
	return strings.Fields(lines(t, tab.Draw, w, 1)[0])
}

// Which columns there are depends on the width alone, and more of it never takes one
// away.
func TestColumnsStay(t *testing.T) {
	before := 0
	for w := 6; w < 120; w++ {
		short, long := newTable(w, 5, row{name: "x"}), newTable(w, 5, row{name: strings.Repeat("x", 50), note: strings.Repeat("y", 200), n: 12345})
		a, b := heads(t, short, w), heads(t, long, w)
		if !slices.Equal(a, b) {
			t.Errorf("%d cells: columns %v for short texts, %v for long ones", w, a, b)
		}
		if len(a) < before {
			t.Errorf("%d cells: %d columns, and %d in fewer", w, len(a), before)
		}
		before = len(a)
		lines(t, long.Draw, w, 5)
	}
	if before != 4 {
		t.Errorf("at the widest there are %d columns, want 4", before)
	}
	// NAME could have 12 cells before there is a column of the next rank.
	for w, want := range map[int]string{17: "NAME", 18: "NAME STATE", 22: "NAME STATE", 23: "N NAME STATE"} {
		if got := strings.Join(heads(t, newTable(w, 3, abc()...), w), " "); got != want {
			t.Errorf("%d cells: %s, want %s", w, got, want)
		}
	}
}

// Widths grow by need and do not shrink before the next resize.
func TestWidthsDoNotJump(t *testing.T) {
	at := func(tab *table) int { return strings.Index(lines(t, tab.Draw, 60, 1)[0], "STATE") }
	tab := newTable(60, 5, abc()...)
	narrow := at(tab)
	tab.Set(append(abc(), row{name: strings.Repeat("x", 20)}))
	wide := at(tab)
	tab.Set(abc())
	if again := at(tab); wide <= narrow || again != wide {
		t.Errorf("STATE is at %d, with a long name at %d, without it again at %d", narrow, wide, again)
	}
	tab.Resize(pen(), 60, 9)
	if at(tab) != wide {
		t.Error("another height changed a width")
	}
	tab.Resize(pen(), 59, 9)
	if at(tab) != narrow {
		t.Error("after another width there is room for a name that has gone")
	}
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

func TestCursorGoesToTheParent(t *testing.T) {
	tab := newTable(40, 9)
	parents := map[string]string{"a1": "a"}
	tab.Parent = func(k string) string { return parents[k] }
	tab.Set([]row{{name: "x"}, {name: "a"}, {name: "a1", in: "a"}})
	tab.Do(keymap.Bottom)
	if tab.Set([]row{{name: "a"}, {name: "y"}, {name: "z"}}); current(tab) != "a" {
		t.Errorf("a1 has gone, the cursor is on %q, want what it was in", current(tab))
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

func TestLegend(t *testing.T) {
	tab := newTable(60, 5, abc()...)
	if diff := gocmp.Diff([2]string{"NAME", "a name"}, tab.Legend()[1]); diff != "" {
		t.Errorf("legend: %s", diff)
	}
}

func TestVisible(t *testing.T) {
	rows := make([]row, 20)
	for i := range rows {
		rows[i].name = fmt.Sprint(i)
	}
	tab := newTable(40, 6, rows...)
	tab.Do(keymap.PageDown)
	if first, last, total := tab.Visible(); first != 5 || last != 9 || total != 20 {
		t.Errorf("visible are %d-%d/%d", first, last, total)
	}
	if !tab.Next(-1, func(r row) bool { return r.name == "15" }) || current(tab) != "15" || tab.Next(1, func(row) bool { return false }) {
		t.Errorf("the next is %q", current(tab))
	}
	tab.Set(rows[:2])
	tab.FromBottom = true
	if got := lines(t, tab.Draw, 20, 6); got[1] != "" || got[3] != "" || !strings.Contains(got[5], " 1") {
		t.Errorf("not from the bottom: %q", got)
	}
	if first, last, total := newTable(40, 5).Visible(); first != 0 || last != 0 || total != 0 {
		t.Error("rows of an empty table")
	}
}

// A table that is not seen for a while comes back as it was.
func TestUnseenTableDoesNotScroll(t *testing.T) {
	rows := make([]row, 20)
	for i := range rows {
		rows[i].name = fmt.Sprint(i)
	}
	tab := newTable(40, 11, rows...)
	tab.Go(5)
	tab.Resize(pen(), 0, 0)
	tab.Set(rows)
	tab.Resize(pen(), 40, 11)
	if first, _, _ := tab.Visible(); first != 1 {
		t.Errorf("the first row is %d now", first)
	}
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

func TestFaintAndWholeRows(t *testing.T) {
	tab := newTable(40, 5, abc()...)
	tab.Faint = func(r row) bool { return r.n == 3 }
	tab.Whole = func(l *text.Line, p widget.Pen, r row) bool {
		if r.n == 1 {
			l.Put(p.Dim, "-- "+r.name)
		}
		return r.n == 1
	}
	tab.Go(0)
	dim := pen().Dim
	if line := styled(t, tab.Draw, 40, 2); !strings.HasPrefix(line, dim.On) || strings.Count(line, "\x1b[m") != 1 {
		t.Errorf("a faint row is no single dim run: %q", line)
	}
	if got := lines(t, tab.Draw, 40, 4)[3]; got != "-- c" {
		t.Errorf("a whole row is %q", got)
	}
}

// Rows may be of several lines: the cursor goes from row to row, all of which are one bar, and
// is seen whatever their height.
func TestRowsOfSeveralLines(t *testing.T) {
	rows := []row{{name: "a", n: 1}, {name: "b", n: 3}, {name: "c", n: 2}, {name: "d", n: 1}}
	tab := newTable(30, 5)
	tab.Below = func(r row) (below [][]text.Span) {
		for i := range r.n - 1 {
			below = append(below, []text.Span{{Width: 5}, slot(fmt.Sprint(r.name, i))})
		}
		return below
	}
	tab.Set(rows)
	names := func() string {
		all := ""
		for _, line := range lines(t, tab.Draw, 30, 5)[1:] {
			if f := strings.Fields(line); len(f) > 1 {
				line = f[1]
			}
			all += strings.TrimSpace(line) + " "
		}
		return strings.TrimSpace(all)
	}
	for _, tt := range []struct {
		do      keymap.Action
		on, see string
		visible [3]int
	}{
		{keymap.Top, "a", "a b b0 b1", [3]int{1, 2, 4}},
		{keymap.Down, "b", "a b b0 b1", [3]int{1, 2, 4}},
		{keymap.Down, "c", "b0 b1 c c0", [3]int{2, 3, 4}},
		{keymap.Down, "d", "b1 c c0 d", [3]int{2, 4, 4}},
		{keymap.Up, "c", "b1 c c0 d", [3]int{2, 4, 4}},
		{keymap.Up, "b", "b b0 b1 c", [3]int{2, 3, 4}},
		{keymap.Bottom, "d", "b1 c c0 d", [3]int{2, 4, 4}},
	} {
		tab.Do(tt.do)
		first, last, n := tab.Visible()
		if current(tab) != tt.on || names() != tt.see || [3]int{first, last, n} != tt.visible {
			t.Errorf("%s: on %q, seen is %q, rows %d-%d/%d, want %+v", tt.do, current(tab), names(), first, last, n, tt)
		}
	}
	if tab.Lines() != 7 {
		t.Errorf("%d lines", tab.Lines())
	}
	tab.Do(keymap.Up)
	for y, want := range map[int]bool{1: false, 2: true, 3: true, 4: false} {
		if got := strings.HasPrefix(styled(t, tab.Draw, 30, y), pen().Selected.On); got != want {
			t.Errorf("line %d is in the bar: %v, want %v", y, got, want)
		}
	}
}

// The cursor goes over rows that are only there to be read.
func TestCursorSkipsRows(t *testing.T) {
	tab := newTable(40, 9)
	tab.Skips = func(r row) bool { return r.n == 0 }
	tab.Set([]row{{name: "rule"}, {name: "a", n: 1}, {name: "rule"}, {name: "rule"}, {name: "b", n: 1}, {name: "rule"}})
	for i, tt := range []struct {
		do   keymap.Action
		want string
	}{{keymap.Top, "a"}, {keymap.Down, "b"}, {keymap.Down, "b"}, {keymap.Up, "a"}, {keymap.Up, "a"}, {keymap.Bottom, "b"}} {
		if tab.Do(tt.do); current(tab) != tt.want {
			t.Errorf("%d: %s leads to %q, want %q", i, tt.do, current(tab), tt.want)
		}
	}
	if tab.Set([]row{{name: "rule"}}); current(tab) != "rule" {
		t.Errorf("with nothing else the cursor is on %q", current(tab))
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
