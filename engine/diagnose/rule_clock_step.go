package diagnose

import "time"

// ClockStep is a clock of the node that somebody set.
const ClockStep ID = "clock-step"

const (
	// A step of at least stepLeast is worth a finding: time synchronisation slews the clock for less than a second, and
	// twice that is no rounding error either.
	stepLeast = 2 * time.Second
	// stepFor is how long a step is reported: the ages of things that were made around the step are wrong for about as
	// long.
	stepFor = 30 * time.Minute
)

// The rule applies when the wall clock has moved away from the monotonic clock by a step.
var clockStep = Rule{
	ID: ClockStep,
	Find: func(f *Facts, report func(Match)) {
		c := f.Look.Clock
		if c.Steps == 0 || c.Step.Abs() < stepLeast || c.StepAge > stepFor {
			return
		}
		way := "forward"
		if c.Step < 0 {
			way = "back"
		}
		report(Match{Severity: Warning, Values: Values{
			"way": way, "by": c.Step.Abs(), "age": age(c.StepAge), "steps": many{c.Steps, "step"}, "watched": age(c.Watched),
		}})
	},
}
