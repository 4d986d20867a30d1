package lines

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
)

// Check looks at the runtime and its node once, writes what is wrong to w in a
// single write and returns its exit code, [ExitCannotTell] with an error. look is a
// call of [engine.Examine] and must return when its context ends. A KubeletVersion
// that o leaves open is the node's own, where that is known. When ctx ends, a write
// that is stuck is left behind after a second.
func Check(ctx context.Context, w io.Writer, look func(context.Context) (*engine.Snapshot, error), o CheckOptions) (code int, err error) {
	s, err := look(ctx)
	if err != nil {
		return ExitCannotTell, err
	}
	if o.KubeletVersion == "" && s.Evidence != nil {
		o.KubeletVersion = s.Evidence.Kubelet.Version
	}
	u := within(diagnose.Once(s, o.Endpoint), o.Namespaces)
	if err := writeUntil(ctx, w, appendCheck(nil, u, o)); err != nil {
		return ExitCannotTell, fmt.Errorf("write the check: %w", err)
	}
	if o.NPD {
		return NPDExitCode(u), nil
	}
	return ExitCode(u), nil
}

// lastWrite is how long a write may go on after its context has ended.
const lastWrite = time.Second

// writeUntil writes b to w. A pipe that nobody reads may never take it: then the error
// is that of ctx, some time after its end.
func writeUntil(ctx context.Context, w io.Writer, b []byte) error {
	written := make(chan error, 1)
	go func() {
		_, err := w.Write(b)
		written <- err
	}()
	select {
	case err := <-written:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-written:
		return err
	case <-time.After(lastWrite):
		return ctx.Err()
	}
}
