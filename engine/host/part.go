package host

import (
	"context"

	"github.com/plegtop/plegtop/engine/evidence"
)

// A part is one kind of evidence. Whoever adds one writes a function that
// returns it, and adds that to the list in [New].
type part struct {
	name string

	// read looks at the node and returns what puts the outcome into a report. It
	// may hang, for it has a goroutine of its own; of one part it never runs
	// twice at once. Its context ends at the limit.
	read func(context.Context) fill

	// missing says in a report why read has not come back.
	missing func(*evidence.Report, error)
}

// A fill puts what was read into a report. It may be called more than once, by
// whoever waited for the same read, and so changes nothing else.
type fill = func(*evidence.Report)

// start begins to read the part, or joins the read that is out. So it does not
// end with ctx, which is only that of the first who waits.
func (n *Node) start(ctx context.Context, p part) *read[fill] {
	ctx = context.WithoutCancel(ctx)
	return start(&n.reads, p.name, func() fill {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return p.read(ctx)
	})
}
