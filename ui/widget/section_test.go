package widget

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// all returns sections with every kind of row.
func all() []Section {
	head := Section{Rows: []Row{{
		Mark: text.Say(theme.Style{}, "x bad:").In(7), Hang: 2, Spans: []text.Span{text.Say(theme.Style{}, "what is wrong with all of it")},
	}}}
	table := Section{Title: "Table", Word: "table"}
	table.Lines([][]text.Span{{text.Say(theme.Style{}, "one").In(6), text.Say(theme.Style{}, " 17").In(4)}, {text.Say(theme.Style{}, "two").In(6)}})
	head.Add(Fact("empty", Plain, ""), Fact("held by", Bad, "runc update"))
	return []Section{
		head,
		{Title: "Nothing"},
		{Title: "Evidence", Word: "evidence", Rows: []Row{
			{Mark: text.Say(theme.Style{}, "  -").In(4), Spans: []text.Span{text.Say(theme.Style{}, "it is out for a long time")}},
			{Mark: text.Say(theme.Style{}, "  -").In(4), Spans: []text.Span{{Width: 2}, text.Say(theme.Style{}, "and so is that")}},
		}},
		{Title: "Next", Word: "next", Rows: []Row{
			{Mark: text.Say(theme.Style{}, "  1").In(5), Spans: []text.Span{text.Say(theme.Style{}, "look")}, Command: "cat /proc/4711/stack /proc/4711/wchan"},
			{Label: "cut", Command: "kill 1"},
		}},
		table,
	}
}

func TestSectionsForScreenAndText(t *testing.T) {
	plain := theme.Theme{Symbols: theme.Unicode}
	for _, tt := range []struct {
		name  string
		doc   Doc
		width int
		want  string
	}{
		{"on the screen", Doc{Labels: 10}, 30, `
x bad: what is wrong with all
  of it
  held by ✖ runc update

Evidence
  - it is out for a long time
  -   and so is that

Next
  1  look
     cat /proc/4711/stack
     /proc/4711/wchan
  cut     kill 1

Table
  one    17
  two
`},
		{"as text for a terminal", Doc{Labels: 10, Beside: true, Indent: 2}, 30, `
  x bad: what is wrong with
    all of it
  held by   ✖ runc update
  evidence  it is out for a
            long time
              and so is that
  next      look
            $ cat /proc/4711/stack /proc/4711/wchan
  cut       $ kill 1
  table     one    17
            two
`},
		{"as text for a pipe", Doc{Labels: 10, Beside: true}, 0, `
x bad: what is wrong with all of it
held by   ✖ runc update
evidence  it is out for a long time
            and so is that
next      look
          $ cat /proc/4711/stack /proc/4711/wchan
cut       $ kill 1
table     one    17
          two
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.doc.Write(Pen{Theme: &plain}, tt.width, 0, func(d *Doc) { d.Sections(all()...) })
			if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), string(tt.doc.Append(nil))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
