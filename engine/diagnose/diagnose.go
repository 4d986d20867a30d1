package diagnose

import (
	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
)

// An Input is all that a diagnosis goes by.
type Input struct {
	Snapshot *engine.Snapshot // must be there
	History  *History         // of what came before, the snapshot's own update included; nil for none
	Evidence *evidence.Report // of the node; nil if nobody looked
	Endpoint string           // of the runtime, for commands; may be empty
}

// Diagnose returns what is wrong, causes before their effects, the worst cause
// first; nil for a healthy node. Equal inputs give equal findings. It does not
// change its input, and may be called from any goroutine as long as nobody adds
// to the History.
func Diagnose(in Input) []Finding { return nil }
