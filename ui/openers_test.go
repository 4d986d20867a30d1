package ui

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What can be left out, or sorted by, the panes themselves tell.
func TestColumns(t *testing.T) {
	got := map[string]string{}
	for name, columns := range Columns() {
		got[name] = strings.Join(columns, " ")
	}
	want := map[string]string{
		"pods":   "namespace pod state run ctrs exit rst age lastevent inspect worst remark",
		"events": "time event from pod container exit lag channel",
		"calls":  "operation last-ok p50 p90 p99 max out count bytes gone err latency",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
