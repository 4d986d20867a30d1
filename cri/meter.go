package cri

import (
	"context"

	"google.golang.org/grpc/stats"

	"github.com/plegtop/plegtop/engine/call"
)

// A meter adds the size of every message to the [call.Trace] of its call. gRPC
// reports messages in the goroutine that makes the call, so no lock is needed.
type meter struct{}

func (meter) HandleRPC(ctx context.Context, s stats.RPCStats) {
	t := call.TraceOf(ctx)
	if t == nil {
		return
	}
	switch s := s.(type) {
	case *stats.OutPayload:
		t.RequestBytes += int64(s.CompressedLength)
	case *stats.InPayload:
		t.ResponseBytes += int64(s.CompressedLength)
	}
}

func (meter) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (meter) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (meter) HandleConn(context.Context, stats.ConnStats)                       {}
