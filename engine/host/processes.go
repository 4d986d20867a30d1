package host

import (
	"context"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

// walkTime leaves some of the limit for putting together what was found.
const walkTime = limit - 250*time.Millisecond

// processes is the part that tells what runs, and what the runtime and the
// kubelet use.
func processes(w *walker) part {
	return part{
		name: "processes",
		read: func(ctx context.Context) fill {
			ctx, cancel := context.WithTimeout(ctx, walkTime)
			defer cancel()
			found, usage := w.look(ctx, time.Now())
			return func(r *evidence.Report) {
				r.Processes = found
				r.Usage = append(r.Usage, usage...)
			}
		},
		missing: func(r *evidence.Report, err error) { r.Processes.Missing = err.Error() },
	}
}
