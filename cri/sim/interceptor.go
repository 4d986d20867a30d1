package sim

import (
	"context"
	"path"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/engine/guard"
)

// unary lets a call pass the rules before it is answered.
func (s *Server) unary(ctx context.Context, request any, i *grpc.UnaryServerInfo, answer grpc.UnaryHandler) (any, error) {
	defer guard.Catch()
	call, err := s.admit(ctx, path.Base(i.FullMethod), request)
	if err != nil {
		return nil, err
	}
	a, err := answer(ctx, request)
	if err != nil {
		return nil, err
	}
	return s.rewritten(call, a), nil
}

// stream does the same for a streaming call.
func (s *Server) stream(srv any, ss grpc.ServerStream, i *grpc.StreamServerInfo, answer grpc.StreamHandler) error {
	defer guard.Catch()
	return answer(srv, &interceptedStream{ServerStream: ss, s: s, method: path.Base(i.FullMethod)})
}

// An interceptedStream admits its call when it has read the request.
type interceptedStream struct {
	grpc.ServerStream
	s      *Server
	method string
	call   Call
}

// RecvMsg reads the request and waits for its admission.
func (g *interceptedStream) RecvMsg(request any) error {
	err := g.ServerStream.RecvMsg(request)
	if err != nil {
		return err
	}
	g.call, err = g.s.admit(g.Context(), g.method, request)
	return err
}

// SendMsg sends one part of the answer, when nothing holds the call any more.
func (g *interceptedStream) SendMsg(answer any) error {
	g.s.mu.Lock()
	holds := g.s.scene.holds(g.call)
	g.s.mu.Unlock()
	if err := g.s.hold(g.Context(), g.call, holds); err != nil {
		return err
	}
	return g.ServerStream.SendMsg(g.s.rewritten(g.call, answer))
}

// admit notes a call and does to it what the rules say. It returns when the
// call is to be answered, with an error in place of an answer, or when the
// client has given up.
func (s *Server) admit(ctx context.Context, method string, request any) (Call, error) {
	call, v := s.judge(method, request)
	if err := s.hold(ctx, call, v.holds); err != nil {
		return call, err
	}
	if v.delay > 0 {
		if err := await(ctx, time.After(s.Real(v.delay))); err != nil {
			return call, err
		}
	}
	return call, v.err
}

// judge notes a call and returns what is to become of it.
func (s *Server) judge(method string, request any) (Call, effect) {
	s.mu.Lock()
	defer s.mu.Unlock()
	call := s.scene.describe(method, request)
	call.At = s.Now()
	s.record(call)
	return call, s.scene.decide(call)
}

// hold waits for all holds to be released.
func (s *Server) hold(ctx context.Context, call Call, holds []<-chan struct{}) error {
	if len(holds) == 0 {
		return nil
	}
	s.note(func() { s.held = append(s.held, call) })
	defer s.note(func() { s.held = drop(s.held, call) })
	for _, released := range holds {
		if err := await(ctx, released); err != nil {
			return err
		}
	}
	return nil
}

// note changes which calls are held and tells those who wait for it.
func (s *Server) note(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	close(s.moved)
	s.moved = make(chan struct{})
}

// await waits until something comes or c is closed, or until the client gives up.
func await[T any](ctx context.Context, c <-chan T) error {
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
}

// rewritten returns an answer as it is to be sent.
func (s *Server) rewritten(call Call, answer any) any {
	s.mu.Lock()
	rules := slices.Clone(s.scene.rules)
	s.mu.Unlock()
	copied := false
	for _, r := range rules {
		if r.Change == nil || !r.matches(call) {
			continue
		}
		if !copied { // others may be sending the same one
			answer, copied = proto.Clone(answer.(proto.Message)), true
		}
		r.Change(answer.(proto.Message))
	}
	return answer
}

// recordLength is how many calls are remembered, and requests beside them.
const recordLength = 10000

// record remembers a call. The server's mutex must be held.
func (s *Server) record(c Call) {
	s.calls = remember(s.calls, c)
	s.begun[c.Method]++
}

// remember adds one, and forgets what nobody can ask for any more.
func remember[T any](all []T, one T) []T {
	if len(all) == 2*recordLength { // seldom, so that it costs nothing
		all = slices.Delete(all, 0, recordLength)
	}
	return append(all, one)
}

// newest returns a copy of what there is to be asked for.
func newest[T any](all []T) []T { return slices.Clone(all[max(0, len(all)-recordLength):]) }

// A Call is one call that the server saw, as it came in.
type Call struct {
	Method    string // of CRI, such as "ContainerStatus"
	ID        string // in full, of the sandbox or container that is asked for; as asked for if there is none
	Pod       string // namespace/name, where the call is about one pod
	Container string // its name, where the call is about one container
	Verbose   bool
	At        time.Time // by the server's clock
}

// A Match says which calls are meant: those that have every field that it
// sets. The zero value means all of them.
type Match struct {
	Method    string
	ID        string // in full
	Pod       string // namespace/name
	Container string // name
}

func (m Match) matches(c Call) bool {
	return (m.Method == "" || m.Method == c.Method) &&
		(m.ID == "" || m.ID == c.ID) &&
		(m.Pod == "" || m.Pod == c.Pod) &&
		(m.Container == "" || m.Container == c.Container)
}

// describe says what a request asks for.
func (w *world) describe(method string, request any) Call {
	call := Call{Method: method}
	if v, ok := request.(interface{ GetVerbose() bool }); ok {
		call.Verbose = v.GetVerbose()
	}
	var p *pod
	switch r := request.(type) {
	case interface{ GetPodSandboxId() string }:
		call.ID = r.GetPodSandboxId()
		if s, err := find(w.sandboxOf, call.ID); err == nil {
			call.ID, p = s.status.Id, s.pod
		}
	case interface{ GetContainerId() string }:
		call.ID = r.GetContainerId()
		if c, err := find(w.containerOf, call.ID); err == nil {
			call.ID, call.Container, p = c.status.Id, c.spec.name, c.pod
		}
	case interface{ GetFilter() *cri.PodSandboxFilter }:
		p = w.pod(r.GetFilter().GetLabelSelector()[labelPodUID])
	case interface{ GetFilter() *cri.ContainerFilter }:
		p = w.pod(r.GetFilter().GetLabelSelector()[labelPodUID])
	}
	if p != nil {
		call.Pod = p.ref()
	}
	return call
}

// pod returns the pod with that UID, or nil.
func (w *world) pod(uid string) *pod {
	for _, p := range w.pods {
		if p.uid == uid {
			return p
		}
	}
	return nil
}
