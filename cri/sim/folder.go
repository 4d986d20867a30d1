package sim

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/plegtop/plegtop/cri/sim/proc"
	"github.com/plegtop/plegtop/engine/osfile"
)

const (
	folderPattern = "plegtop-demo-*"
	// folderLock is the file in a folder that is locked by whoever uses it.
	folderLock = "lock"
	// folderYoung is how old a folder must be to be taken for left behind: one that
	// is being made has no lock yet.
	folderYoung = time.Minute
)

// newFolder makes a folder below base for one server, which is locked until lock is
// closed or the process has ended, however that was. It removes the folders of those
// that were killed.
func newFolder(base string) (dir string, lock *os.File, err error) {
	if base == "" {
		base = tempDir()
	}
	removeLeft(base)
	if dir, err = os.MkdirTemp(base, folderPattern); err != nil {
		return "", nil, fmt.Errorf("make a folder for the demo's socket: %w", err)
	}
	lock, err = os.OpenFile(filepath.Join(dir, folderLock), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = osfile.Lock(lock)
	}
	if err != nil {
		_ = removeFolder(dir, lock)
		return "", nil, fmt.Errorf("lock the demo's folder: %w", err)
	}
	return dir, lock, nil
}

// removeFolder removes what [newFolder] has made.
func removeFolder(dir string, lock *os.File) error {
	_ = lock.Close()
	return os.RemoveAll(dir)
}

// inMemory is a file system that holds nothing on a disk.
const inMemory = "/dev/shm"

// tempDir returns inMemory where there is one, unless a person wants another folder: a node
// is a thousand small files, and to make or to remove them on a busy disk takes up to a second.
func tempDir() string {
	if os.Getenv("TMPDIR") != "" {
		return os.TempDir()
	}
	try, err := os.MkdirTemp(inMemory, folderPattern)
	if err != nil {
		return os.TempDir()
	}
	_ = os.Remove(try) // what cannot be removed goes with the folders that were left
	return inMemory
}

// removeLeft removes the folders of this user that nobody holds. What cannot be
// looked at or removed stays.
func removeLeft(base string) {
	all, _ := filepath.Glob(filepath.Join(base, folderPattern))
	for _, dir := range all {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < folderYoung {
			continue
		}
		if uid, known := osfile.Owner(info); known && uid != os.Getuid() {
			continue
		}
		lock, err := os.OpenFile(filepath.Join(dir, folderLock), os.O_RDWR|osfile.NoFollow, 0) // its maker may have been killed before there was one
		if err == nil && osfile.Lock(lock) != nil || err != nil && !errors.Is(err, fs.ErrNotExist) {
			_ = lock.Close()
			continue
		}
		_ = removeFolder(dir, lock)
	}
}

// A picture is what the node shows at one moment of the world.
type picture struct {
	changes   uint64 // of the world
	bare      bool   // nothing at all
	processes []proc.Process
	files     map[string]string
}

// picture returns what the node shows now, its processes only if the world has
// changed. The server's turn and mutex must be held.
func (s *Server) picture() picture {
	p := picture{changes: s.scene.changes, bare: s.scene.scenario.bare}
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
	return s.node.Pass(now)
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
