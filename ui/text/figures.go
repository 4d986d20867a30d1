package text

import (
	"slices"
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
	first := make([]Span, len(columns))
	for i, c := range columns {
		first[i] = Say(head, c.Head)
	}
	all := append([][]Span{first}, rows...)
	for _, row := range all {
		lines = append(lines, slices.Clone(row))
	}
	for i, c := range columns {
		w, gap := c.Width, 2
		if c.Left {
			gap = 1
		}
		for _, row := range all {
			if c.Width == 0 && i < len(row) {
				w = max(w, Width(row[i].Text)+gap)
			}
		}
		for _, line := range lines {
			if i >= len(line) {
				continue
			}
			if !c.Left {
				line[i].Text = strings.Repeat(" ", max(0, w-1-Width(line[i].Text))) + line[i].Text
			}
			line[i].Width = w
		}
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
