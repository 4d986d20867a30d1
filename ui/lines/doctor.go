package lines

import (
	"context"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
)

// Doctor returns what says, update by update, what is wrong: [Options.Diagnose]
// for a live engine. It asks next, which waits for the next look at the node and
// may be nil, until that fails or ctx ends. What it returns is for one goroutine.
func Doctor(ctx context.Context, next func(context.Context) (evidence.Report, error), endpoint string) func(engine.Update) []diagnose.Finding {
	looks := make(chan *evidence.Report)
	if next != nil {
		go keepLooking(ctx, next, looks)
	}
	in := diagnose.Input{History: diagnose.NewHistory(), Endpoint: endpoint}
	return func(u engine.Update) []diagnose.Finding {
		select {
		case in.Evidence = <-looks:
			in.History.AddReport(in.Evidence)
		default:
		}
		in.Snapshot = u.Snapshot
		in.History.Add(u)
		return diagnose.Diagnose(in)
	}
}

func keepLooking(ctx context.Context, next func(context.Context) (evidence.Report, error), looks chan<- *evidence.Report) {
	for r, err := next(ctx); err == nil; r, err = next(ctx) {
		select {
		case looks <- &r:
		case <-ctx.Done():
			return
		}
	}
}
