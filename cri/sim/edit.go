package sim

import (
	"errors"
	"fmt"
	"maps"
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
	err = change(s, "create container in pod", uid, (*world).pod, func(w *world, p *pod) error {
		if p.sandbox() == nil {
			return errGone
		}
		one := PodSpec{Containers: []ContainerSpec{spec}}.internal().containers[0]
		id = w.addContainer(p, &one, spec, w.wall()).id
		return nil
	})
	return id, err
}

// StartContainer starts a created container.
func (s *Server) StartContainer(id string) error {
	return change(s, "start container", id, containerByID, func(w *world, c *container) error {
		if c.state != cri.ContainerState_CONTAINER_CREATED {
			return fmt.Errorf("it is %v", c.state)
		}
		w.run(c, w.wall())
		return nil
	})
}

// ExitContainer ends a running container, with a reason that may be empty.
func (s *Server) ExitContainer(id string, code int32, reason string) error {
	return change(s, "end container", id, containerByID, func(w *world, c *container) error {
		if c.state != cri.ContainerState_CONTAINER_RUNNING {
			return fmt.Errorf("it is %v", c.state)
		}
		w.exitContainer(c, exit{code: code, reason: reason})
		return nil
	})
}

// RemoveContainer takes a container off the node, whatever its state.
func (s *Server) RemoveContainer(id string) error {
	return change(s, "remove container", id, containerByID, succeeds((*world).remove))
}

// StopSandbox makes a sandbox not ready; its containers stay as they are.
func (s *Server) StopSandbox(id string) error {
	return change(s, "stop sandbox", id, sandboxByID, succeeds((*world).stopSandbox))
}

// RemoveSandbox takes a sandbox off the node, whatever its state; its
// containers stay.
func (s *Server) RemoveSandbox(id string) error {
	return change(s, "remove sandbox", id, sandboxByID, succeeds((*world).removeSandbox))
}

// AddSandbox gives a pod one more sandbox, with the next attempt, and returns
// its id. Containers created from now on are in it.
func (s *Server) AddSandbox(uid string) (id string, err error) {
	err = change(s, "add sandbox to pod", uid, (*world).pod, succeeds(func(w *world, p *pod) {
		attempt := uint32(0)
		if last := p.sandbox(); last != nil {
			attempt = last.attempt + 1
		}
		id = w.newSandbox(p, attempt, w.wall()).id
	}))
	return id, err
}

// RemovePod takes all of a pod off the node at once.
func (s *Server) RemovePod(uid string) error {
	return change(s, "remove pod", uid, (*world).pod, succeeds((*world).removePod))
}

// change does something to what find returns for that full id.
func change[T any](s *Server, what, id string, find func(*world, string) *T, do func(*world, *T) error) error {
	err := errGone
	s.edit(func() {
		if one := find(s.scene.world, id); one != nil {
			err = do(s.scene.world, one)
		}
	})
	if err != nil {
		return fmt.Errorf("%s %s: %w", what, id, err)
	}
	return nil
}

func containerByID(w *world, id string) *container { return w.containerOf[id] }
func sandboxByID(w *world, id string) *sandbox     { return w.sandboxOf[id] }

func succeeds[T any](do func(*world, *T)) func(*world, *T) error {
	return func(w *world, one *T) error {
		do(w, one)
		return nil
	}
}
