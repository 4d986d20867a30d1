package evidence

import (
	"cmp"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/knowledge"
)

// pluginProgram stands for all network plugins in the table of helpers.
const pluginProgram = "CNI plugin"

// IsPlugin reports whether a helper is a network plugin.
func (p *Process) IsPlugin() bool { return strings.HasPrefix(p.Verb, "CNI ") }

// HelperLimit returns how old a helper gets at most if nothing is wrong. It returns 0 for a helper that lasts
// as long as the program that it runs, as exec, run and events do, and for a helper whose limit is not known.
// On a node that is short of CPU helpers take a multiple of it.
func (p Process) HelperLimit() time.Duration {
	if p.IsPlugin() {
		return knowledge.ProgramLimit(pluginProgram)
	}
	return cmp.Or(knowledge.VerbLimit(p.Verb), knowledge.ProgramLimit(p.Verb))
}
