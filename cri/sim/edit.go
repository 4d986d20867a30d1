package sim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// errGone is what a change of something that does not exist fails with.
var errGone = errors.New("no such object")

// A PodSpec is a pod for [Server.AddPod].
type PodSpec struct {
	Namespace, Name string
	UID             string // empty: one from the seed
	Labels          map[string]string
	HostNetwork     bool          // no IP address
	Age             time.Duration // how long ago it was created
	Containers      []ContainerSpec
}

// A ContainerSpec is one container of a [PodSpec].
type ContainerSpec struct {
	Name     string
	Image    string // empty: some image
	State    State  // what it is in; the zero value is Running
	ExitCode int32  // if Exited
	Reason   string // if Exited; empty: as the runtime names the code
	Message  string // if Exited
}

// A State is what a container that is added is in.
type State uint8

const (
	Running State = iota
	Created
	Exited
)

// A Pod says what [Server.AddPod] made.
type Pod struct {
	UID        string
	Sandbox    string            // its id
	Containers map[string]string // ids by name
}

// AddPod puts a pod on the node, at once and complete. The kubelet keeps its
// hands off it: it changes only by the calls below, in any scenario.
func (s *Server) AddPod(spec PodSpec) Pod {
	made := Pod{Containers: map[string]string{}}
	s.edit(func() {
		w := s.scene.world
		p := w.newPod(spec.internal())
		born := w.wall().Add(-spec.Age)
		made.UID, made.Sandbox = p.uid, w.newSandbox(p, 0, born).id
		for i, c := range spec.Containers {
			made.Containers[c.Name] = w.addContainer(p, &p.spec.containers[i], c, born).id
		}
	})
	return made
}

func (p PodSpec) internal() podSpec {
	spec := podSpec{
		namespace: p.Namespace, name: p.Name, uid: p.UID, labels: maps.Clone(p.Labels), hostNetwork: p.HostNetwork, manual: true,
	}
	for _, c := range p.Containers {
		if c.Image == "" {
			c.Image = imageApp
		}
		spec.containers = append(spec.containers, containerSpec{name: c.Name, image: c.Image})
	}
	return spec
}

func (w *world) addContainer(p *pod, spec *containerSpec, want ContainerSpec, at time.Time) *container {
	c := w.newContainer(p, spec, at)
	if want.State == Created {
		return c
	}
	w.run(c, at)
	if want.State == Exited {
		w.end(c, exit{want.ExitCode, want.Reason, want.Message}, w.wall())
	}
	return c
}

// CreateContainer creates one more container of a pod, with the next attempt
// if there was one of that name, and returns its id.
func (s *Server) CreateContainer(uid string, spec ContainerSpec) (id string, err error) {
	s.edit(func() {
		w := s.scene.world
		p := w.pod(uid)
		if p == nil || p.sandbox() == nil {
			err = fmt.Errorf("create container in pod %s: %w", uid, errGone)
			return
		}
		one := PodSpec{Containers: []ContainerSpec{spec}}.internal().containers[0]
		id = w.addContainer(p, &one, spec, w.wall()).id
	})
	return id, err
}

// StartContainer starts a created container.
func (s *Server) StartContainer(id string) error {
	return s.onContainer("start", id, func(c *container) { s.scene.run(c, s.scene.wall()) }, cri.ContainerState_CONTAINER_CREATED)
}

// ExitContainer ends a running container, with a reason that may be empty.
func (s *Server) ExitContainer(id string, code int32, reason string) error {
	return s.onContainer("end", id, func(c *container) {
		s.scene.exitContainer(c, exit{code: code, reason: reason})
	}, cri.ContainerState_CONTAINER_RUNNING)
}

// RemoveContainer takes a container off the node, whatever its state.
func (s *Server) RemoveContainer(id string) error {
	return s.onContainer("remove", id, func(c *container) { s.scene.remove(c) })
}

// onContainer does something to the container with that full id, which has to
// be in one of the states, if any are given.
func (s *Server) onContainer(what, id string, do func(*container), states ...cri.ContainerState) error {
	var err error
	s.edit(func() {
		c := s.scene.containerOf[id]
		if c == nil {
			err = fmt.Errorf("%s container %s: %w", what, id, errGone)
			return
		}
		if len(states) > 0 && !slices.Contains(states, c.state) {
			err = fmt.Errorf("%s container %s: it is %v", what, id, c.state)
			return
		}
		do(c)
	})
	return err
}

// StopSandbox makes a sandbox not ready; its containers stay as they are.
func (s *Server) StopSandbox(id string) error {
	return s.onSandbox("stop", id, func(sb *sandbox) { s.scene.stopSandbox(sb) })
}

// RemoveSandbox takes a sandbox off the node, whatever its state; its
// containers stay.
func (s *Server) RemoveSandbox(id string) error {
	return s.onSandbox("remove", id, func(sb *sandbox) { s.scene.removeSandbox(sb) })
}

// AddSandbox gives a pod one more sandbox, with the next attempt, and returns
// its id. Containers created from now on are in it.
func (s *Server) AddSandbox(uid string) (id string, err error) {
	s.edit(func() {
		w := s.scene.world
		p := w.pod(uid)
		if p == nil {
			err = fmt.Errorf("add sandbox to pod %s: %w", uid, errGone)
			return
		}
		attempt := uint32(0)
		if last := p.sandbox(); last != nil {
			attempt = last.attempt + 1
		}
		id = w.newSandbox(p, attempt, w.wall()).id
	})
	return id, err
}

func (s *Server) onSandbox(what, id string, do func(*sandbox)) error {
	var err error
	s.edit(func() {
		sb := s.scene.sandboxOf[id]
		if sb == nil {
			err = fmt.Errorf("%s sandbox %s: %w", what, id, errGone)
			return
		}
		do(sb)
	})
	return err
}

// RemovePod takes all of a pod off the node at once.
func (s *Server) RemovePod(uid string) error {
	var err error
	s.edit(func() {
		p := s.scene.pod(uid)
		if p == nil {
			err = fmt.Errorf("remove pod %s: %w", uid, errGone)
			return
		}
		s.scene.removePod(p)
	})
	return err
}
