package cri

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/guard"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// A Search says where to look for the runtime. The zero value looks where a kubelet or crictl on
// this machine would.
type Search struct {
	Endpoint string        // from the command line; empty if not given
	HostRoot string        // where the host's root is mounted; empty for our own
	Timeout  time.Duration // for each endpoint to answer; 0 means 1 s

	// Running returns the sockets that processes of the node were started with: those of its
	// kubelet, by its flags or its configuration, and others such as a shim's -address, the
	// likeliest first. It is not called if the endpoint was given; nil for no processes.
	Running func(context.Context) (kubelets, others []string)
}

// A Candidate is an endpoint that a search looked at, and the result.
type Candidate struct {
	Endpoint string // for [Dial], below the host's root if one was given; as it was written if it cannot be used; empty for a file that cannot be read
	Source   string // what named it, such as "/etc/crictl.yaml"
	Outcome  Outcome
	Reason   string // why it does not answer, with unchanged words of the runtime or of a file; empty if it does
	Other    string // if the runtime is down: the endpoint of another that answers; else empty

	path, real string // of the socket, and without symbolic links; empty if it cannot be used
	claim      claim
	awaited    bool // nothing is known of it yet
}

// A claim is how sure we are that the node's runtime belongs at an endpoint.
type claim uint8

const (
	usual        claim = iota // a usual socket
	traced                    // a usual socket, and a runtime has left files on the node
	named                     // a person, a file or a process names it
	kubeletNamed              // the kubelet uses it
)

// An Outcome is what a search found at one endpoint.
type Outcome uint8

const (
	Answers  Outcome = iota // CRI v1
	Silent                  // there, but it refuses, fails, or does not answer in time
	Absent                  // not there
	Denied                  // there, but we may not use it
	Foreign                 // there, but no CRI server listens: a file, or another program
	Outdated                // a server of CRI before v1
	Unusable                // the endpoint, or the file that should name it, makes no sense
)

// Discover returns the endpoint of the runtime that the node is meant to have. An endpoint of the
// command line or of CONTAINER_RUNTIME_ENDPOINT is the only candidate. Otherwise the candidates are,
// in this order: those of the kubelet's flags and configuration, of crictl's configuration, the
// usual sockets, and those of [Search.Running]. They are asked side by side, with one Version call
// each. Discover returns as soon as the answers so far decide. It does not wait for a candidate
// whose answer would change nothing.
//
// If no candidate will do, the error is a *[NotFoundError]. If ctx ends first, it is the cause
// of ctx.
func Discover(ctx context.Context, s Search) (Candidate, error) {
	s.Timeout = cmp.Or(s.Timeout, time.Second)
	all := s.candidates(ctx)
	bounded, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	late := time.After(s.Timeout + overtime)
	results := make(chan func(), len(all))
	for i, c := range all {
		if c.awaited {
			guard.Go(func() {
				outcome, reason := s.ask(bounded, c.path)
				results <- func() { all[i].Outcome, all[i].Reason, all[i].awaited = outcome, reason, false }
			})
		}
	}
	for {
		i, decided := choose(all)
		switch {
		case decided && i < 0:
			return Candidate{}, &NotFoundError{Tried: all}
		case decided:
			return withOther(all, i), nil
		}
		select {
		case take := <-results:
			take()
		case <-late:
			for i := range all {
				all[i].awaited = false
			}
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return Candidate{}, context.Cause(ctx)
		}
	}
}

// overtime is how long after its deadline a call may return.
const overtime = 200 * time.Millisecond

// choose takes the rules in order. It returns the index of the first candidate that fits a rule; -1
// if no candidate fits any. decided is false while the choice depends on a candidate that is
// awaited.
//
// The kubelet uses only its configured endpoint, so that endpoint comes before all others, even
// if another runtime answers. A named endpoint that hangs comes before an endpoint that only
// happens to answer: people want to look at a hung CRI-O, not at a containerd on the same node. A
// stopped runtime removes its socket, so an endpoint that is claimed and gone is taken as down.
// It is not if we may not look at another candidate: that one may be the runtime.
func choose(all []Candidate) (i int, decided bool) {
	has := func(is func(Candidate) bool) bool { return slices.ContainsFunc(all, is) }
	awaited := func(c Candidate) bool { return c.awaited }
	is := func(c Candidate, any ...Outcome) bool { return c.awaited || slices.Contains(any, c.Outcome) } // or may become one
	barred := func(c Candidate) bool { return c.Outcome == Denied || c.Outcome == Outdated && c.claim >= named }
	gone := func(c Candidate) bool { return c.claim >= traced && is(c, Absent, Foreign) }
	down := func(c Candidate) bool { return gone(c) && !has(barred) }
	decides := func(c Candidate) bool { return c.claim >= named && is(c, Answers, Silent) }
	namedFails := has(func(c Candidate) bool { return c.claim >= named && (gone(c) || barred(c)) })
	for _, fits := range []func(Candidate) bool{
		func(c Candidate) bool { return c.claim == kubeletNamed && decides(c) },
		func(c Candidate) bool { return c.claim == kubeletNamed && down(c) },
		decides,
		func(c Candidate) bool { return c.claim >= named && down(c) },
		func(c Candidate) bool { return is(c, Answers) && !namedFails },
		func(c Candidate) bool { return is(c, Silent) },
		down,
	} {
		if i := slices.IndexFunc(all, fits); i >= 0 {
			return i, !all[i].awaited && (!gone(all[i]) || !has(awaited)) // an awaited one may be barred, or answer
		}
	}
	return -1, true
}

// withOther returns a candidate. If its runtime is down, Other is the first candidate that
// answers.
func withOther(all []Candidate, i int) Candidate {
	c := all[i]
	other := slices.IndexFunc(all, func(o Candidate) bool { return o.Outcome == Answers })
	if (c.Outcome == Absent || c.Outcome == Foreign) && other >= 0 {
		c.Other = all[other].Endpoint
	}
	return c
}

const sudo = "permission denied: try sudo"

// ask finds out what is at path.
func (s Search) ask(ctx context.Context, path string) (Outcome, string) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return Absent, "not there"
	case errors.Is(err, fs.ErrPermission):
		return Denied, sudo
	case err != nil:
		return Unusable, err.Error()
	case info.Mode()&fs.ModeSocket != 0:
		return s.askVersion(ctx, path)
	}
	// A file or folder of the command line is likely a mistake, unless a runtime has its socket there.
	ofFlavour := slices.ContainsFunc(knowledge.Flavours, func(f knowledge.Flavour) bool { return s.onHost(f.Socket) == path })
	if s.Endpoint != "" && (info.Mode().IsRegular() || info.IsDir()) && !ofFlavour {
		return Unusable, "is no socket: name the runtime's socket, such as " + knowledge.Containerd.Socket
	}
	return Foreign, "not a socket"
}

// alphaVersionMethod is the Version call of the last version of CRI before v1. Its messages are
// the same as those of v1, byte for byte.
const alphaVersionMethod = "/runtime.v1alpha2.RuntimeService/Version"

// notGRPC are parts of gRPC's complaints about a server that speaks something else, with HTTP/2 or
// without. gRPC reads the first three letters of a text as the length of a frame, which is too
// large.
var notGRPC = []string{"unexpected HTTP status code", "missing HTTP content-type", "unexpected content-type", "frame too large", "not a settings frame"}

// askVersion finds out who listens on a socket.
func (s Search) askVersion(ctx context.Context, path string) (Outcome, string) {
	client, err := Dial(path)
	if err != nil {
		return Unusable, err.Error()
	}
	defer client.Close()
	_, err = client.Version(ctx)
	if err == nil {
		return Answers, ""
	}
	e := call.ErrorOf(call.Version, err)
	switch {
	case errors.Is(e, call.ErrPermission) && e.Code == codes.Unavailable.String(): // there was no connection
		return Denied, sudo
	case errors.Is(e, call.ErrPermission):
		return Denied, "it answers, and denies Version: " + e.Text + "; the file mode of the socket allows it, so look for what stands in front of the runtime"
	case errors.Is(e, call.ErrDeadline):
		return Silent, "there, but no answer within " + s.Timeout.String()
	case slices.ContainsFunc(notGRPC, func(part string) bool { return strings.Contains(e.Text, part) }):
		return Foreign, "not a CRI v1 server: it does not speak gRPC"
	case !errors.Is(e, call.ErrUnimplemented):
		return Silent, "there, but: " + e.Text
	}
	var wire mem.Buffer
	if err := client.conn.Invoke(ctx, alphaVersionMethod, &runtimev1.VersionRequest{Version: kubeletAPIVersion}, &wire); err == nil {
		wire.Free()
		return Outdated, "not a CRI v1 server: it speaks only v1alpha2; upgrade to containerd 1.6, CRI-O 1.20 or newer"
	}
	return Foreign, "not a CRI v1 server: gRPC, but no CRI service: " + cmp.Or(client.whyNoCRI(ctx), "another program than a runtime")
}

// A NotFoundError says that a search found no runtime to talk to, and no runtime to wait for. It has a
// line for each candidate, with its source and the reason. The last line says what to try instead.
type NotFoundError struct {
	Tried []Candidate // in the order of the search
}

// Error returns the text.
func (e *NotFoundError) Error() string {
	text := "no container runtime found:\n"
	for _, c := range e.Tried {
		text += "  " + strings.TrimSpace(c.Endpoint+" ("+c.Source+")") + ": " + c.Reason + "\n"
	}
	return text + "try: plegtop --demo"
}
