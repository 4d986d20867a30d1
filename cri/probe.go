package cri

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"

	"google.golang.org/grpc/codes"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// alphaVersionMethod is the Version call of the last version of CRI before v1.
// Its messages are those of v1 to the byte.
const alphaVersionMethod = "/runtime.v1alpha2.RuntimeService/Version"

const sudo = "permission denied: try sudo"

// try finds out what is at c and writes it there. A candidate that can't be
// tried is left as it is.
func (s Search) try(ctx context.Context, c *Candidate) {
	if c.path == "" {
		return
	}
	if c.Outcome, c.Reason = lookAt(c.path); c.Outcome == Foreign && s.isMistaken(c) {
		c.Outcome, c.Reason = Unusable, "is no socket: name the runtime's socket, such as "+knowledge.Containerd.Socket
	}
	if c.Outcome != Answers {
		return
	}
	client, err := Dial(c.Endpoint)
	if err != nil {
		c.Outcome, c.Reason = Unusable, printable(err.Error())
		return
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	if _, err := client.Version(ctx); err != nil {
		c.Outcome, c.Reason = s.classify(ctx, client, err)
	}
}

// isMistaken reports whether c, which is no socket, was named by mistake: a file or folder that the command
// line names is likely one that somebody needs, and not what stands in the place of a socket, unless a
// runtime is known to have its socket there.
func (s Search) isMistaken(c *Candidate) bool {
	info, err := os.Stat(c.path)
	return s.Endpoint != "" && err == nil && (info.Mode().IsRegular() || info.IsDir()) && !slices.ContainsFunc(knowledge.Flavours, func(f knowledge.Flavour) bool { return s.onHost(f.Socket) == c.path })
}

// lookAt says what the file system knows: it returns Answers if there is a
// socket to be asked.
func lookAt(path string) (Outcome, string) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return Absent, "not there"
	case errors.Is(err, fs.ErrPermission):
		return Denied, sudo
	case err != nil:
		return Unusable, printable(err.Error())
	case info.Mode()&fs.ModeSocket == 0:
		return Foreign, "not a socket"
	}
	return Answers, ""
}

// classify says what a failed Version call means.
func (s Search) classify(ctx context.Context, client *Client, err error) (Outcome, string) {
	e, ok := errors.AsType[*call.Error](err)
	switch {
	case !ok:
		return Silent, "there, but: " + printable(err.Error())
	case errors.Is(err, call.ErrPermission) && e.Code == codes.Unavailable.String(): // there was no connection
		return Denied, sudo
	case errors.Is(err, call.ErrPermission):
		return Denied, "it answers, and denies Version: " + printable(e.Text) + "; the file mode of the socket allows it, so look for what stands in front of the runtime"
	case errors.Is(err, call.ErrDeadline):
		return Silent, "there, but no answer within " + s.Timeout.String()
	case notGRPC(e.Text), errors.Is(err, call.ErrUnavailable) && notHTTP2(ctx, client.dialer.path):
		return Foreign, "not a CRI v1 server: it does not speak gRPC"
	case errors.Is(err, call.ErrUnimplemented):
		return client.whyNotV1(ctx)
	}
	return Silent, "there, but: " + printable(e.Text)
}

// whyNotV1 says what a gRPC server without CRI v1 is instead.
func (c *Client) whyNotV1(ctx context.Context) (Outcome, string) {
	err := c.conn.Invoke(ctx, alphaVersionMethod, &runtimev1.VersionRequest{Version: kubeletAPIVersion}, new(runtimev1.VersionResponse))
	if err == nil {
		return Outdated, "not a CRI v1 server: it speaks only v1alpha2; upgrade to containerd 1.6, CRI-O 1.20 or newer"
	}
	why, _ := c.failedPlugin(ctx)
	return Foreign, "not a CRI v1 server: gRPC, but no CRI service: " + cmp.Or(why, "another program than a runtime")
}

// notGRPC recognises gRPC's complaints about a server that speaks HTTP/2 with
// something else on top.
func notGRPC(text string) bool {
	complaints := []string{"unexpected HTTP status code", "missing HTTP content-type", "unexpected content-type"}
	return slices.ContainsFunc(complaints, func(c string) bool { return strings.Contains(text, c) })
}

// preface is how every HTTP/2 client begins, with an empty SETTINGS frame
// (RFC 9113, section 3.4).
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\x00\x00\x00\x04\x00\x00\x00\x00\x00"

// notHTTP2 reports whether the server at path answers an HTTP/2 client with
// something else than the SETTINGS frame which it must send first. A server
// that says nothing may yet be one. gRPC's own error depends on whether it is
// still writing when such a server hangs up.
func notHTTP2(ctx context.Context, path string) bool {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return false
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	_, _ = io.WriteString(conn, preface)
	var frame [9]byte
	_, err = io.ReadFull(conn, frame[:])
	return err == nil && frame[3] != 0x04
}
