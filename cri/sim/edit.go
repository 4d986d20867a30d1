package sim

import (
	"errors"
	"fmt"
	"maps"
	"time"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

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
// hands off it: it changes only by ExitContainer and RemovePod, in any scenario.
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

// ExitContainer ends a running container, with a reason that may be empty.
func (s *Server) ExitContainer(id string, code int32, reason string) error {
	var err error
	s.edit(func() {
		w := s.scene.world
		switch c := w.containerOf[id]; {
		case c == nil:
			err = errors.New("no such container")
		case c.state != cri.ContainerState_CONTAINER_RUNNING:
			err = fmt.Errorf("it is %v", c.state)
		default:
			w.exitContainer(c, exit{code: code, reason: reason})
		}
	})
	if err != nil {
		return fmt.Errorf("end container %s: %w", id, err)
	}
	return nil
}

// RemovePod takes all of a pod off the node at once; one that is not there, it leaves so.
func (s *Server) RemovePod(uid string) {
	s.edit(func() {
		if p := s.scene.world.pod(uid); p != nil {
			s.scene.world.removePod(p)
		}
	})
}
