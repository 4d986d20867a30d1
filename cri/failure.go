package cri

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/call"
)

// methods names every method that a client calls. A test holds it against what
// a server sees.
var methods = map[string]call.Operation{
	runtimev1.RuntimeService_Version_FullMethodName:          call.Version,
	runtimev1.RuntimeService_Status_FullMethodName:           call.Status,
	runtimev1.RuntimeService_ListPodSandbox_FullMethodName:   call.ListPodSandbox,
	runtimev1.RuntimeService_ListContainers_FullMethodName:   call.ListContainers,
	runtimev1.RuntimeService_PodSandboxStatus_FullMethodName: call.PodSandboxStatus,
	runtimev1.RuntimeService_ContainerStatus_FullMethodName:  call.ContainerStatus,
	getEvents:          call.GetContainerEvents,
	alphaVersionMethod: call.Version,
}

func (c *Client) explainUnary(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, next grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	err := c.explain(ctx, method, next(ctx, method, req, reply, conn, opts...))
	if e, ok := errors.AsType[*call.Error](err); ok && errors.Is(e.Kind, call.ErrUnimplemented) && strings.Contains(e.Text, "unknown service "+runtimev1.RuntimeService_ServiceDesc.ServiceName) {
		if why := c.noCRI.because(ctx, c); why != "" {
			e.Text = why
		}
	}
	return err
}

// explain turns what gRPC says of a call into a *call.Error. It leaves nil and
// io.EOF, the good end of a stream, alone.
func (c *Client) explain(ctx context.Context, method string, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	s := status.Convert(err)
	e := &call.Error{Op: methods[method], Kind: kindOf(s), Code: s.Code().String(), Text: cut(s.Message())}
	switch s.Code() {
	case codes.Internal:
		explainUnread(e)
	case codes.Unavailable:
		c.explainDial(e)
		if errors.Is(e.Kind, call.ErrUnavailable) && slices.ContainsFunc(connectionLost, func(w string) bool { return strings.Contains(e.Text, w) }) {
			e.Why = call.Broken
		}
	case codes.Canceled, codes.DeadlineExceeded:
		c.explainEnd(ctx, e)
	}
	return e
}

// connectionLost begins or is part of what gRPC says where it was not the runtime
// that answered so: its connection broke.
var connectionLost = []string{"error reading from server", "transport is closing", "closing transport", "connection error", "the connection is draining"}

// explainDial gives the reason why there is no connection, in the system's own
// words, in place of gRPC's account of it.
func (c *Client) explainDial(e *call.Error) {
	err := c.dialer.failure()
	if err == nil {
		if strings.Contains(e.Text, "server preface") && strings.Contains(e.Text, net.ErrClosed.Error()) { // by gRPC, which has waited long enough
			e.Kind, e.Text = call.ErrSilent, fmt.Sprintf("the socket takes a connection and says nothing on it for %v", c.dialer.patience)
		}
		return
	}
	e.Text = err.Error()
	if errors.Is(err, fs.ErrPermission) {
		e.Kind = call.ErrPermission
	}
}

// explainUnread tells an answer that came and could not be read from a runtime that
// failed.
func explainUnread(e *call.Error) {
	why, unread := strings.CutPrefix(e.Text, "grpc: failed to unmarshal the received message: ")
	switch {
	case !unread:
	case strings.HasPrefix(why, tooMuch):
		e.Kind, e.Code, e.Text = call.ErrTooLarge, codes.ResourceExhausted.String(), why
	default: // gRPC here gave the code; protobuf writes a space of another kind now and then, so that nobody relies on its words
		e.Kind, e.Code, e.Text = call.ErrUnreadable, "", "unreadable answer: "+strings.ReplaceAll(why, "\u00a0", " ")
	}
}

// explainEnd finds out who ended the call. When a deadline passes, the server's
// own timer may win the race and end or reset the stream: what arrives then may speak
// of RST_STREAM and CANCEL, and means our deadline.
func (c *Client) explainEnd(ctx context.Context, e *call.Error) {
	switch ended := ctx.Err(); {
	case errors.Is(ended, context.DeadlineExceeded):
		*e = *call.NoAnswer(e.Op, call.Expired, ended.Error())
	case ended != nil, c.alive.Err() != nil && e.Code == codes.Canceled.String():
		e.Kind, e.Code = call.ErrCanceled, codes.Canceled.String()
	case e.Code == codes.DeadlineExceeded.String() && (strings.Contains(e.Text, "RST_STREAM") || e.Text == context.DeadlineExceeded.Error()):
		*e = *call.NoAnswer(e.Op, call.Expired, context.DeadlineExceeded.Error())
	}
}

// kindOf returns what a status means as far as its code and text alone say.
// A runtime that cancels a call which we did not is a failure like any other.
func kindOf(s *status.Status) call.Kind {
	switch s.Code() {
	case codes.Unavailable:
		return call.ErrUnavailable
	case codes.PermissionDenied, codes.Unauthenticated:
		return call.ErrPermission
	case codes.DeadlineExceeded:
		return call.ErrDeadline
	case codes.NotFound:
		return call.ErrNotFound
	case codes.Unimplemented:
		return call.ErrUnimplemented
	case codes.ResourceExhausted: // also of a runtime that ran out of something else
		if strings.Contains(s.Message(), tooMuch) { // over the limit, of ours or of the server's
			return call.ErrTooLarge
		}
	}
	return call.ErrOther
}

// pluginsMethod is containerd's own list of its plugins, with the error of each that
// did not start (api/services/introspection/v1 of containerd 1.3 and later).
const pluginsMethod = "/containerd.services.introspection.v1.Introspection/Plugins"

// failedPlugin asks containerd why it serves no CRI; empty if it does not say, or is
// none. Of one that has not answered within a second it is not known.
func (c *Client) failedPlugin(ctx context.Context) (why string, answered bool) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	var all plugins
	// A request without filters has no bytes, as this one.
	if err := c.conn.Invoke(ctx, pluginsMethod, &runtimev1.VersionRequest{}, &all); err != nil {
		return "", ctx.Err() == nil
	}
	ofCRI := func(p plugin) bool { return strings.Contains(p.kind, ".cri.") || p.id == "cri" }
	failed := slices.IndexFunc(all, func(p plugin) bool { return ofCRI(p) && p.err != "" })
	switch {
	case failed >= 0:
		return "containerd's plugin " + printable(all[failed].kind+"."+all[failed].id) + " did not start: " + printable(all[failed].err), true
	case !slices.ContainsFunc(all, ofCRI):
		return "containerd runs without its plugin cri: it is disabled, or not built in", true
	}
	return "", true
}

// A plugged remembers, for as long as a connection lasts, why there is no CRI behind it.
type plugged struct {
	flight singleflight.Group
	last   atomic.Pointer[reason] // nil before anybody has heard it
}

// A reason is what [Client.failedPlugin] says of one connection.
type reason struct {
	conn uint64 // its number
	why  string
}

// because returns what [Client.failedPlugin] says of the connection. Calls that need it at
// the same time wait for the same answer, each no longer than its own context allows: it is
// asked for as long as the client lasts, and not as the call that happens to be first. The
// next who wants to know asks again if there was none.
func (p *plugged) because(ctx context.Context, c *Client) string {
	made := c.dialer.made.Load()
	if r := p.last.Load(); r != nil && r.conn == made {
		return r.why
	}
	asked := p.flight.DoChan(strconv.FormatUint(made, 10), func() (any, error) {
		why, answered := c.failedPlugin(c.alive)
		if answered {
			p.last.Store(&reason{made, why})
		}
		return why, nil
	})
	select {
	case said := <-asked:
		return said.Val.(string)
	case <-ctx.Done():
		return ""
	}
}

// A plugin is one of containerd's.
type plugin struct{ kind, id, err string }

// plugins decodes itself from a PluginsResponse, as far as it is wanted.
type plugins []plugin

func (all *plugins) decode(wire []byte) error {
	for one, err := range entries(wire) {
		if err != nil {
			return fmt.Errorf("list of plugins: %w", err)
		}
		var p plugin
		for f := range fields(one) { // as far as it can be read
			switch f.num {
			case 1:
				p.kind = string(f.bytes)
			case 2:
				p.id = string(f.bytes)
			case 7: // a google.rpc.Status
				for f := range fields(f.bytes) {
					if f.num == 2 {
						p.err = string(f.bytes)
					}
				}
			}
		}
		*all = append(*all, p)
	}
	return nil
}
