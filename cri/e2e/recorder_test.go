//go:build linux

package e2e

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// A recorder stands between plegtop and the runtime, passes every call on
// unchanged, and keeps what was asked.
type recorder struct {
	socket string
	conn   *grpc.ClientConn

	mu     sync.Mutex // guards the rest
	asked  []request
	events map[int]context.CancelFunc // what cuts each event stream that is open
	most   int                        // of them at the same time
	slow   time.Duration              // the longest that an answer had to wait for plegtop
}

// A request is one call as it came in: the full method name, and the message.
type request struct {
	method  string
	message []byte
}

func record(t *testing.T, runtime string) *recorder {
	t.Helper()
	conn, err := grpc.NewClient("unix://"+runtime, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	r := &recorder{socket: filepath.Join(t.TempDir(), "s"), conn: conn, events: map[int]context.CancelFunc{}}
	listener, err := net.Listen("unix", r.socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.ForceServerCodecV2(asIs{}), grpc.UnknownServiceHandler(r.relay))
	t.Cleanup(server.Stop)
	go server.Serve(listener) // returns when the server is stopped
	return r
}

func (r *recorder) requests() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]request(nil), r.asked...)
}

// relay serves every method: one request, then any number of answers, which is
// what all calls of the RuntimeService are, streams included.
func (r *recorder) relay(_ any, in grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(in)
	var message []byte
	if err := in.RecvMsg(&message); err != nil {
		return err
	}
	ctx, end := r.begin(in.Context(), request{method, message})
	defer end()
	out, err := r.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method, grpc.ForceCodecV2(asIs{}))
	if err != nil {
		return err
	}
	if err := out.SendMsg(&message); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err := out.CloseSend(); err != nil {
		return err
	}
	return r.answer(in, out)
}

// begin keeps a request, and has an event stream be one that can be cut.
func (r *recorder) begin(ctx context.Context, asked request) (context.Context, func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, asked)
	if asked.method != criv1.RuntimeService_GetContainerEvents_FullMethodName {
		return ctx, func() {}
	}
	ctx, cut := context.WithCancel(ctx)
	id := len(r.asked)
	r.events[id] = cut
	r.most = max(r.most, len(r.events))
	return ctx, func() {
		cut()
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.events, id)
	}
}

// streams returns how many event streams there ever were, are, and were at the same time.
func (r *recorder) streams() (ever, open, most int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.asked {
		if a.method == criv1.RuntimeService_GetContainerEvents_FullMethodName {
			ever++
		}
	}
	return ever, len(r.events), r.most
}

// cut breaks the event streams that are open.
func (r *recorder) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, cut := range r.events {
		cut()
	}
}

func (r *recorder) longestSend() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.slow
}

func (r *recorder) answer(in grpc.ServerStream, out grpc.ClientStream) error {
	for {
		var message []byte
		err := out.RecvMsg(&message)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		began := time.Now()
		err = in.SendMsg(&message)
		r.mu.Lock()
		r.slow = max(r.slow, time.Since(began))
		r.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

// asIs is the codec of a *[]byte that holds a message already encoded.
type asIs struct{}

func (asIs) Name() string { return "proto" }

func (asIs) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (asIs) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}
