package lines

import (
	"context"
	"fmt"
	"io"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
)

// A Look is where a check has its facts from. Both functions must return when
// their context ends.
type Look struct {
	Runtime func(context.Context) (*engine.Snapshot, error)
	Node    func(context.Context) *evidence.Report // may return nil
}

// Check looks at the runtime and at its node, side by side, judges, writes the
// result to w and returns its exit code, [ExitCannotTell] with an error. A
// KubeletVersion that o leaves open is the node's own, where that is known.
func Check(ctx context.Context, w io.Writer, look Look, o CheckOptions) (code int, err error) {
	looked := make(chan *evidence.Report, 1)
	go func() { looked <- look.Node(ctx) }()
	s, err := look.Runtime(ctx)
	if err != nil {
		return ExitCannotTell, err
	}
	r := CheckResult{Snapshot: s, Evidence: <-looked}
	r.Findings = diagnose.Diagnose(diagnose.Input{Snapshot: s, Evidence: r.Evidence, Endpoint: o.Endpoint})
	if o.KubeletVersion == "" && r.Evidence != nil {
		o.KubeletVersion = r.Evidence.Kubelet.Version
	}
	if err := WriteCheck(w, r, o); err != nil {
		return ExitCannotTell, fmt.Errorf("write the check: %w", err)
	}
	if o.NPD {
		return NPDExitCode(r), nil
	}
	return ExitCode(r.Findings), nil
}
