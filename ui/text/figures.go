package text

import (
	"strings"

	"github.com/plegtop/plegtop/ui/theme"
)

// A Column is one of a table of figures.
type Column struct {
	Head  string
	Width int  // with the gap after it; 0 for as many cells as the widest needs
	Left  bool // its texts stand at the left; figures stand at the right
}

// Figures returns a table as lines, of which the first has the heads in a look. A row may have
// fewer texts than there are columns.
func Figures(head theme.Style, columns []Column, rows [][]Span) (lines [][]Span) {
	heads := make([]Span, len(columns))
	for i, c := range columns {
		heads[i] = Say(head, c.Head)
	}
	all := append([][]Span{heads}, rows...)
	widths := make([]int, len(columns))
	for i, c := range columns {
		if widths[i] = c.Width; c.Width > 0 {
			continue
		}
		for _, row := range all {
			widths[i] = max(widths[i], Width(row[i].Text)+2)
		}
		if c.Left {
			widths[i]--
		}
	}
	for _, row := range all {
		line := make([]Span, len(row))
		for i, s := range row {
			if !columns[i].Left {
				s.Text = strings.Repeat(" ", max(0, widths[i]-1-Width(s.Text))) + s.Text
			}
			line[i] = s.In(widths[i])
		}
		lines = append(lines, line)
	}
	return lines
}

// Each returns a row of texts in one look.
func Each(st theme.Style, all ...string) []Span {
	row := make([]Span, len(all))
	for i, s := range all {
		row[i] = Say(st, s)
	}
	return row
}
