// Package cri speaks CRI v1 over gRPC with the container runtime of a node. [Discover] finds the
// runtime's socket. A [Client] makes the calls, measures them and turns the answers into the types
// of package pleg.
//
// A Client only reads: it calls Version, Status, ListPodSandbox, ListContainers, PodSandboxStatus,
// ContainerStatus and, in [Client.Events], GetContainerEvents. It never sets verbose, since that
// answer carries environment variables. A containerd without CRI is asked for its list of plugins,
// and [Discover] tries Version of v1alpha2.
//
// Every call returns by the deadline of its context. A call to a runtime that is not there fails
// at once. The client then tries to connect by itself, at most 4 s apart.
//
// The [call.Trace] counts all parts of an answer that had to be left out or changed. Texts from
// the runtime are valid UTF-8, but they may hold control characters.
package cri

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/grpclog"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// The kubelet's own limits for its connection, so that plegtop sees a runtime fail as the kubelet
// does (cri-client: baseBackoffDelay, maxBackoffDelay, minConnectionTimeout).
const (
	firstBackoff = 100 * time.Millisecond
	longBackoff  = 3 * time.Second
	handshake    = 5 * time.Second // for a runtime that accepts a connection and is silent
)

// service is the prefix of a method's full name. The name of an operation completes it.
const service = "/runtime.v1.RuntimeService/"

// gRPC writes about a GOAWAY and the like to standard error. That would be across the screen and
// in the output of check. Its logger can only be set here, before any call.
func init() { grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard)) }

// A Client makes CRI v1 calls to one runtime over one connection, which it opens with the first
// call and renews by itself. It is safe for concurrent use. A call that fails returns a *call.Error.
type Client struct {
	conn     *grpc.ClientConn
	path     string // of the socket
	dial     dialFunc
	patience time.Duration // how long a new connection may be silent

	sandboxes  *lister[pleg.ListedSandbox]
	containers *lister[pleg.ListedContainer]
}

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// Dial returns a client of the runtime that listens on endpoint: unix:///run/x.sock,
// unix:/run/x.sock or /run/x.sock. It does not connect, so it only fails for an endpoint that
// cannot be used. The caller closes the client.
func Dial(endpoint string) (*Client, error) {
	path, err := socketPath(endpoint)
	if err != nil {
		return nil, fmt.Errorf("endpoint %s: %w", endpoint, err)
	}
	return open(path, new(net.Dialer).DialContext, handshake)
}

func open(path string, dial dialFunc, patience time.Duration, more ...grpc.DialOption) (*Client, error) {
	c := &Client{
		path: path, dial: dial, patience: patience,
		sandboxes: newLister((*converter).listedSandbox), containers: newLister((*converter).listedContainer),
	}
	retry := backoff.DefaultConfig
	retry.BaseDelay, retry.MaxDelay = firstBackoff, longBackoff
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return dial(ctx, "unix", path) }),
		grpc.WithAuthority("localhost"), // some servers refuse a path there
		grpc.WithIdleTimeout(0),         // a pause, however long, keeps the connection
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: retry, MinConnectTimeout: patience}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageLimit), grpc.ForceCodecV2(codec{encoding.GetCodecV2("proto")})),
		grpc.WithMaxHeaderListSize(partLimit), // an error comes in a header
		grpc.WithUserAgent("plegtop"),
	}
	var err error
	// passthrough: no resolver decides where the client connects.
	c.conn, err = grpc.NewClient("passthrough:///runtime", append(options, more...)...)
	return c, err
}

// Close ends the connection. Calls in flight fail with [call.ErrCanceled]. [Client.Events] goes on
// until its context ends.
func (c *Client) Close() error { return c.conn.Close() }

// ask makes one call and hands the answer to read, which keeps none of its bytes. It counts the
// bytes, and the changes that read had to make, in the trace.
func ask[T any](ctx context.Context, c *Client, op call.Operation, request proto.Message, read func(*converter, []byte) (T, error)) (T, error) {
	var none T
	var wire mem.Buffer
	err := c.conn.Invoke(ctx, service+op.String(), request, &wire)
	trace := cmp.Or(call.TraceOf(ctx), new(call.Trace))
	trace.RequestBytes += int64(proto.Size(request))
	if err != nil {
		return none, c.explain(ctx, op, err)
	}
	defer wire.Free()
	trace.ResponseBytes += int64(wire.Len())
	var found converter
	answer, err := read(&found, wire.ReadOnlyData())
	if err != nil {
		return none, unusable(op, err)
	}
	trace.Anomalies = trace.Anomalies.Add(found.Anomalies)
	return answer, nil
}
