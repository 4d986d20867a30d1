package diagnose

import (
	"fmt"
	"slices"

	"github.com/plegtop/plegtop/engine/evidence"
)

// runs reports whether an errand was seen by the last look.
func (v *view) runs(p evidence.Process) bool {
	return slices.ContainsFunc(v.evidence.Processes.Errands, func(q evidence.Process) bool { return q.PID == p.PID })
}

// ran says how long an errand has run, alone or with those before it.
func (v *view) ran(p evidence.Process) string {
	if again := v.Memory.Repeats[p.Container]; again.Times > 1 && again.PID == p.PID {
		return fmt.Sprintf("is begun again and again for %s (pid %d last)", going(p.Age), p.PID)
	}
	return fmt.Sprintf("has run for %s (pid %d)", going(p.Age), p.PID)
}
