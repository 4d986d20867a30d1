package cgroup

import (
	"context"
	"errors"
	"fmt"
	"io"
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
)

const (
	// mostWatches bounds the control groups that are watched: twenty times what a kubelet
	// has. The kernel needs about 1 KiB for each.
	mostWatches = 16_384
	// deepestGroup is how far below the root a container's group may be. In a kubelet's
	// tree within that of another machine it is nine.
	deepestGroup = 14
)

// A groupWatch follows which groups of containers there are, and whether a process is in
// them. It watches the folders that lead to these, and of each group one file. Nothing
// below a container's group is watched: that is the container's own affair, and may be
// any number.
//
// To read these files waits for nobody, unlike many of /proc. It belongs to one goroutine.
type groupWatch struct {
	trees []hierarchy
	outer []string // the containers that the whole node is in

	// changed is told of a container's group that is new or gone, or whose file has changed,
	// or that was read again.
	changed func(g *groupDir)
	began   bool // all that was there has been read: what comes is news

	notify *fsnotify.Watcher
	failed chan error // by the watcher
	dirs   map[string]*groupDir
	buffer [256]byte
}

// A groupDir is one control group.
type groupDir struct {
	*hierarchy
	path     string
	depth    int
	id       string               // of the container whose own group it is; empty for what leads to such
	isAlive  bool                 // a process is in it; with v1: it is there
	isGone   bool                 // it is not there any more
	children map[string]*groupDir // by name; of what leads to a container
}

// run follows the groups until ctx ends, whose cause it returns then, or something fails.
func (w *groupWatch) run(ctx context.Context) (err error) {
	if w.notify, err = fsnotify.NewWatcher(); err != nil {
		return watchError(err)
	}
	w.failed, w.dirs = make(chan error, 1), map[string]*groupDir{}
	drained := reads.Go(func() error { // at all times, for the watcher may hold its lock until an error is taken
		for err := range w.notify.Errors {
			select {
			case w.failed <- err:
			default: // one waits to be looked at already
			}
		}
		return nil
	})
	defer func() {
		_ = w.notify.Close() // the kernel drops the watches with it
		<-drained.Done()
	}()
	if err := w.readAll(ctx); err != nil {
		return err
	}
	if err := w.checkWhole(); err != nil {
		return err
	}
	w.began = true
	debug.FreeOSMemory() // what it took to read them all is not needed again
	return w.follow(ctx)
}

func (w *groupWatch) follow(ctx context.Context) (err error) {
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

// readAll reads everything again, and so finds what nothing has told of.
func (w *groupWatch) readAll(ctx context.Context) error {
	for i := range w.trees {
		tree := &w.trees[i]
		root := w.dirs[tree.dir]
		if root == nil {
			root = &groupDir{hierarchy: tree, path: tree.dir, children: map[string]*groupDir{}}
		}
		if err := w.readFolder(ctx, root); err != nil {
			return err
		}
	}
	return nil
}

// checkWhole refuses a tree that is a container's own, in which nothing of a kubelet or a
// runtime is.
func (w *groupWatch) checkWhole() error {
	for _, g := range w.dirs {
		if g.id != "" || strings.Contains(g.path, "kubepods") {
			return nil
		}
	}
	if root := w.trees[0]; root.isPart() {
		return refusal(root.dir + " has the control groups of one container alone: mount the host's root and name it with --host-root")
	}
	return nil
}

// take takes in one event. Its name is below what is watched, or that itself.
func (w *groupWatch) take(ctx context.Context, event fsnotify.Event) error {
	parent := w.dirs[filepath.Dir(event.Name)]
	switch {
	case parent == nil: // not watched any more
		return nil
	case parent.id != "" && event.Op == fsnotify.Write: // to its file
		w.readState(parent)
	case parent.id != "":
		return w.readGroup(parent)
	case event.Has(fsnotify.Create | fsnotify.Remove | fsnotify.Rename):
		return w.look(ctx, parent, filepath.Base(event.Name))
	}
	return nil // a file of a folder above
}

// look takes in what is there now by a name in a folder.
func (w *groupWatch) look(ctx context.Context, parent *groupDir, name string) error {
	path := filepath.Join(parent.path, name)
	if info, err := os.Lstat(path); err != nil || !info.IsDir() {
		if _, gone := os.Lstat(parent.dir); gone != nil {
			return fmt.Errorf("%s is not there any more", parent.dir) // no container has ended with it
		}
		w.drop(parent, name)
		return nil
	}
	g := parent.children[name]
	if g == nil {
		name = path[len(path)-len(name):] // one text for both
		g = &groupDir{hierarchy: parent.hierarchy, path: path, depth: parent.depth + 1}
		if id := proc.IDIn(name); id != "" && !slices.Contains(w.outer, id) {
			if isAnothers(path) {
				return nil
			}
			g.id = id
		} else {
			g.children = map[string]*groupDir{}
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

// readFolder watches a folder and takes in what is in it, in this order: what comes later
// is told.
func (w *groupWatch) readFolder(ctx context.Context, g *groupDir) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if isThere, err := w.watch(g); err != nil || !isThere {
		return err
	}
	names, err := foldersIn(g.path)
	if err != nil && !isGoneGroup(err) {
		return fmt.Errorf("list control groups: %w", err)
	}
	names = slices.AppendSeq(names, maps.Keys(g.children)) // what is not there any more, too
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if err := w.look(ctx, g, name); err != nil {
			return err
		}
	}
	return nil
}

// readGroup watches a container's group and reads its state, in this order.
func (w *groupWatch) readGroup(g *groupDir) error {
	isThere, err := w.watch(g)
	if isThere { // that it is gone is told by the folder above
		w.readState(g)
	}
	return err
}

func (w *groupWatch) readState(g *groupDir) {
	if !g.isV2 {
		g.isAlive = true
	} else if text, err := proc.ReadLine(w.watched(g), w.buffer[:]); err == nil && len(text) > 0 { // a picture's may just be written
		g.isAlive = Stat(string(text), "populated") > 0
	}
	w.changed(g)
}

// watched returns what is watched of a group; empty if nothing is.
func (w *groupWatch) watched(g *groupDir) string {
	switch {
	case g.id == "":
		return g.path
	case g.isV2:
		return filepath.Join(g.path, "cgroup.events")
	}
	return ""
}

// watch has the kernel tell of a group, and reports whether that is there. To watch again
// what is watched changes nothing, but what was made anew is.
func (w *groupWatch) watch(g *groupDir) (isThere bool, err error) {
	if w.dirs[g.path] == nil && len(w.dirs) >= mostWatches {
		return false, refusal(fmt.Sprintf("there are more than %d control groups below %s, too many to watch", mostWatches, g.dir))
	}
	if what := w.watched(g); what != "" {
		err = w.notify.Add(what)
	}
	if isGoneGroup(err) {
		return false, nil
	}
	if err != nil {
		return false, watchError(err)
	}
	w.dirs[g.path] = g
	return true, nil
}

// drop forgets what was in a folder by a name, and tells of the containers' groups in it.
func (w *groupWatch) drop(parent *groupDir, name string) {
	g := parent.children[name]
	if g == nil {
		return
	}
	delete(parent.children, name)
	for name := range g.children {
		w.drop(g, name)
	}
	if w.dirs[g.path] == nil {
		return
	}
	delete(w.dirs, g.path)
	_ = w.notify.Remove(w.watched(g)) // the kernel may have dropped it, which most do not
	if g.id != "" {
		g.isAlive, g.isGone = false, true
		w.changed(g)
	}
}

// isGoneGroup reports whether a group went while it was looked at.
func isGoneGroup(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV)
}

// watchError says what to do where the kernel gives no watch.
func watchError(err error) error {
	switch {
	case errors.Is(err, unix.ENOSPC):
		return refusal("the kernel lets this user watch no more files: raise fs.inotify.max_user_watches with sysctl")
	case errors.Is(err, unix.EMFILE):
		return refusal("the kernel lets this user watch no files at all, or plegtop has too many open: raise fs.inotify.max_user_instances with sysctl, or ulimit -n")
	}
	return fmt.Errorf("watch control groups: %w", err)
}

// foldersIn returns the names of the folders in one. Most of what is in a control group
// are files, which are not kept.
func foldersIn(dir string) (names []string, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for err == nil {
		var some []fs.DirEntry
		some, err = f.ReadDir(32)
		for _, entry := range some {
			if entry.IsDir() {
				names = append(names, entry.Name())
			}
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}
