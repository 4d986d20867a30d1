package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/ui/text"
	"github.com/plegtop/plegtop/ui/theme"
)

// However narrow the place is, no line ends between the name of a figure and the figure.
func TestFiguresKeepTheirNames(t *testing.T) {
	c := answers.Calls{Op: call.ContainerStatus, Count: 9, P50: time.Millisecond, P90: 352 * time.Millisecond, P99: 61 * time.Second, Max: 119 * time.Second}
	for w := range 60 {
		var said []string
		for _, r := range Operation(Form{Theme: new(theme.Default()), Width: w}, &engine.Snapshot{}, &c)[0].Rows {
			if line := r.Spans[0].Text; strings.HasPrefix(line, "p") || strings.HasPrefix(line, "max") {
				if said = append(said, strings.Split(line, "   ")...); text.Width(line) > max(w, len("p90 352ms")) {
					t.Errorf("%d cells: %q", w, line)
				}
			}
		}
		if want := []string{"p50 1ms", "p90 352ms", "p99 1m1s", "max 1m59s"}; !slices.Equal(said, want) {
			t.Errorf("%d cells: %q, want %q", w, said, want)
		}
	}
}
