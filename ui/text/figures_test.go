package text_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

func TestTableOfFigures(t *testing.T) {
	rows := [][]text.Span{
		text.Each(theme.Style{}, "Status", "1", "0.4ms"),
		text.Each(theme.Style{}, "ListContainers", "日本", "12ms"),
		text.Each(theme.Style{}, "half"),
	}
	for _, tt := range []struct {
		name    string
		columns []text.Column
		want    string
	}{
		{"as wide as they need", []text.Column{{Head: "call", Left: true}, {Head: "n"}, {Head: "took"}}, `
call               n   took |
Status             1  0.4ms |
ListContainers  日本   12ms |
half           |
`},
		{"of fixed widths", []text.Column{{Head: "call", Width: 16, Left: true}, {Head: "n", Width: 6}, {Head: "took", Width: 7}}, `
call                n   took |
Status              1  0.4ms |
ListContainers   日本   12ms |
half            |
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got strings.Builder
			for _, line := range text.Figures(theme.Style{}, tt.columns, rows) {
				for _, s := range line {
					got.WriteString(text.Fit(s.Text, s.Width, "~"))
				}
				got.WriteString("|\n")
			}
			if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), got.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
