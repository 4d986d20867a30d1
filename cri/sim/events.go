package sim

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
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

// GetContainerEvents sends what happens until the client has enough, or is too slow.
func (r runtimeService) GetContainerEvents(_ *cri.GetEventsRequest, to grpc.ServerStreamingServer[cri.ContainerEventResponse]) error {
	reader := r.s.join()
	defer r.s.leave(reader)
	for {
		select {
		case event, open := <-reader:
			if !open {
				return errStreamClosed
			}
			if err := to.Send(event); err != nil {
				return err
			}
		case <-to.Context().Done():
			return status.FromContextError(to.Context().Err()).Err()
		}
	}
}

func (s *Server) join() (reader chan *cri.ContainerEventResponse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events.join()
}

func (s *Server) leave(reader chan *cri.ContainerEventResponse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events.readers = drop(s.events.readers, reader)
}

// streamFaults is what is wrong with the stream of events.
type streamFaults struct {
	lossy bool // one event in three is not sent
	late  bool
}

const eventsLate = 2 * time.Second

var errStreamClosed = status.Error(codes.Unavailable, "container events subscription closed by server")

// tell hands a transition to the readers of the stream, or what the faults make of it.
func (sn *scene) tell(t transition, to *events) {
	if sn.stream.lossy && sn.chance.IntN(3) == 0 {
		return
	}
	event := t.event()
	if sn.stream.late {
		sn.after(eventsLate, func() { to.send(event) })
		return
	}
	to.send(event)
}
