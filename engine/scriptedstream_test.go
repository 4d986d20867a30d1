package engine_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
)

// A scriptedStream is an event source that delivers what a transcript says.
type scriptedStream struct {
	r       *scripted
	mu      sync.Mutex
	deliver func(pleg.Upstream) // nil while none is open
	end     chan error
	opened  int
	refuses error // what a stream that is opened ends with at once; nil if it stays open
}

var sourceNames = map[string]sources.Source{"cri": sources.FromCRI, "cgroup": sources.FromCgroup}

func (s *scriptedStream) Run(ctx context.Context, deliver func(pleg.Upstream)) error {
	s.mu.Lock()
	if s.deliver != nil {
		s.r.t.Error("a stream is opened while one is open")
	}
	s.opened++
	refuses, end := s.refuses, make(chan error, 1)
	if refuses == nil {
		s.deliver, s.end = deliver, end
	}
	s.mu.Unlock()
	if refuses != nil {
		return refuses
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.deliver = nil
	}()
	select {
	case err := <-end:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// says delivers one event about a container or sandbox as it is now. Only a runtime's stream has the pod and
// its status. The time of the event is now, or later by this much. ran is how long the object had run, for an
// end.
func (s *scriptedStream) says(word, id string, whole bool, later, ran time.Duration) error {
	signals := map[string]pleg.Signal{
		"created": pleg.SignalCreated, "started": pleg.SignalStarted, "stopped": pleg.SignalStopped, "deleted": pleg.SignalDeleted,
	}
	signal, ok := signals[word]
	if !ok {
		return fmt.Errorf("no event %q", word)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.deliver == nil {
		return fmt.Errorf("no stream is open")
	}
	u := pleg.Upstream{Signal: signal, ID: id, Ran: ran}
	if later != 0 {
		u.At = time.Now().Add(later)
	}
	if whole {
		name, _, _ := strings.Cut(id, "/")
		u.Pod, u.At, u.Status = podRef(name), time.Now().Add(later), s.r.compose(name)
	}
	s.deliver(u)
	return nil
}

// times returns how often a stream was opened.
func (s *scriptedStream) times() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

// ends ends the stream that is open.
func (s *scriptedStream) ends(text string) {
	err := error(&call.Error{Op: call.GetContainerEvents, Kind: call.ErrUnavailable, Code: "Unavailable", Text: text})
	if text == "EOF" {
		err = io.EOF
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.deliver != nil {
		s.end <- err
	}
}

// compose returns the status of a pod as it is now.
func (r *scripted) compose(name string) *pleg.PodStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	var sandboxes []pleg.SandboxStatus
	var containers []pleg.ContainerStatus
	for _, s := range r.sandboxes {
		if st, ok := r.sandboxStatus(s.ID); ok && s.Pod.Name == name {
			sandboxes = append(sandboxes, st)
		}
	}
	for _, c := range r.containers {
		if st, ok := r.containerStatus(c.ID); ok && c.Pod.Name == name {
			containers = append(containers, st)
		}
	}
	return pleg.Compose(podRef(name), sandboxes, containers)
}

// configured returns the event sources: those that are on from the start, those that are only offered, and those
// that are opened whatever the runtime is.
func (x *transcript) configured(c command) (all []engine.Stream) {
	for _, how := range []string{"streams", "offered", "forced"} {
		for _, name := range names(c.with[how]) {
			all = append(all, engine.Stream{Source: sourceNames[name], On: how != "offered", Forced: how == "forced", Run: x.source(name).Run})
		}
	}
	return all
}

// source returns an event source by its name.
func (x *transcript) source(name string) *scriptedStream {
	if x.streams[name] == nil {
		x.streams[name] = &scriptedStream{r: x.r}
	}
	return x.streams[name]
}

func (x *transcript) setSources(names []string) {
	var on []sources.Source
	for _, name := range names {
		on = append(on, sourceNames[name])
	}
	x.SetStreams(on...)
}

// stream makes an event source do something.
func (x *transcript) stream(c command) {
	s := x.source(c.word(0))
	switch c.word(1) {
	case "ends":
		s.ends(c.with["text"])
	case "refuses":
		s.refuse(failure(call.GetContainerEvents, c.with["code"], c.with["text"]))
	case "opens":
		s.refuse(nil)
	default:
		objects := slices.Repeat([]string{c.word(2)}, max(number(c.with["times"]), 1))
		if c.word(2) == "all" {
			objects = x.r.all()
		}
		if c.has("distinct") {
			for i := range objects {
				objects[i] += "-" + strconv.Itoa(i)
			}
		}
		for _, id := range objects {
			if err := s.says(c.word(1), id, c.word(0) == "cri", span(c.with["at"]), span(c.with["ran"])); err != nil {
				panic(err)
			}
		}
	}
}

// all returns the ids of all containers.
func (r *scripted) all() (ids []string) {
	for _, c := range r.containers {
		ids = append(ids, c.ID)
	}
	return ids
}

func (s *scriptedStream) refuse(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuses = err
}
