package report

import (
	"slices"
	"testing"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
)

// Where something hangs, check says of the processes, too, why there are none and what to add.
func TestReadTellsOfMissingProcesses(t *testing.T) {
	const hint = "give the pod hostPID: true"
	read := func(p evidence.Processes) []string {
		return told(Sources(Form{Brief: true}, &engine.Snapshot{Evidence: &evidence.Report{Processes: p, Deep: &evidence.Deep{}}})[0])
	}
	for _, p := range []evidence.Processes{{Partial: hint}, {Missing: hint}} {
		if all := read(p); !slices.Contains(all, "processes: "+hint) {
			t.Errorf("%q", all)
		}
	}
	if all := read(evidence.Processes{}); slices.ContainsFunc(all, func(said string) bool { return said == "processes: " }) {
		t.Errorf("where none are missing: %q", all)
	}
}
