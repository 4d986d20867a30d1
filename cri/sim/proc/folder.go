// Package proc writes a folder that looks like the root of a node's file system: its
// /proc, and files beside it. It knows nothing of pods: it is told what there is.
package proc

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A Folder is a folder that looks like the root of the node's file system, as
// far as it was told. A reader finds every file whole, and a process with all of
// its files or not at all. It must not be used from two goroutines at once.
//
// Its times are those of the real clock, since that is what its readers go by.
type Folder struct {
	dir    string
	boot   time.Time
	at     time.Time // when the files of the node as a whole were last written
	shown  map[int]Process
	kept   map[string]string // files by what they hold
	held   map[string]string // what the files beside /proc hold, by path
	groups map[string]string // the numbers of the processes in each control group, by its path
}

// New makes the folder, of a node without processes that was booted at boot.
func New(dir string, boot time.Time) (*Folder, error) {
	f := &Folder{dir: dir, boot: boot, shown: map[int]Process{}, kept: map[string]string{}, held: map[string]string{}, groups: map[string]string{}}
	for _, folder := range []string{dir, f.proc(), f.proc("pressure"), filepath.Join(dir, ".kept")} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			return nil, err
		}
	}
	if err := f.replace(dir, map[string]string{groupsFolder + "/cgroup.procs": "", groupsFolder + "/cgroup.controllers": "cpu memory pids\n"}); err != nil {
		return nil, err
	}
	return f, f.replace(f.proc(), calmFiles)
}

func (f *Folder) proc(names ...string) string {
	return filepath.Join(append([]string{f.dir, "proc"}, names...)...)
}

// What is being made or taken away lies here for a moment.
func (f *Folder) coming() string { return filepath.Join(f.dir, ".coming") }
func (f *Folder) going() string  { return filepath.Join(f.dir, ".going") }

// Follow has the folder show these processes and no others, and their control groups as
// the unified hierarchy has them. With an error it may show half of them.
func (f *Folder) Follow(now time.Time, all []Process) error {
	if err := f.followGroups(all); err != nil { // first: of these somebody is told
		return err
	}
	left := maps.Clone(f.shown)
	for _, p := range all {
		delete(left, p.PID)
	}
	for pid := range left {
		if err := f.remove(pid); err != nil {
			return err
		}
	}
	for _, p := range all {
		if err := f.show(now, p); err != nil {
			return err
		}
	}
	return nil
}

func (f *Folder) show(now time.Time, p Process) error {
	was, there := f.shown[p.PID]
	switch {
	case there && was == p:
		return nil
	case there && was.Args == p.Args && was.Cgroup == p.Cgroup && was.Born.Equal(p.Born):
		f.shown[p.PID] = p
		return f.replace(f.proc(strconv.Itoa(p.PID)), f.files(now, p))
	case there: // another one of the same id
		if err := f.remove(p.PID); err != nil {
			return err
		}
	}
	return f.add(now, p)
}

func (f *Folder) add(now time.Time, p Process) error {
	dir := f.coming()
	files := f.files(now, p)
	files["comm"], files["cmdline"], files["cgroup"] = p.comm()+"\n", p.Args, "0::"+p.Cgroup+"\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := within(path, func() error { return f.write(path, text) }); err != nil {
			return err
		}
	}
	f.shown[p.PID] = p
	return os.Rename(dir, f.proc(strconv.Itoa(p.PID)))
}

// files returns the files of p that may change while it is there.
func (f *Folder) files(now time.Time, p Process) map[string]string {
	up := now.Sub(f.boot)
	age := up
	if !p.Born.IsZero() {
		age = now.Sub(p.Born)
	}
	files := p.threadFiles(p.PID, up, age)
	files["status"] = p.status()
	maps.Copy(files, p.ownFiles())
	for tid := p.PID; tid < p.PID+p.Threads; tid++ { // its own first
		for name, text := range p.threadFiles(tid, up, age) {
			files[filepath.Join("task", strconv.Itoa(tid), name)] = text
		}
	}
	return files
}

// Hold has the folder hold these files beside /proc, by their paths on the node, and no
// others. With an error it may hold some of them.
func (f *Folder) Hold(files map[string]string) error {
	for path := range f.held {
		if _, stays := files[path]; stays {
			continue
		}
		if err := os.Remove(f.dir + path); err != nil {
			return err
		}
		_ = os.Remove(f.dir + filepath.Dir(path)) // if that was the last one in it
		delete(f.held, path)
	}
	for path, text := range files {
		if was, there := f.held[path]; there && was == text {
			continue
		}
		if err := f.replace(f.dir, map[string]string{path: text}); err != nil {
			return err
		}
		f.held[path] = text
	}
	return nil
}

// remove takes the folder of a process away.
func (f *Folder) remove(pid int) error {
	delete(f.shown, pid)
	if err := os.Rename(f.proc(strconv.Itoa(pid)), f.going()); err != nil {
		return err
	}
	return os.RemoveAll(f.going())
}

// Pass lets the node's clocks go on, about once a second: its time up, and what
// the programs that are not idle have used. With an error some of that has been left as it was.
func (f *Folder) Pass(now time.Time) error {
	if now.Sub(f.at) < time.Second {
		return nil
	}
	f.at = now
	if err := f.replace(f.proc(), nodeFiles(now.Sub(f.boot), f.boot)); err != nil {
		return err
	}
	for _, p := range f.shown {
		if p.Percent == 0 {
			continue
		}
		up := now.Sub(f.boot)
		if err := f.replace(f.proc(strconv.Itoa(p.PID)), map[string]string{"stat": p.stat(p.PID, up, up)}); err != nil {
			return err
		}
	}
	return nil
}

// replace puts each file in the place of the one that was there.
func (f *Folder) replace(dir string, files map[string]string) error {
	for name, text := range files {
		if err := f.write(f.coming(), text); err != nil {
			return err
		}
		path := filepath.Join(dir, name)
		if err := within(path, func() error { return os.Rename(f.coming(), path) }); err != nil {
			return err
		}
	}
	return nil
}

// within does something that needs the folder of path, and makes that if it is not there.
func within(path string, do func() error) error {
	err := do()
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), do())
	}
	return err
}

// write makes a file. Many files hold the same few texts, and a link is much
// cheaper to make than a file: the texts that are not a process's own are kept
// for that.
func (f *Folder) write(path, text string) error {
	if strings.HasPrefix(text, socketLink) {
		return os.Symlink(text, path)
	}
	base := filepath.Base(path)
	if base != "wchan" && base != "stack" && base != "comm" && base != "environ" {
		return os.WriteFile(path, []byte(text), 0o600)
	}
	kept, ok := f.kept[text]
	if !ok {
		kept = filepath.Join(f.dir, ".kept", strconv.Itoa(len(f.kept)))
		if err := os.WriteFile(kept, []byte(text), 0o600); err != nil {
			return err
		}
		f.kept[text] = kept
	}
	return os.Link(kept, path)
}
