package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/plegtop/plegtop/cri/sim/proc"
	"github.com/plegtop/plegtop/engine/guard"
)

// Config says which world to show. The zero value is ready to use.
type Config struct {
	Scenario string        // one of [Scenarios]; empty: "tour"
	Seed     uint64        // equal seeds give equal worlds
	Start    time.Time     // where the server's clock begins; zero: now
	Clock    float64       // how much faster than the real clock the server's goes; 0: the scenario's own
	Speed    float64       // of the script against the server's clock, see [Server.SetSpeed]; 0: 1
	NoExpect bool          // the kubelet's workers do not expect the events of what they do themselves
	Ahead    time.Duration // how long the scenario has gone on when the clock begins
	Dir      string        // where to put the private folder of the socket and the node's files; empty: TMPDIR, or in memory
}

// speed returns how fast the server's clock goes in a scenario.
func (c Config) speed(sc scenario) float64 { return cmp.Or(c.Clock, sc.speed, 1) }

// A Server is a running runtime. Its methods are safe for concurrent use.
type Server struct {
	began   time.Time // on the server's clock
	started time.Time // the same moment on the real one
	config  Config
	clock   atomic.Pointer[clock]
	dir     string
	lock    *os.File // held on dir
	root    string   // of the node's files; empty: there are none
	wire    *wire
	codec   *codec
	cancel  context.CancelFunc
	closing sync.Once
	ticking sync.WaitGroup
	wake    chan struct{} // of capacity 1: the queue may have changed
	turn    sync.Mutex    // held for a whole step, so that the wire and the node follow the newest one
	node    *proc.Folder  // guarded by turn; nil: the node shows nothing of itself
	failed  bool          // guarded by turn: it never will again
	drawn   uint64        // guarded by turn: the changes of the world that node shows
	debug   *debugger     // guarded by turn; nil as long as node is

	mu       sync.Mutex // guards the rest
	unhook   func() bool
	scene    *scene
	shown    shown
	lists    *lists
	events   events
	calls    []Call         // the last ones, and some more before them
	begun    map[string]int // all calls, by method
	held     []Call
	requests []string      // beside the CRI, likewise
	moved    chan struct{} // closed and replaced whenever held changes
}

// Start returns a server that is listening and whose first pods are there. It
// runs until it is closed or ctx ends. The socket lies in a new folder that
// nobody but this user can enter.
func Start(ctx context.Context, c Config) (*Server, error) {
	sc, err := scenarioNamed(c.Scenario)
	if err != nil {
		return nil, err
	}
	if c.Clock < 0 || c.Speed < 0 {
		return nil, fmt.Errorf("clock %v, speed %v: want more than 0, or 0 for the scenario's own", c.Clock, c.Speed)
	}
	dir, lock, err := newFolder(c.Dir)
	if err != nil {
		return nil, err
	}
	s := newServer(sc, c, dir)
	s.lock = lock
	if err := s.open(sc); err != nil {
		return nil, errors.Join(err, removeFolder(dir, lock))
	}
	ctx, s.cancel = context.WithCancel(ctx)
	s.ticking.Go(func() {
		defer guard.Catch()
		s.tick(ctx)
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unhook = context.AfterFunc(ctx, func() {
		defer guard.Catch()
		_ = s.Close()
	})
	return s, nil
}

func newServer(sc scenario, c Config, dir string) *Server {
	s := &Server{
		began: c.Start, started: time.Now(), config: c, dir: dir, codec: newCodec(),
		wake: make(chan struct{}, 1), moved: make(chan struct{}), begun: map[string]int{},
	}
	if s.began.IsZero() {
		s.began = s.started
	}
	s.clock.Store(&clock{shows: s.began, at: s.started, speed: c.speed(sc)})
	s.scene = newScene(sc, c.Seed, s.began.Add(-c.Ahead), nil)
	s.scene.kubelet.deaf = c.NoExpect
	s.scene.setPace(sc.limit(cmp.Or(c.Speed, 1)), false)
	s.scene.onChange = func(t transition) { s.scene.tell(t, &s.events) }
	s.scene.advance(s.began)
	s.wire = &wire{path: filepath.Join(dir, "cri.sock"), make: s.newGRPC}
	return s
}

// open makes what the outside sees of s.
func (s *Server) open(sc scenario) error {
	if !sc.bare {
		s.root = filepath.Join(s.dir, "node")
		if err := s.draw(s.picture()); err != nil {
			return fmt.Errorf("make the demo's node: %w", err)
		}
	}
	if err := s.wire.set(!s.scene.away); err != nil {
		return fmt.Errorf("listen on the demo's socket: %w", err)
	}
	return nil
}

func (s *Server) newGRPC() *grpc.Server {
	g := grpc.NewServer(
		grpc.ForceServerCodecV2(s.codec), grpc.WaitForHandlers(true),
		grpc.UnaryInterceptor(s.unary), grpc.StreamInterceptor(s.stream),
	)
	cri.RegisterRuntimeServiceServer(g, runtimeService{s: s})
	return g
}

// Endpoint returns where the server listens, as "unix:///path".
func (s *Server) Endpoint() string { return "unix://" + s.wire.path }

// HostRoot returns a folder that is laid out as the root of the node's file
// system: its /proc shows the processes of the containers, their shims and the
// daemons, where containerd listens, the mounts, and that the node is otherwise calm. Beside
// that there are the kernel's log, containerd's configuration, its folders of what runs, and
// its debug socket where the path is short enough for one. It is "" if the server began with a
// scenario in which processes do not matter; the folder is not there while one
// of those plays later. It follows the world within moments.
func (s *Server) HostRoot() string { return s.root }

// Now returns the time on the server's clock.
func (s *Server) Now() time.Time { return s.clock.Load().now() }

// Real returns how much real time a duration of the server's clock takes, at its
// present pace and rounded up.
func (s *Server) Real(d time.Duration) time.Duration { return s.clock.Load().real(d) }

// Close cuts all connections, ends all calls, and removes the socket and its
// folder. Closing twice does no harm. It is also done when the context of
// Start ends.
func (s *Server) Close() error {
	var err error
	s.closing.Do(func() {
		s.mu.Lock()
		s.unhook()
		s.mu.Unlock()
		s.cancel()
		s.wire.close()
		s.ticking.Wait()
		s.turn.Lock()
		defer s.turn.Unlock()
		s.failed = true
		s.debug.close()
		err = removeFolder(s.dir, s.lock)
	})
	return err
}

// tick lets the world's time pass until ctx ends.
func (s *Server) tick(ctx context.Context) {
	for {
		due := make(<-chan time.Time) // never
		if next, ok := s.step(func() {}); ok {
			due = time.After(s.Real(next.Sub(s.Now())))
		}
		var second <-chan time.Time // never
		if s.root != "" {
			second = time.After(time.Second)
		}
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		case <-due:
		case <-second: // the node's clocks go on
		}
	}
}

// step brings the world up to now, does do in it, and has the wire and the node
// follow. It returns when the next task is due. It must not be called from a call's
// handler: the wire waits for those.
func (s *Server) step(do func()) (next time.Time, ok bool) {
	s.turn.Lock()
	defer s.turn.Unlock()
	var away bool
	var now picture
	s.change(func() {
		do()
		next, ok = s.scene.next()
		away, now = s.scene.away, s.picture()
	})
	_ = s.draw(now)       // a node that cannot be shown is not there at all
	_ = s.wire.set(!away) // a socket that can't come back looks to its clients like what it is: gone
	return next, ok
}

// change brings the world up to now and does do in it.
func (s *Server) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scene.advance(s.Now())
	do()
}

// edit changes the world from outside.
func (s *Server) edit(do func()) {
	s.step(do)
	s.look()
}

// look has the server see what is new in the queue.
func (s *Server) look() {
	select {
	case s.wake <- struct{}{}:
	default: // it is being woken already
	}
}
