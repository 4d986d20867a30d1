package engine

import (
	"context"
	"time"
)

// An Examination says how [Examine] looks at a runtime.
type Examination struct {
	Timeout  time.Duration   // of each status call; default 2 s. Lists, Status and Version get four times as much
	Width    int             // status calls out at once; default 4
	Deadline time.Duration   // of the whole; default 20 s
	Progress func(*Snapshot) // called now and then from one goroutine, if not nil; must return soon
}

// Examine looks at a runtime once and returns what it saw as a snapshot with a
// [Sweep], by the deadline at the latest, however the runtime behaves. Failures
// are in the snapshot. It is what one relist of a kubelet that has just started
// would see, but for the inspections, which are made a few at a time.
func Examine(ctx context.Context, c Config, x Examination) (*Snapshot, error) { return nil, nil }
