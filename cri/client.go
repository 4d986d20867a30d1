// Package cri speaks CRI v1 over gRPC with the container runtime of a node: it
// finds the endpoint ([Discover]), makes the calls and measures them
// ([Client]), and turns the answers into the words of package pleg.
//
// A Client only ever reads. It makes the calls Version, Status, ListPodSandbox,
// ListContainers, PodSandboxStatus and ContainerStatus, with [Client.Events]
// GetContainerEvents, and nothing else; it never asks for the verbose answer,
// which carries environment variables.
//
// Blocking: every call returns by the deadline of its context. Dial does not
// block, and a call to a runtime that is not there fails at once. From then on
// the client tries to connect by itself, at most 4 s apart, so that calls
// succeed again soon after the runtime is back.
//
// Loss: whatever an answer held that could not be used, or had to be changed, is
// counted in the [call.Trace], and what an event stream had that was not handed
// on in the event after it. Texts from the runtime are valid UTF-8 but not
// cleaned; those in an error of Discover are.
package cri

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/grpclog"
	"google.golang.org/grpc/stats"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// The kubelet's own limits for its connection to the runtime, so that plegtop
// sees a runtime fail as the kubelet does.
const (
	firstBackoff = 100 * time.Millisecond
	longBackoff  = 3 * time.Second
	handshake    = 5 * time.Second // for a runtime that accepts a connection and then says nothing

	// eventsHandshake is shorter: what has been opened for a second counts as open.
	eventsHandshake = 900 * time.Millisecond
)

// gRPC would write of a GOAWAY and the like to standard error, across the screen
// and into what check prints. Only here, before any call, may that be set.
func init() { grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard)) }

// A Client makes CRI v1 calls to one runtime, over one connection that it makes
// with the first call and renews by itself. It is safe for concurrent use.
// Failed calls return a *call.Error. What of an answer had to be left out or
// changed is counted in the [call.Trace] of the call.
type Client struct {
	conn   *grpc.ClientConn
	rpc    runtimev1.RuntimeServiceClient
	dialer *dialer
	alive  context.Context // ends when the client is closed
	end    context.CancelFunc
	noCRI  plugged

	sandboxes  *known[pleg.ListedSandbox]
	containers *known[pleg.ListedContainer]
}

// Dial returns a client of the runtime that listens on endpoint, in any form
// that [ParseEndpoint] takes. It does not connect and so fails only for an
// endpoint that can't be used. The caller closes the client.
func Dial(endpoint string) (*Client, error) {
	path, err := ParseEndpoint(endpoint)
	if err != nil {
		return nil, err
	}
	return open(path, new(net.Dialer).DialContext, handshake)
}

// open gives the runtime so long to say its first words on a new connection.
func open(path string, dial dialFunc, patience time.Duration, more ...grpc.DialOption) (*Client, error) {
	c := &Client{
		dialer:    &dialer{path: path, dial: dial, patience: patience},
		sandboxes: newKnown(readSandbox), containers: newKnown(readContainer),
	}
	c.alive, c.end = context.WithCancel(context.Background())
	// No resolver has a say in where the client connects; see dialer.connect.
	conn, err := grpc.NewClient("passthrough:///runtime", append(c.options(), more...)...)
	if err != nil {
		return nil, err
	}
	c.conn, c.rpc = conn, runtimev1.NewRuntimeServiceClient(conn)
	return c, nil
}

func (c *Client) options() []grpc.DialOption {
	retry := backoff.DefaultConfig
	retry.BaseDelay, retry.MaxDelay = firstBackoff, longBackoff
	return []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(c.dialer.connect),
		grpc.WithAuthority("localhost"), // some servers refuse a path there
		grpc.WithNoProxy(),
		grpc.WithDisableServiceConfig(),
		grpc.WithIdleTimeout(0), // a pause, however long, keeps the connection
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: retry, MinConnectTimeout: c.dialer.patience}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageLimit), grpc.ForceCodecV2(codec{encoding.GetCodecV2("proto")})),
		grpc.WithMaxHeaderListSize(smallLimit), // in which an error comes
		grpc.WithUserAgent("plegtop"),
		grpc.WithStatsHandler(meter{}),
		grpc.WithUnaryInterceptor(c.explainUnary),
	}
}

// Close ends the connection; calls in flight fail with [call.ErrCanceled].
func (c *Client) Close() error {
	c.end()
	return c.conn.Close()
}

// Version returns what the runtime says of itself.
func (c *Client) Version(ctx context.Context) (pleg.Version, error) {
	answer, err := c.rpc.Version(ctx, &runtimev1.VersionRequest{Version: kubeletAPIVersion})
	if err != nil {
		return pleg.Version{}, err
	}
	v, found := convertVersion(answer)
	note(ctx, found)
	return v, nil
}

// kubeletAPIVersion is what the kubelet sends with its Version call.
const kubeletAPIVersion = "0.1.0"

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// A dialer makes the connections of one client, one after the other. It counts
// them, so that what was learned on one is not believed of the next, and it
// keeps the last failure, which gRPC would only pass on as a text.
type dialer struct {
	path     string
	dial     dialFunc
	patience time.Duration         // until the first words of the runtime on a connection
	made     atomic.Uint64         // the number of the newest connection
	last     atomic.Pointer[error] // of the last attempt; points to nil if it succeeded
}

// connect has the form that gRPC wants; the address is always the client's own.
func (d *dialer) connect(ctx context.Context, _ string) (net.Conn, error) {
	conn, err := d.dial(ctx, "unix", d.path)
	d.last.Store(&err)
	if err != nil {
		return nil, err
	}
	d.made.Add(1)
	return conn, nil
}

// failure returns why the last attempt failed, nil if it did not.
func (d *dialer) failure() error {
	if err := d.last.Load(); err != nil {
		return *err
	}
	return nil
}

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
