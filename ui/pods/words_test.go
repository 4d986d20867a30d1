package pods

import (
	"fmt"
	"testing"

	"github.com/plegtop/plegtop/engine/pleg"
)

func TestRan(t *testing.T) {
	for _, tt := range []struct {
		running, wanted int
		want            string
	}{{0, 0, "0/0"}, {1, 2, "1/2"}, {99, 100, "99/+"}, {0, 411, "0/411"}, {0, 4110, "0/4k"}, {3999, 4110, "3k/4k"}, {7, 20_000, "7/20k"}, {412, 20_000, "412/+"}} {
		if got := ran(tt.running, tt.wanted, 5); got != tt.want {
			t.Errorf("%d of %d: %q, want %q", tt.running, tt.wanted, got, tt.want)
		}
	}
}

func TestRecordRowsShowBothEnds(t *testing.T) {
	was := &pleg.Pod{Containers: []pleg.Container{{ID: "1", Name: "a", State: pleg.Running}, {ID: "2", Name: "b", State: pleg.Running}}}
	now := &pleg.Pod{Sandboxes: []pleg.Sandbox{{ID: "s", State: pleg.Running}}, Containers: []pleg.Container{{ID: "2", Name: "b", State: pleg.Exited}}}
	got := ""
	for _, r := range recordRows([2]*pleg.Pod{was, now}) {
		got += fmt.Sprintf("%s %v %v\n", r.what, r.states[0], r.states[1])
	}
	if want := "a running absent\nb running exited\nsandbox absent running\n"; got != want {
		t.Errorf("rows:\n%swant:\n%s", got, want)
	}
}
