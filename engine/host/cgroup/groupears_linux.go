package cgroup

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"slices"

	"github.com/plegtop/plegtop/engine/host/reads"
)

// A groupEar is a source that hears of containers' control groups. All but failed belongs
// to the goroutine of the watch.
type groupEar struct {
	changed   func(g *groupDir) error // as [groupWatch] has it; an error ends the source
	wantsV1   string                  // the file that is to be watched in a group of v1; empty for none
	began     bool                    // what comes is news
	hasFailed bool
	failed    chan error // has room for the one that ends it
}

func (e *groupEar) tell(g *groupDir) {
	if !e.hasFailed {
		e.fail(e.changed(g))
	}
}

func (e *groupEar) fail(err error) {
	if err != nil && !e.hasFailed {
		e.hasFailed = true
		e.failed <- err
	}
}

// A sharedWatch is a watch that runs for as long as somebody hears. To know all groups of a
// node takes a megabyte.
type sharedWatch struct {
	groupWatch
	ears  int             // guarded by the mu of Sources
	alive context.Context // ends when nobody hears any more
	end   context.CancelFunc
	tasks chan func() error // done by its goroutine
	task  *reads.Task       // its goroutine's
}

// hear has e hear until ctx ends, whose cause it returns then, or something fails. What is
// there at the beginning is told before e.began is set. Of ends, which may be nil, it hears
// the keys, too, in the watch's goroutine.
func (s *Sources) hear(ctx context.Context, trees []hierarchy, e *groupEar, ends *processEnds) error {
	w := s.join(ctx, trees)
	e.failed = make(chan error, 1)
	defer s.leave(w, e)
	waiting, stop := ends.watch(w.tasks)
	defer stop()
	add := w.tasks
	for {
		select {
		case add <- func() error { w.add(e); return nil }:
			add = nil
		case err := <-e.failed:
			return err
		case <-w.task.Done():
			return w.task.Err()
		case <-waiting.Done():
			return waiting.Err()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// join returns the watch that runs, or a new one.
func (s *Sources) join(ctx context.Context, trees []hierarchy) *sharedWatch {
	outer := s.outerContainers(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.now
	if w == nil || isOver(w.task) {
		w = &sharedWatch{groupWatch: groupWatch{trees: trees, outer: outer}, tasks: make(chan func() error)}
		w.alive, w.end = context.WithCancel(context.Background())
		s.now = w
		w.task = reads.Go(func() error { return w.run(w.alive, w.tasks) })
	}
	w.ears++
	return w
}

// leave returns when e hears nothing any more.
func (s *Sources) leave(w *sharedWatch, e *groupEar) {
	s.mu.Lock()
	if w.ears--; w.ears == 0 {
		w.end()
		if s.now == w {
			s.now = nil
		}
	}
	s.mu.Unlock()
	gone := make(chan struct{})
	select {
	case w.tasks <- func() error { w.remove(e); close(gone); return nil }:
		<-gone
	case <-w.task.Done():
	}
}

func isOver(task *reads.Task) bool {
	select {
	case <-task.Done():
		return true
	default:
		return false
	}
}

// add tells e of all that is there, by reading it again, and from then on of what changes.
func (w *sharedWatch) add(e *groupEar) {
	w.ear = append(w.ear, e)
	w.v1File = max(w.v1File, e.wantsV1)
	err := w.readAll(w.alive)
	if err == nil {
		err = w.checkWhole()
	}
	e.began = true
	debug.FreeOSMemory() // what it took to read them all is not needed again
	e.fail(err)
}

func (w *sharedWatch) remove(e *groupEar) {
	w.ear = slices.DeleteFunc(w.ear, func(other *groupEar) bool { return other == e })
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
