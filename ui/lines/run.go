package lines

import (
	"context"
	"fmt"
	"io"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
)

// Check looks at the runtime and its node once, writes what is wrong to w and
// returns its exit code, [ExitCannotTell] with an error. look is a call of
// [engine.Examine] and must return when its context ends. A KubeletVersion that o
// leaves open is the node's own, where that is known.
func Check(ctx context.Context, w io.Writer, look func(context.Context) (*engine.Snapshot, error), o CheckOptions) (code int, err error) {
	s, err := look(ctx)
	if err != nil {
		return ExitCannotTell, err
	}
	if o.KubeletVersion == "" && s.Evidence != nil {
		o.KubeletVersion = s.Evidence.Kubelet.Version
	}
	u := diagnose.Once(s, o.Endpoint)
	if err := WriteCheck(w, u, o); err != nil {
		return ExitCannotTell, fmt.Errorf("write the check: %w", err)
	}
	if o.NPD {
		return NPDExitCode(u), nil
	}
	return ExitCode(u.Findings), nil
}
