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

// HelperLimit returns how old a helper gets at most where nothing is wrong; 0 for one
// that lasts as long as what it runs, as exec, run and events do, and for one of which
// that is not known. A node that is short of CPU takes a multiple.
func (p Process) HelperLimit() time.Duration {
	if p.IsPlugin() {
		return knowledge.ProgramLimit(pluginProgram)
	}
	return cmp.Or(knowledge.VerbLimit(p.Verb), knowledge.ProgramLimit(p.Verb))
}
