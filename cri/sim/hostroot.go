package sim

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// A hostRoot is a folder that looks like the root of the node's file system, as
// far as /proc goes. A reader finds every file whole, and a process with all of
// its files or not at all. It must not be used from two goroutines at once.
//
// Its times are those of the real clock, since that is what its readers go by.
type hostRoot struct {
	dir   string
	boot  time.Time
	at    time.Time // when the files of the node as a whole were last written
	skew  time.Duration
	shown map[int]process
	kept  map[string]string // files by what they hold
}

// upBefore is how long the node had been up when the server was started:
// longer than the oldest pod has been there.
const upBefore = 500 * time.Hour

// newHostRoot makes the folder.
func newHostRoot(dir string, began time.Time) (*hostRoot, error) {
	h := &hostRoot{dir: dir, boot: began.Add(-upBefore), shown: map[int]process{}, kept: map[string]string{}}
	for _, folder := range []string{dir, h.proc(), h.proc("pressure"), filepath.Join(dir, ".kept")} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			return nil, err
		}
	}
	return h, h.replace(h.proc(), calmFiles)
}

func (h *hostRoot) proc(names ...string) string {
	return filepath.Join(append([]string{h.dir, "proc"}, names...)...)
}

// What is being made or taken away lies here for a moment.
func (h *hostRoot) coming() string { return filepath.Join(h.dir, ".coming") }
func (h *hostRoot) going() string  { return filepath.Join(h.dir, ".going") }

// A picture is what the node shows at one moment of the world.
type picture struct {
	changes   uint64 // of the world
	bare      bool   // nothing at all
	processes []process
	skew      time.Duration
}

// picture returns what the node shows now, its processes only if the world has
// changed. The server's turn and mutex must be held.
func (s *Server) picture() picture {
	p := picture{changes: s.scene.changes, bare: s.scene.scenario.bare, skew: s.scene.skew}
	if s.root == "" || s.failed || p.bare || p.changes == s.drawn {
		return p
	}
	p.processes = s.scene.processes(s.wire.path)
	clock := s.clock.Load()
	for i, one := range p.processes {
		if !one.born.IsZero() {
			p.processes[i].born = clock.when(one.born)
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

func (s *Server) show(p picture) (err error) {
	if s.node == nil {
		if s.node, err = newHostRoot(s.root, s.started); err != nil {
			return err
		}
	}
	now := time.Now()
	if p.processes != nil {
		if err := s.node.follow(now, p.processes); err != nil {
			return err
		}
		s.drawn = p.changes
	}
	return s.node.pass(now, p.skew)
}

// conceal takes all files of the node away at once.
func (s *Server) conceal() error {
	s.node, s.drawn = nil, 0
	gone := s.root + ".gone"
	if err := os.Rename(s.root, gone); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(gone)
}

// follow has the folder show these processes and no others.
func (h *hostRoot) follow(now time.Time, all []process) error {
	left := maps.Clone(h.shown)
	for _, p := range all {
		delete(left, p.pid)
	}
	for pid := range left {
		if err := h.remove(pid); err != nil {
			return err
		}
	}
	for _, p := range all {
		if err := h.show(now, p); err != nil {
			return err
		}
	}
	return nil
}

func (h *hostRoot) show(now time.Time, p process) error {
	was, there := h.shown[p.pid]
	switch {
	case there && was == p:
		return nil
	case there && was.args == p.args && was.cgroup == p.cgroup && was.born.Equal(p.born):
		h.shown[p.pid] = p
		return h.replace(h.proc(strconv.Itoa(p.pid)), h.files(now, p))
	case there: // another one of the same id
		if err := h.remove(p.pid); err != nil {
			return err
		}
	}
	return h.add(now, p)
}

// add makes the folder of a process.
func (h *hostRoot) add(now time.Time, p process) error {
	dir := h.coming()
	for tid := range p.tids() {
		if err := os.MkdirAll(filepath.Join(dir, threadFolder(tid)), 0o700); err != nil {
			return err
		}
	}
	files := h.files(now, p)
	files["comm"], files["cmdline"], files["cgroup"] = p.comm()+"\n", p.args, "0::"+p.cgroup+"\n"
	for name, text := range files {
		if err := h.write(filepath.Join(dir, name), text); err != nil {
			return err
		}
	}
	h.shown[p.pid] = p
	return os.Rename(dir, h.proc(strconv.Itoa(p.pid)))
}

func threadFolder(tid int) string { return filepath.Join("task", strconv.Itoa(tid)) }

// files returns the files of p that may change while it is there.
func (h *hostRoot) files(now time.Time, p process) map[string]string {
	up := now.Sub(h.boot)
	age := up
	if !p.born.IsZero() {
		age = now.Sub(p.born)
	}
	files := p.threadFiles(p.pid, up, age)
	files["status"] = p.status()
	for tid := range p.tids() {
		for name, text := range p.threadFiles(tid, up, age) {
			files[filepath.Join(threadFolder(tid), name)] = text
		}
	}
	return files
}

// remove takes the folder of a process away.
func (h *hostRoot) remove(pid int) error {
	delete(h.shown, pid)
	if err := os.Rename(h.proc(strconv.Itoa(pid)), h.going()); err != nil {
		return err
	}
	return os.RemoveAll(h.going())
}

// pass lets the node's clocks go on, about once a second: its time up, and what
// the programs that are not idle have used. The wall clock is ahead by skew.
func (h *hostRoot) pass(now time.Time, skew time.Duration) error {
	if skew == h.skew && now.Sub(h.at) < time.Second {
		return nil
	}
	h.at, h.skew = now, skew
	if err := h.replace(h.proc(), nodeFiles(now.Sub(h.boot), h.boot.Add(skew))); err != nil {
		return err
	}
	for _, p := range h.shown {
		if p.percent == 0 {
			continue
		}
		up := now.Sub(h.boot)
		if err := h.replace(h.proc(strconv.Itoa(p.pid)), map[string]string{"stat": p.stat(p.pid, up, up)}); err != nil {
			return err
		}
	}
	return nil
}

// replace puts each file in the place of the one that was there.
func (h *hostRoot) replace(dir string, files map[string]string) error {
	for name, text := range files {
		if err := h.write(h.coming(), text); err != nil {
			return err
		}
		if err := os.Rename(h.coming(), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// write makes a file. Many files hold the same few texts, and a link is much
// cheaper to make than a file: the texts that are not a process's own are kept
// for that.
func (h *hostRoot) write(path, text string) error {
	base := filepath.Base(path)
	if base != "wchan" && base != "stack" && base != "comm" {
		return os.WriteFile(path, []byte(text), 0o600)
	}
	kept, ok := h.kept[text]
	if !ok {
		kept = filepath.Join(h.dir, ".kept", strconv.Itoa(len(h.kept)))
		if err := os.WriteFile(kept, []byte(text), 0o600); err != nil {
			return err
		}
		h.kept[text] = kept
	}
	return os.Link(kept, path)
}
