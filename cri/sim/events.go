package sim

import (
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// events hands every transition to all readers of GetContainerEvents. With no
// reader it keeps the last ones for the next, as containerd 2 does. Guarded by
// the server's mutex.
type events struct {
	readers []chan *cri.ContainerEventResponse
	backlog []*cri.ContainerEventResponse // oldest first
}

const (
	eventRoom   = 1000            // for each reader
	backlogRoom = 256             // events hold whole statuses: more would be felt in memory
	backlogLife = 5 * time.Minute // as containerd has it
)

// send takes an event in. A reader who has no room for it is cut off.
func (e *events) send(event *cri.ContainerEventResponse) {
	if len(e.readers) == 0 {
		e.keep(event)
		return
	}
	var kept []chan *cri.ContainerEventResponse
	for _, r := range e.readers {
		select {
		case r <- event:
			kept = append(kept, r)
		default:
			close(r)
		}
	}
	e.readers = kept
}

// keep puts an event into the backlog and drops what is too old or too much.
func (e *events) keep(event *cri.ContainerEventResponse) {
	e.backlog = append(e.backlog, event)
	oldest := event.CreatedAt - int64(backlogLife)
	n := max(0, len(e.backlog)-backlogRoom)
	for e.backlog[n].CreatedAt < oldest {
		n++
	}
	clear(e.backlog[:n])
	e.backlog = e.backlog[n:]
}

// join adds a reader, who first gets what waited for him.
func (e *events) join() chan *cri.ContainerEventResponse {
	r := make(chan *cri.ContainerEventResponse, eventRoom)
	for _, event := range e.backlog {
		r <- event
	}
	e.backlog = nil
	e.readers = append(e.readers, r)
	return r
}

// event returns the transition as CRI reports it: with the status of the
// sandbox and of all containers in it.
func (t transition) event() *cri.ContainerEventResponse {
	e := &cri.ContainerEventResponse{
		ContainerId: t.sandbox.status.Id, ContainerEventType: t.kind, CreatedAt: t.at.UnixNano(), PodSandboxStatus: t.sandbox.status,
	}
	if t.container != nil {
		e.ContainerId = t.container.status.Id
	}
	for _, c := range t.sandbox.pod.containers {
		if c.sandbox == t.sandbox {
			e.ContainersStatuses = append(e.ContainersStatuses, c.status)
		}
	}
	return e
}

// GetContainerEvents sends what happens until the client has enough, or what is wrong with
// the stream ends it.
func (r runtimeService) GetContainerEvents(_ *cri.GetEventsRequest, to grpc.ServerStreamingServer[cri.ContainerEventResponse]) error {
	reader, cuts := r.s.join()
	defer r.s.leave(reader)
	if over, err := r.s.trouble(to, cuts); over {
		return err
	}
	look := time.NewTicker(streamLook)
	defer look.Stop()
	for {
		select {
		case event, open := <-reader:
			if !open {
				return errStreamClosed
			}
			if err := to.Send(event); err != nil {
				return err
			}
		case <-look.C:
			if over, err := r.s.trouble(to, cuts); over {
				return err
			}
		case <-to.Context().Done():
			return status.FromContextError(to.Context().Err()).Err()
		}
	}
}

func (s *Server) join() (reader chan *cri.ContainerEventResponse, cuts int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events.join(), s.scene.stream.cuts
}

func (s *Server) leave(reader chan *cri.ContainerEventResponse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events.readers = drop(s.events.readers, reader)
}

// streamFaults is what is wrong with the stream of events.
type streamFaults struct {
	off     bool // it ends at once, as CRI-O's does where it is not enabled
	lossy   bool // one event in three is not sent
	doubled bool // each is sent twice
	late    bool
	ahead   bool // by the runtime's clock it is an hour later
	storm   bool // besides, there are events of nothing, without end
	cuts    int  // how often it was broken
}

const (
	eventsLate  = 2 * time.Second
	eventsAhead = time.Hour
	streamLook  = 100 * time.Millisecond // how soon a stream notices what is wrong with it
	stormSize   = 3000                   // events for each look
)

var (
	errStreamClosed = status.Error(codes.Unavailable, "container events subscription closed by server")
	readEvents      = Match{Method: "GetContainerEvents"}
)

// tell hands a transition to the readers of the stream, or what the faults make of it.
func (sn *scene) tell(t transition, to *events) {
	f, event, times := sn.stream, t.event(), 1
	if f.lossy && sn.chance.IntN(3) == 0 {
		return
	}
	if f.ahead {
		event.CreatedAt += int64(eventsAhead)
	}
	if f.doubled {
		times = 2
	}
	send := func() {
		for range times {
			to.send(event)
		}
	}
	if f.late {
		sn.after(eventsLate, send)
		return
	}
	send()
}

// cut breaks all streams.
func (sn *scene) cut() { sn.stream.cuts++ }

// cutEvents breaks the stream now and then.
func cutEvents(sn *scene) func() {
	sn.cut()
	return sn.every(7*time.Second, sn.cut)
}

// noEvents has the runtime know no stream of events, as containerd 1.6.
func noEvents(sn *scene) func() {
	sn.cut()
	return sn.addRule(failing(readEvents, codes.Unimplemented, "unknown method GetContainerEvents for service runtime.v1.RuntimeService"))
}

// saysVersion has the runtime say that it is of another version.
func saysVersion(v string) fault {
	return calls(Rule{Match: Match{Method: "Version"}, Change: func(m proto.Message) { m.(*cri.VersionResponse).RuntimeVersion = v }})
}

// trouble does to a stream what is wrong now, and reports whether it is over, and how. It was
// begun when streams had been broken so often.
func (s *Server) trouble(to grpc.ServerStreamingServer[cri.ContainerEventResponse], cuts int) (over bool, err error) {
	s.mu.Lock()
	f, event := s.scene.stream, (*cri.ContainerEventResponse)(nil)
	if f.storm && len(s.scene.sandboxes) > 0 {
		event = transition{at: s.scene.wall(), sandbox: s.scene.sandboxes[0]}.event()
	}
	s.mu.Unlock()
	switch {
	case f.off:
		return true, nil
	case f.cuts != cuts:
		return true, errStreamClosed
	case event != nil:
		err := storm(to, event)
		return err != nil, err
	}
	return false, nil
}

// storm sends a burst of events like that one: some tell again what is known, the others
// are of containers that nobody knows, each older than the one before.
func storm(to grpc.ServerStreamingServer[cri.ContainerEventResponse], event *cri.ContainerEventResponse) error {
	known := event.ContainerId
	for i := range stormSize {
		event.ContainerEventType = cri.ContainerEventType(i % len(cri.ContainerEventType_name))
		event.CreatedAt -= int64(time.Millisecond)
		if event.ContainerId = known; i%3 > 0 {
			event.ContainerId = fmt.Sprintf("%064x", event.CreatedAt)
		}
		if err := to.Send(event); err != nil {
			return err
		}
	}
	return nil
}
