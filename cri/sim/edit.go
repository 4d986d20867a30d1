package sim

import (
	"errors"
	"fmt"
	"time"
)

// A PodSpec is a pod for [Server.AddPod].
type PodSpec struct {
	Namespace, Name string
	Age             time.Duration // how long ago it was created
	Containers      []string      // by name; all run
}

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
		born := w.wall().Add(-spec.Age)
		p := w.newPod(podSpec{namespace: spec.Namespace, name: spec.Name, manual: true})
		made.UID, made.Sandbox = p.uid, w.newSandbox(p, 0, born).status.Id
		for _, name := range spec.Containers {
			c := w.newContainer(p, &containerSpec{name: name, image: imageApp}, born)
			w.run(c, born)
			made.Containers[name] = c.status.Id
		}
	})
	return made
}

// ExitContainer ends a running container, with a reason and a message that may be empty.
// It fails for one that does not run.
func (s *Server) ExitContainer(id string, code int32, reason, message string) error {
	var err error
	s.edit(func() {
		w := s.scene.world
		switch c := w.containerOf[id]; {
		case c == nil:
			err = errors.New("no such container")
		case !c.runs():
			err = fmt.Errorf("it is %v", c.status.State)
		default:
			w.exitContainer(c, exit{code, reason, message})
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
