package pane

import (
	"slices"
	"strings"
	"testing"

	"github.com/plegtop/plegtop/ui/theme"
)

// A filter is named in titles, and leaves room for what stands behind it.
func TestFiltered(t *testing.T) {
	look := theme.Default()
	for _, tt := range []struct {
		filter Filter
		want   []string
	}{
		{Filter{}, nil},
		{Filter{Text: "ns:shop  !api"}, []string{"/ns:shop  !api"}},
		{Filter{Text: strings.Repeat("a", 1500)}, []string{"/" + strings.Repeat("a", 38) + "…"}},
		{Filter{Text: "x", Namespaces: slices.Repeat([]string{"kube-system"}, 9)}, []string{"/x", "ns:kube-system,kube-system,kube-system,…"}},
	} {
		v := View{Theme: &look, Filter: tt.filter}
		var got []string
		for _, s := range v.Filtered() {
			got = append(got, s.Text)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
