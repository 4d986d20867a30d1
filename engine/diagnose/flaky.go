package diagnose

import (
	"github.com/plegtop/plegtop/engine/answers"
)

// awayLately reports whether the runtime is away, or was within [answers.FlakyFor].
func (v *view) awayLately() bool { return v.Memory.Outages.Away || v.outages().Outages > 0 }

// outages returns how often the runtime went away within [answers.FlakyFor].
func (v *view) outages() answers.Flakiness {
	all, since := v.Memory.Outages.Since(answers.FlakyFor, v.At)
	if len(all) == 0 {
		return answers.Flakiness{}
	}
	return answers.Flakiness{Failed: since.Failed, All: since.All, Outages: len(all), Since: all[0].At}
}
