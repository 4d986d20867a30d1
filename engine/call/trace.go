package call

import (
	"context"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A Trace collects what the transport knows of one call and its caller does
// not. The caller puts it in the context with [WithTrace]; the transport fills
// it in before the call returns, so it may be read after that without a lock.
type Trace struct {
	RequestBytes  int64 // on the wire, after compression, without framing
	ResponseBytes int64

	// Anomalies counts what of the answer had to be left out or changed. It is
	// zero for a call that failed.
	Anomalies pleg.Anomalies
}

type traceKey struct{}

// WithTrace returns a context that carries t to the transport.
func WithTrace(ctx context.Context, t *Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceOf returns the trace that ctx carries, or nil.
func TraceOf(ctx context.Context) *Trace {
	t, _ := ctx.Value(traceKey{}).(*Trace)
	return t
}
