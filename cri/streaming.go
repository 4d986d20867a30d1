package cri

import (
	"context"
	"errors"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"

	"github.com/plegtop/plegtop/engine/call"
)

// A streaming remembers whether the runtime has the streaming form of one list
// call (KEP-5825). It believes a refusal for as long as the connection lasts
// that the refusal came on: behind the next one there may be a newer runtime.
type streaming struct {
	dialer  *dialer
	refused atomic.Uint64 // number of the connection; 0 if there was no refusal
}

// try makes the streaming call f unless it is known to be refused. It reports
// whether f answered the list, well or badly; if not, the plain call must.
func (s *streaming) try(ctx context.Context, f func(grpc.CallOption) error) (bool, error) {
	if n := s.refused.Load(); n != 0 && n == s.dialer.made.Load() {
		return false, nil
	}
	var p peer.Peer
	err := f(grpc.Peer(&p))
	if errors.Is(err, call.ErrUnimplemented) {
		if n, ok := p.LocalAddr.(connNumber); ok {
			s.refused.Store(uint64(n))
		}
		return false, nil
	}
	if t := call.TraceOf(ctx); t != nil {
		t.Streamed = err == nil
	}
	return true, err
}
