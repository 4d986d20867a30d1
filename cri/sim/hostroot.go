package sim

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/plegtop/plegtop/cri/sim/proc"
)

// A picture is what the node shows at one moment of the world.
type picture struct {
	changes   uint64 // of the world
	bare      bool   // nothing at all
	processes []proc.Process
	files     map[string]string
	skew      time.Duration
}

// picture returns what the node shows now, its processes only if the world has
// changed. The server's turn and mutex must be held.
func (s *Server) picture() picture {
	p := picture{changes: s.scene.changes, bare: s.scene.scenario.bare, skew: s.scene.skew}
	if s.root == "" || s.failed || p.bare || p.changes == s.drawn {
		return p
	}
	p.processes, p.files = s.scene.processes(s.wire.path), s.scene.files()
	clock := s.clock.Load()
	p.files["/dev/kmsg"] = s.scene.kernelLog(*clock, s.boot())
	for i, one := range p.processes {
		if !one.Born.IsZero() {
			p.processes[i].Born = clock.when(one.Born)
		}
	}
	return p
}

// draw has the node's files show p. If that fails they are taken away: half a
// node would accuse the innocent. The server's turn must be held.
func (s *Server) draw(p picture) error {
	if s.root == "" || s.failed {
		return nil
	}
	if p.bare {
		return s.conceal()
	}
	err := s.show(p)
	if err != nil {
		s.failed = true
		err = errors.Join(err, s.conceal())
	}
	return err
}

// upBefore is how long the node had been up when the server was started:
// longer than the oldest pod has been there.
const upBefore = 500 * time.Hour

func (s *Server) boot() time.Time { return s.started.Add(-upBefore) }

func (s *Server) show(p picture) (err error) {
	if s.node == nil {
		if s.node, err = proc.New(s.root, s.boot()); err != nil {
			return err
		}
		s.debug = s.newDebugger()
	}
	now := time.Now()
	if p.processes != nil {
		if err := s.node.Follow(now, p.processes); err != nil {
			return err
		}
		p.files[configPath] = s.debug.config
		if err := s.node.Hold(p.files); err != nil {
			return err
		}
		s.drawn = p.changes
	}
	return s.node.Pass(now, p.skew)
}

// conceal takes all files of the node away at once.
func (s *Server) conceal() error {
	s.debug.close()
	s.node, s.debug, s.drawn = nil, nil, 0
	gone := s.root + ".gone"
	if err := os.Rename(s.root, gone); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(gone)
}
