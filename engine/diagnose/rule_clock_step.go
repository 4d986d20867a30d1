package diagnose

import "time"

// ClockStep is a clock of the node that somebody set.
const ClockStep ID = "clock-step"

const (
	// stepLeast is a step that is worth a word: time synchronisation slews below a second; twice that is no rounding either.
	stepLeast = 2 * time.Second
	// stepFor is how long it is reported: ages of what was made around the step are wrong for about as long.
	stepFor = 30 * time.Minute
)

// Wall clock and monotonic clock part.
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
