package e2e

import (
	"errors"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
)

// A recorder stands between plegtop and the runtime, passes every call on
// unchanged, and keeps what was asked.
type recorder struct {
	socket string
	conn   *grpc.ClientConn

	mu    sync.Mutex
	asked []request // guarded by mu
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
	r := &recorder{socket: filepath.Join(t.TempDir(), "s"), conn: conn}
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
	r.mu.Lock()
	r.asked = append(r.asked, request{method, message})
	r.mu.Unlock()
	out, err := r.conn.NewStream(in.Context(), &grpc.StreamDesc{ServerStreams: true}, method, grpc.ForceCodecV2(asIs{}))
	if err != nil {
		return err
	}
	if err := out.SendMsg(&message); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err := out.CloseSend(); err != nil {
		return err
	}
	return answer(in, out)
}

func answer(in grpc.ServerStream, out grpc.ClientStream) error {
	for {
		var message []byte
		err := out.RecvMsg(&message)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := in.SendMsg(&message); err != nil {
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
