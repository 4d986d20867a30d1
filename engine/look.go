package engine

import (
	"context"

	"github.com/plegtop/plegtop/engine/evidence"
)

// A Look looks at the node and returns what it saw. After an error, which is the cause of
// its context, it is not asked again.
type Look func(ctx context.Context, ask Looking) (*evidence.Report, error)

// A Looking asks for one look at the node.
type Looking struct {
	Deep   bool     // also for what is read only where something hangs, the report's Deep
	Missed []string // containers that are listed as running, by id, and had no process in the last look: who holds their root file systems is looked for
}
