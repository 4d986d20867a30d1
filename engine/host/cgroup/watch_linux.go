package cgroup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"

	"github.com/plegtop/plegtop/engine/host/proc"
	"github.com/plegtop/plegtop/engine/host/reads"
	"github.com/plegtop/plegtop/engine/pleg"
)

const (
	// mostWatches is how many groups are watched at most: twenty times those of a kubelet. The kernel needs
	// about 1 KiB for each.
	mostWatches = 16_384
	// deepestGroup is how far below the root the group of a container may be: in the tree of a kubelet
	// within that of another machine it is nine.
	deepestGroup = 14
)

// A watch knows which groups of containers exist, and whether a process is in them. It watches the folders that
// lead to containers, and one file in each container's group. It watches nothing below that: those groups
// belong to the container, and there may be any number of them. It belongs to one goroutine.
type watch struct {
	trees   []tree
	outer   []string // the containers that the node is in
	deliver func(pleg.Upstream)

	isComplete bool // all that was there at the beginning has been read: later changes are events
	notify     *fsnotify.Watcher
	failed     chan error        // by the watcher
	watched    map[string]*group // by path
	lives      map[string]*life  // by the id of the container
	buffer     [256]byte
}

// A group is one control group.
type group struct {
	*tree
	path     string
	depth    int
	id       string            // the container whose group it is; "" for a folder that leads to containers
	children map[string]*group // by name; nil for the group of a container
	isAlive  bool              // a process is in it; for v1: the group exists
}

// run watches the groups until ctx ends or something fails. When ctx ends it returns the cause of ctx.
func (w *watch) run(ctx context.Context) (err error) {
	if w.notify, err = fsnotify.NewWatcher(); err != nil {
		return watchError(err)
	}
	w.failed, w.watched, w.lives = make(chan error, 1), map[string]*group{}, map[string]*life{}
	drained := reads.Go(func() error { // errors are always taken at once: the watcher may hold its lock until then
		for err := range w.notify.Errors {
			select {
			case w.failed <- err:
			default: // an earlier error is not handled yet
			}
		}
		return nil
	})
	defer func() {
		_ = w.notify.Close() // the kernel drops the watches with it
		<-drained.Done()
	}()
	if err = w.readAll(ctx); err == nil {
		err = w.checkWhole()
	}
	w.isComplete = true
	debug.FreeOSMemory() // the memory for the first reading is not needed again
	for err == nil {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case event := <-w.notify.Events:
			err = w.take(ctx, event)
		case err = <-w.failed:
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				err = w.readAll(ctx)
			}
		}
	}
	return err
}

// readAll reads everything again. So it finds the changes for which the kernel's queue had no room.
func (w *watch) readAll(ctx context.Context) error {
	for i := range w.trees {
		t := &w.trees[i]
		root := w.watched[t.dir]
		if root == nil {
			root = &group{tree: t, path: t.dir, children: map[string]*group{}}
		}
		if err := w.readFolder(ctx, root); err != nil {
			return err
		}
	}
	return nil
}

// checkWhole returns an error if the tree is that of one container, so that it shows nothing of a kubelet or a
// runtime.
func (w *watch) checkWhole() error {
	for _, g := range w.watched {
		if g.id != "" || strings.Contains(g.path, "kubepods") {
			return nil
		}
	}
	if root := w.trees[0]; root.isPart() {
		return refusal(root.dir + " has the control groups of one container alone: mount the host's root and name it with --host-root")
	}
	return nil
}

// take handles one event. The event's name is the path that is watched, or a path below it.
func (w *watch) take(ctx context.Context, event fsnotify.Event) error {
	parent := w.watched[filepath.Dir(event.Name)]
	switch {
	case parent == nil: // it is not watched any more
		return nil
	case parent.id != "" && event.Op == fsnotify.Write: // its file has changed
		w.readState(parent)
	case parent.id != "":
		return w.readGroup(parent)
	case event.Has(fsnotify.Create | fsnotify.Remove | fsnotify.Rename):
		return w.look(ctx, parent, filepath.Base(event.Name))
	}
	return nil // it is a file in a folder that leads to containers
}

// look reads what a name in a folder is now.
func (w *watch) look(ctx context.Context, parent *group, name string) error {
	path := filepath.Join(parent.path, name)
	if info, err := os.Lstat(path); err != nil || !info.IsDir() {
		if !isThere(parent.dir) {
			return fmt.Errorf("%s is not there any more", parent.dir) // the tree is gone, but no container has ended
		}
		w.drop(parent, name)
		return nil
	}
	g := parent.children[name]
	if g == nil {
		name = path[len(path)-len(name):] // one text for both
		g = &group{tree: parent.tree, path: path, depth: parent.depth + 1, id: proc.IDIn(name)}
		if slices.Contains(w.outer, g.id) {
			g.id = ""
		}
		if g.id != "" && isOthers(path) {
			return nil
		}
		if g.id == "" {
			g.children = map[string]*group{}
		}
		parent.children[name] = g
	}
	switch {
	case g.id != "":
		return w.readGroup(g)
	case g.depth < deepestGroup:
		return w.readFolder(ctx, g)
	}
	return nil
}

// readFolder watches a folder and then reads what is in it. In this order nothing is missed that is made in
// between.
func (w *watch) readFolder(ctx context.Context, g *group) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if isThere, err := w.add(g); !isThere {
		return err
	}
	entries, err := os.ReadDir(g.path)
	if err != nil && !isGone(err) {
		return fmt.Errorf("list control groups: %w", err)
	}
	names := slices.Collect(maps.Keys(g.children)) // also those that are gone
	for _, entry := range entries {
		if entry.IsDir() && g.children[entry.Name()] == nil {
			names = append(names, entry.Name())
		}
	}
	for _, name := range names {
		if err := w.look(ctx, g, name); err != nil {
			return err
		}
	}
	return nil
}

// readGroup watches a container's group and then reads its state. If the group is gone, an event of the folder
// above will say so.
func (w *watch) readGroup(g *group) error {
	isThere, err := w.add(g)
	if isThere {
		w.readState(g)
	}
	return err
}

func (w *watch) readState(g *group) {
	if !g.isV2 {
		g.isAlive = true
	} else if text, err := proc.ReadLine(w.target(g), w.buffer[:]); err == nil && len(text) > 0 { // in a picture the file may just be written
		g.isAlive = Stat(string(text), "populated") > 0
	}
	l := w.lives[g.id]
	if l == nil {
		l = new(life)
		w.lives[g.id] = l
	}
	if !slices.Contains(l.groups, g) {
		l.groups = append(l.groups, g)
	}
	w.changed(l, g)
}

// target returns the path that is watched for a group; "" for none.
func (w *watch) target(g *group) string {
	switch {
	case g.id == "":
		return g.path
	case g.isV2:
		return filepath.Join(g.path, "cgroup.events")
	}
	return ""
}

// add watches a group, and reports whether the group exists. It may be called again for the same group. That
// changes nothing, unless the group was removed and made again.
func (w *watch) add(g *group) (isThere bool, err error) {
	if w.watched[g.path] == nil && len(w.watched) >= mostWatches {
		return false, refusal(fmt.Sprintf("there are more than %d control groups below %s, too many to watch", mostWatches, g.dir))
	}
	if target := w.target(g); target != "" {
		err = w.notify.Add(target)
	}
	switch {
	case isGone(err):
		return false, nil
	case err != nil:
		return false, watchError(err)
	}
	w.watched[g.path] = g
	return true, nil
}

// drop forgets what had this name in a folder, and reports that the containers' groups in it are gone.
func (w *watch) drop(parent *group, name string) {
	g := parent.children[name]
	if g == nil {
		return
	}
	delete(parent.children, name)
	for name := range g.children {
		w.drop(g, name)
	}
	if w.watched[g.path] == nil {
		return
	}
	delete(w.watched, g.path)
	_ = w.notify.Remove(w.target(g)) // the kernel may have dropped it
	if l := w.lives[g.id]; g.id != "" && l != nil {
		g.isAlive = false
		l.groups = slices.DeleteFunc(l.groups, func(o *group) bool { return o == g })
		w.changed(l, g)
	}
}

// isGone reports whether an error means that the group was removed while it was read.
func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV) }

// watchError returns the error for a watch that the kernel does not give, with what to do.
func watchError(err error) error {
	switch {
	case errors.Is(err, unix.ENOSPC):
		return refusal("the kernel lets this user watch no more files: raise fs.inotify.max_user_watches with sysctl")
	case errors.Is(err, unix.EMFILE):
		return refusal("the kernel lets this user watch no files at all, or plegtop has too many open: raise fs.inotify.max_user_instances with sysctl, or ulimit -n")
	}
	return fmt.Errorf("watch control groups: %w", err)
}
