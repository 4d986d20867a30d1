package widget_test

import (
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/keymap"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
	"github.com/plegtop/plegtop/ui/widget"
)

func write(w, h int, lines func(d *widget.Doc)) *widget.Doc {
	var d widget.Doc
	d.Write(pen(), w, h, lines)
	return &d
}

func slot(s string) text.Span { return text.Span{Text: s} }

func TestDoc(t *testing.T) {
	p := pen()
	d := write(44, 12, func(d *widget.Doc) {
		d.Section("First")
		d.Field("name", p.Text, hostile)
		d.Field("empty", p.Text, "")
		d.Field("a long one", p.Text, "one two three four five six")
		d.Section("Second")
		d.Paragraph(p.Text, strings.Repeat("word ", 12), text.Span{Text: "1.", Width: 3})
		d.Many(2, func(i int) []text.Span {
			return []text.Span{{Text: fmt.Sprint("lazy ", i), Width: 10}, slot("x")}
		})
		d.Line(slot("end"))
	})
	want := []string{
		"First",
		"  name            a^[[31m\uFFFD1mb \uFFFDc日本語",
		"  a long one      one two three four five",
		"                  six",
		"",
		"Second",
		"1. word word word word word word word word",
		"   word word word word",
		"lazy 0    x",
		"lazy 1    x",
		"end",
		"",
	}
	if diff := gocmp.Diff(want, lines(t, d.Draw, 44, 12)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	if d.Len() != 11 || d.Position() != "" || d.Current() != nil {
		t.Errorf("%d lines, %q, on %v", d.Len(), d.Position(), d.Current())
	}
}

// Twelve thousand lines cost what is seen of them.
func TestManyIsLazy(t *testing.T) {
	made := 0
	d := write(40, 10, func(d *widget.Doc) {
		d.Section("Many")
		d.Many(12_000, func(i int) []text.Span { made++; return []text.Span{slot(fmt.Sprint(i))} })
	})
	d.Do(keymap.Down)
	d.Do(keymap.Bottom)
	if got := lines(t, d.Draw, 40, 10); got[9] != "11999" || made != 10 {
		t.Errorf("the last line is %q, and %d were made", got[9], made)
	}
	if d.Position() != "11992-12001/12001" || d.Current() != nil {
		t.Errorf("at %s on %v", d.Position(), d.Current())
	}
}

// items is a document of four items, the second of them three lines high, with texts
// that are none.
func items(d *widget.Doc) {
	d.Line(slot("intro"))
	for i, n := range []int{1, 3, 1, 1} {
		d.Item(fmt.Sprint("item ", i))
		for range n {
			d.Line(slot("of item"))
		}
		d.End()
		if i == 1 {
			for range 4 {
				d.Line(slot("text"))
			}
		}
	}
}

func TestItems(t *testing.T) {
	// 0 intro; 1 item 0; 2-4 item 1; 5-8 text; 9 item 2; 10 item 3
	d := write(40, 4, items)
	step := func(a keymap.Action, on any, top int) {
		t.Helper()
		d.Do(a)
		if d.Current() != on || d.Top() != top {
			t.Errorf("after %s: on %v from line %d, want %v from %d", a, d.Current(), d.Top(), on, top)
		}
	}
	step(keymap.None, "item 0", 0)
	step(keymap.Up, "item 0", 0)
	step(keymap.Down, "item 1", 1) // all of it is seen
	step(keymap.Down, "item 1", 2) // the next is out of view
	step(keymap.Down, nil, 3)      // its first line is, and there is no other
	step(keymap.Down, nil, 4)
	step(keymap.Down, nil, 5)
	step(keymap.Down, "item 2", 6)
	step(keymap.Down, "item 2", 7)
	step(keymap.Down, "item 3", 7)
	step(keymap.Down, "item 3", 7)
	step(keymap.Up, "item 2", 7)
	step(keymap.Top, "item 0", 0)
	step(keymap.Bottom, "item 3", 7)
	step(keymap.PageUp, nil, 4)
	step(keymap.PageUp, "item 1", 1)
	step(keymap.PageUp, "item 1", 0)
	step(keymap.PageUp, "item 0", 0)
	step(keymap.Down, "item 1", 1)
	if bar := styled(t, d.Draw, 40, 1); !strings.Contains(bar, pen().Selected.On) {
		t.Errorf("no bar: %q", bar)
	}
	if line := styled(t, d.Draw, 40, 0); strings.Contains(line, pen().Selected.On) {
		t.Errorf("a bar on another item: %q", line)
	}
}

func TestSearch(t *testing.T) {
	d := write(30, 5, func(d *widget.Doc) {
		d.Line(slot("Alpha beta"))
		d.Many(30, func(i int) []text.Span { return []text.Span{slot(fmt.Sprint("line ", i))} })
		d.Item("last")
		d.Line(text.Span{Text: "x", Width: 4}, slot("ALPHA "+hostile))
	})
	if d.Do(keymap.MatchNext) {
		t.Error("a next match of nothing")
	}
	if n := d.Search("alpha"); n != 2 || d.Top() != 0 || d.Searched() != "alpha" {
		t.Errorf("%d lines match, from line %d", n, d.Top())
	}
	p := pen()
	if line := styled(t, d.Draw, 30, 0); !strings.HasPrefix(line, p.Cursor.On+"Alpha") {
		t.Errorf("the match is not marked: %q", line)
	}
	if !d.Do(keymap.MatchNext) || d.Current() != "last" || d.Position() != "28-32/32" {
		t.Errorf("the next match is at %s, on %v", d.Position(), d.Current())
	}
	d.Do(keymap.MatchNext)
	if d.Top() != 0 {
		t.Errorf("round the end it is at line %d", d.Top())
	}
	d.Do(keymap.MatchPrev)
	d.Do(keymap.Top)
	if line := styled(t, d.Draw, 30, 0); !strings.HasPrefix(line, p.Match.On+"Alpha") {
		t.Errorf("another match is not marked: %q", line)
	}
	if n := d.Search("^[[31m"); n != 1 {
		t.Errorf("what is seen of a control is found %d times", n)
	}
	if n := d.Search("nowhere"); n != 0 {
		t.Errorf("%d lines match", n)
	}
	grows := write(30, 1, func(d *widget.Doc) { d.Line(slot("ȺȺȺ x")) }) // in lower case it has more bytes
	if n := grows.Search("x"); n != 1 || !strings.Contains(styled(t, grows.Draw, 30, 0), p.Cursor.On+"x") {
		t.Errorf("%d lines match: %q", n, styled(t, grows.Draw, 30, 0))
	}
	if d.Search("") != 0 || d.Searched() != "" {
		t.Error("a search without end")
	}
}

func TestPanning(t *testing.T) {
	d := write(20, 3, func(d *widget.Doc) {
		d.Line(text.Span{Text: "label", Width: 8}, slot(strings.Repeat("日本", 20)+"needle"+strings.Repeat(".", 90)))
	})
	if d.Do(keymap.Right) {
		t.Error("a document that does not move sideways did")
	}
	d.Pans = true
	d.Do(keymap.Right)
	if got := lines(t, d.Draw, 20, 1)[0]; got != "日本日本日本日本日…" {
		t.Errorf("8 cells to the right there is %q", got)
	}
	d.Search("needle")
	if got := lines(t, d.Draw, 20, 1)[0]; !strings.Contains(got, "needle") {
		t.Errorf("what was found is not in view: %q", got)
	}
	for range 20 {
		d.Do(keymap.Left)
	}
	if got := lines(t, d.Draw, 20, 1)[0]; !strings.HasPrefix(got, "label   日") {
		t.Errorf("back at the left: %q", got)
	}
}

// All moving keys move what is visible by the same number of lines in a table and in a
// document, with a cursor and without one.
func TestMovingIsTheSameEverywhere(t *testing.T) {
	const n, visible = 100, 11
	rows := make([]row, n)
	for i := range rows {
		rows[i].name = fmt.Sprint(i)
	}
	all := func(items bool) *widget.Doc {
		return write(40, visible, func(d *widget.Doc) {
			for i := range n {
				if items {
					d.Item(i)
				}
				d.Line(slot(fmt.Sprint(i)))
			}
		})
	}
	for name, keys := range map[string][]keymap.Action{
		"page down":         {keymap.PageDown},
		"page down and up":  {keymap.PageDown, keymap.PageDown, keymap.PageUp},
		"half a page":       {keymap.HalfDown, keymap.HalfDown, keymap.HalfDown, keymap.HalfUp},
		"to the end":        {keymap.Bottom},
		"beyond the end":    {keymap.Bottom, keymap.PageDown},
		"back from the end": {keymap.Bottom, keymap.PageUp, keymap.HalfUp},
		"beyond the start":  {keymap.PageDown, keymap.PageUp, keymap.PageUp},
		"to the start":      {keymap.PageDown, keymap.Top},
	} {
		tab, text, list := newTable(40, visible+1, rows...), all(false), all(true)
		for _, a := range keys {
			if !tab.Do(a) || !text.Do(a) || !list.Do(a) {
				t.Errorf("%s: %s is no moving key", name, a)
			}
		}
		first, last, total := tab.Visible()
		want := widget.Part(first, last, total)
		if text.Position() != want || list.Position() != want {
			t.Errorf("%s: the table shows %s, a text %s, a list %s", name, want, text.Position(), list.Position())
		}
	}
}

// Whatever is searched for, in whatever text: nothing hostile reaches the screen, no
// line is wider than it should be, and a match is there.
func FuzzSearch(f *testing.F) {
	f.Add("alpha", "an Alpha", 20, 3)
	f.Add("\x1b", hostile, 9, 0)
	f.Add("İ", "İi\u0307", 7, 1)
	f.Add("é", "e\u0301e", 2, 2)
	f.Add("日", "日本語", 3, 8)
	f.Fuzz(func(t *testing.T, what, in string, w, left int) {
		w, left = w&63, left&3
		d := write(w, 3, func(d *widget.Doc) {
			d.Field(in, theme.Style{}, in)
			d.Item(1)
			d.Paragraph(theme.Style{}, in)
			d.Many(3, func(int) []text.Span { return []text.Span{{Text: in, Width: 5}, slot(in)} })
		})
		d.Pans = true
		n := d.Search(what)
		if n == 0 && d.Searched() != "" && in == what && text.Width(in) <= 16 && !strings.ContainsAny(text.Clean(in), " ") {
			t.Errorf("%q is not found in itself", in)
		}
		for range left {
			d.Do(keymap.MatchNext)
			d.Do(keymap.Right)
		}
		for y := range 4 {
			line := styled(t, d.Draw, w, y)
			if rest := plain(line); strings.ContainsFunc(rest, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Errorf("not clean: %q", rest)
			}
		}
	})
}
