package cri

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/call"
)

// kinds has the meaning of each gRPC code by itself. Codes that are not here mean ErrOther: a
// runtime that cancels a call which we did not cancel has failed like any other.
var kinds = map[codes.Code]call.Kind{
	codes.Unavailable:      call.ErrUnavailable,
	codes.PermissionDenied: call.ErrPermission,
	codes.Unauthenticated:  call.ErrPermission,
	codes.DeadlineExceeded: call.ErrDeadline,
	codes.NotFound:         call.ErrNotFound,
	codes.Unimplemented:    call.ErrUnimplemented,
}

// explain turns gRPC's error for a call into a *call.Error.
func (c *Client) explain(ctx context.Context, op call.Operation, err error) error {
	s := status.Convert(err)
	e := &call.Error{Op: op, Kind: kinds[s.Code()], Code: s.Code().String(), Text: cut(s.Message())}
	switch s.Code() {
	case codes.ResourceExhausted: // a runtime that lacks disk or memory has this code, too
		if strings.Contains(s.Message(), tooMuch) {
			e.Kind = call.ErrTooLarge
		}
	case codes.Unimplemented:
		if strings.Contains(e.Text, "unknown service "+strings.Trim(service, "/")) {
			e.Text = cmp.Or(c.whyNoCRI(ctx), e.Text)
		}
	case codes.Unavailable:
		c.explainConnection(e)
	case codes.Canceled, codes.DeadlineExceeded:
		c.explainEnd(ctx, e)
	}
	return e
}

// connectionLost are parts of gRPC's texts for a connection that broke.
var connectionLost = []string{"error reading from server", "transport is closing", "closing transport", "connection error", "the connection is draining"}

// explainConnection finds out why there is no connection. If it could not be opened, the error has
// the system's own words, which gRPC quotes.
func (c *Client) explainConnection(e *call.Error) {
	dialing, failed := strings.CutPrefix(e.Text, `connection error: desc = "transport: Error while dialing: `)
	switch {
	case failed:
		e.Text = strings.TrimSuffix(dialing, `"`)
		if strings.HasSuffix(e.Text, syscall.EACCES.Error()) {
			e.Kind = call.ErrPermission
		}
	case strings.Contains(e.Text, "server preface") && strings.Contains(e.Text, net.ErrClosed.Error()): // gRPC has closed it after patience
		e.Kind, e.Text = call.ErrSilent, fmt.Sprintf("the socket takes a connection and says nothing on it for %v", c.patience)
	case slices.ContainsFunc(connectionLost, func(w string) bool { return strings.Contains(e.Text, w) }):
		e.Why = call.Broken
	}
}

// explainEnd finds out who ended a call. When its deadline passes, the runtime's own timer may win
// the race and end or reset the stream. Then the text has RST_STREAM in it, although our deadline
// was the cause.
func (c *Client) explainEnd(ctx context.Context, e *call.Error) {
	deadline := context.DeadlineExceeded.Error()
	reset := e.Code == codes.DeadlineExceeded.String() && (strings.Contains(e.Text, "RST_STREAM") || e.Text == deadline)
	switch ended := ctx.Err(); {
	case errors.Is(ended, context.DeadlineExceeded), ended == nil && reset:
		*e = *call.NoAnswer(e.Op, call.Expired, deadline)
	case ended != nil, c.conn.GetState() == connectivity.Shutdown && e.Code == codes.Canceled.String():
		e.Kind, e.Code = call.ErrCanceled, codes.Canceled.String()
	}
}

// unusable returns the error for an answer that came and cannot be used.
func unusable(op call.Operation, err error) error {
	if lack, ok := errors.AsType[missing](err); ok { // without a code: the runtime sent none
		return &call.Error{Op: op, Kind: call.ErrOther, Text: string(lack)}
	}
	if errors.Is(err, errLimit) {
		return &call.Error{Op: op, Kind: call.ErrTooLarge, Code: codes.ResourceExhausted.String(), Text: err.Error()}
	}
	// protobuf varies the space after "proto:" on purpose, so that nobody relies on its words.
	return &call.Error{Op: op, Kind: call.ErrUnreadable, Text: cut("unreadable answer: " + strings.ReplaceAll(err.Error(), "\u00a0", " "))}
}

// pluginsMethod is containerd's list of its plugins, with the error of each that did not start
// (containerd 1.3 and later: api/services/introspection/v1).
const pluginsMethod = "/containerd.services.introspection.v1.Introspection/Plugins"

// whyNoCRI asks a containerd why it serves no CRI, for a second at most. It returns an empty text
// for another program, and if the list does not come in time.
func (c *Client) whyNoCRI(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	var wire mem.Buffer
	// A request without filters has no bytes, like this request.
	if err := c.conn.Invoke(ctx, pluginsMethod, &runtimev1.VersionRequest{}, &wire); err != nil {
		return ""
	}
	defer wire.Free()
	return failedPlugin(wire.ReadOnlyData())
}

// failedPlugin finds in containerd's list (PluginsResponse) why there is no CRI. From each plugin
// it reads type (1), id (2) and init_err (7, a google.rpc.Status with message 2).
func failedPlugin(wire []byte) string {
	why := "containerd runs without its plugin cri: it is disabled, or not built in"
	for f := range fields(wire) {
		kind, id := string(text(f.value, 1)), string(text(f.value, 2))
		if !strings.Contains(kind, ".cri.") && id != "cri" {
			continue
		}
		if failure := text(text(f.value, 7), 2); failure != nil {
			return cut("containerd's plugin " + kind + "." + id + " did not start: " + string(failure))
		}
		why = ""
	}
	return why
}
