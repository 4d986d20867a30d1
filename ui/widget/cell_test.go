package widget_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/widget"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return noon.Add(-d) }

// drawnCell returns what c looks like in w cells, without its look.
func drawnCell(c widget.Cell, w int, right bool) string {
	p := pen()
	p.At = noon
	var l text.Line
	l.Begin(w + 2)
	c.Draw(&l, p, w, right)
	l.Put(p.Text, "|")
	return strings.TrimSuffix(plain(string(l.Buf)), "|")
}

func TestCells(t *testing.T) {
	st := pen().Bad
	for _, tt := range []struct {
		c     widget.Cell
		w     int
		right bool
		want  string
	}{
		{widget.Cell{}, 3, false, "   "},
		{widget.Cell{}, 3, true, "   "},
		{widget.Say(st, "abc"), 5, false, "abc  "},
		{widget.Say(st, "abcdef"), 5, false, "abcd…"},
		{widget.Say(st, "abc"), 5, true, "  abc"},
		{widget.Say(st, hostile), 8, false, "a^[[31m…"},
		{widget.Name(st, "deployment-7d9c5b7d4-2m4ns"), 12, false, "deploy…2m4ns"},
		{widget.Number(st, -137), 5, true, " -137"},
		{widget.Count(st, 123456), 6, true, "  123k"},
		{widget.Bytes(st, 2048), 6, true, "  2.0K"},
		{widget.Took(st, 3200*time.Millisecond), 6, true, "  3.2s"},
		{widget.Ahead(st, 412*time.Millisecond), 6, true, "+412ms"},
		{widget.Ahead(st, -20*time.Millisecond), 6, true, " -20ms"},
		{widget.Since(st, time.Time{}), 4, true, "    "},
		{widget.Since(st, ago(19*time.Second)), 4, true, " 10s"},
		{widget.Lately(st, ago(9*time.Second)), 4, true, " now"},
		{widget.Lately(st, ago(19*time.Second)), 4, true, " 10s"},
		{widget.Waiting(st, ago(19*time.Second)), 4, true, " 19s"},
		{widget.Lately(st, ago(time.Minute)).After("Died"), 12, false, "Died      1m"},
		{widget.Say(st, "idle").Signed("o"), 8, false, "o idle  "},
		{widget.Waiting(st, ago(19*time.Second)).After("idle").Signed("o"), 12, false, "o idle 19s  "},
		{widget.Waiting(st, ago(19*time.Second)).After("idle").Signed("o"), 9, false, "o idle   "}, // half a figure is another one
		{widget.Say(st, "waits").Signed("o"), 5, false, "o wa…"},
	} {
		if got := drawnCell(tt.c, tt.w, tt.right); got != tt.want {
			t.Errorf("%+v in %d cells: %q, want %q", tt.c, tt.w, got, tt.want)
		}
	}
}

// Rows are sorted by what a column has of them: texts by the alphabet, the largest figure and
// the latest moment first; what is blank is last in both directions, and 0 is not blank.
func TestRowsAreSortedByTheirCells(t *testing.T) {
	p := pen()
	for name, want := range map[string][]widget.Cell{
		"texts":     {widget.Say(p.Text, "a"), widget.Say(p.Bad, "b"), {}},
		"names":     {widget.Name(p.Text, "a"), widget.Name(p.Text, "b"), {}},
		"figures":   {widget.Number(p.Text, 5), widget.Number(p.Bad, 0), widget.Number(p.Text, -1), {}},
		"durations": {widget.Took(p.Text, time.Hour), widget.Took(p.Bad, time.Minute), {}},
		"moments":   {widget.Since(p.Text, noon), widget.Since(p.Text, ago(time.Hour)), widget.Say(p.Dim, "-")},
		"a place":   {widget.Say(p.Text, "z").Sorted(2), widget.Say(p.Text, "a").Sorted(1), widget.Say(p.Text, "b").Sorted(1)},
	} {
		tab := widget.Table[int, int]{
			Key:     func(i int) int { return i },
			Columns: []widget.Column[int]{{Name: "it", Head: "IT", Value: func(_ widget.Pen, i int) widget.Cell { return want[i] }}},
		}
		if !tab.SortBy("IT") {
			t.Fatal("no column is called by its head")
		}
		rows := make([]int, len(want))
		for i := range rows {
			rows[i] = len(rows) - 1 - i
		}
		if tab.Sort(rows); !slices.IsSorted(rows) {
			t.Errorf("%s: %v", name, rows)
		}
		said := func(i int) bool { return want[i] != (widget.Cell{}) && want[i].Text != "-" }
		blank := slices.DeleteFunc(slices.Clone(rows), said)
		tab.Invert()
		if tab.Sort(rows); len(blank) > 0 && rows[len(rows)-1] != blank[0] || said(rows[0]) && rows[0] == 0 {
			t.Errorf("%s, reversed: %v", name, rows)
		}
	}
}
