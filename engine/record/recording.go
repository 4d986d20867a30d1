// Package record writes down what an engine goes by, and plays it again: the machine's inputs in
// their order are the whole of what plegtop decides by, so that the same machine, stepped with
// them, shows the same snapshots and events.
//
// A recording is a row of segments. Each begins with a whole state of the machine, so that it can
// be played by itself: a seek plays one segment at most, a ring drops the oldest, a file is
// continued by more of them. As bytes a segment is
//
//   - a skippable frame of zstd (RFC 8878, section 3.1.2) with a [Head] in JSON,
//   - one frame of zstd, flushed every second, so that a crash takes no more than that;
//   - in which lie blocks: length, CRC-32C, and values of one stream of package frozen: first
//     what the machine began with and its state, then its inputs. Eight bytes that are no block
//     say that the segment was ended, and not cut off.
//
// A list that is as the one before is not written again, and of one that has changed only which
// rows are new and where the others stand.
//
// Recorder and Recording are safe for concurrent use, Player is not.
package record

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/evidence"
)

// A Recording is what was recorded: a file, or what a ring had at a moment. Safe for concurrent
// use. The zero value is empty.
type Recording struct {
	segments []*segment
	damage   error // what is wrong with what comes after them; nil for nothing
	file     *os.File
}

// Open opens a recording. One that is damaged, or ends in the middle, is played up to there. It fails
// with [ErrNoRecording] and [ErrNewer], and where the file cannot be read. The caller closes it.
func Open(path string) (*Recording, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would have us wait for who writes to it
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no regular file: name a recording")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("replay %s: %w", path, err), f.Close())
	}
	r := &Recording{file: f}
	r.segments, _, r.damage = scan(f, info.Size())
	if err = r.damage; len(r.segments) == 0 {
		if err == nil || errors.Is(err, ErrCut) {
			err = fmt.Errorf("%w: it is empty, or ends before anything in it is whole", ErrNoRecording)
		}
		return nil, errors.Join(fmt.Errorf("replay %s: %w", path, err), f.Close())
	}
	return r, nil
}

// Close closes the file, after which nothing more can be played.
func (r *Recording) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// Heads returns what the segments say of themselves, in their order.
func (r *Recording) Heads() []Head {
	heads := make([]Head, len(r.segments))
	for i, s := range r.segments {
		heads[i] = s.Head
	}
	return heads
}

// before returns the place of the last segment that begins at or before a moment; 0 if none does,
// and for the zero time: a damaged head may name an earlier one.
func (r *Recording) before(at time.Time) int {
	place := 0
	for i, s := range r.segments {
		if !at.IsZero() && !s.At.After(at) {
			place = i
		}
	}
	return place
}

// The ages of processes grow from look to look, all of them by the same. An entry has them as the
// difference to the oldest of their look, so that a look at processes that do what they did before
// is the same bytes again, which zstd writes in a few.
type ages struct {
	Age time.Duration // the largest of the look
	For time.Duration
}

// agesOf returns the ages of the oldest process of a look.
func agesOf(p evidence.Processes) (a ages) {
	each(&p, func(one *evidence.Process) { a.Age, a.For = max(a.Age, one.Age), max(a.For, one.For) })
	return a
}

// minus returns the ages to add to those of a look, so that they are what they were before.
func (a ages) minus() ages { return ages{-a.Age, -a.For} }

// add returns an input whose ages are greater by so much, if it has any. The input that it is
// given stays as it is.
func (a ages) add(in engine.Input) engine.Input {
	looked, is := in.(engine.Looked)
	if !is || looked.Report == nil || a == (ages{}) {
		return in
	}
	report := *looked.Report
	p := &report.Processes
	p.Containers, p.Shims, p.Helpers, p.Daemons = maps.Clone(p.Containers), slices.Clone(p.Shims), slices.Clone(p.Helpers), slices.Clone(p.Daemons)
	for id, all := range p.Containers {
		p.Containers[id] = slices.Clone(all)
	}
	each(p, func(one *evidence.Process) { one.Age, one.For = one.Age+a.Age, one.For+a.For })
	looked.Report = &report
	return looked
}

// each has do see each of the processes that a look finds anew.
func each(p *evidence.Processes, do func(*evidence.Process)) {
	for _, all := range p.Containers {
		for i := range all {
			do(&all[i])
		}
	}
	for _, all := range [][]evidence.Process{p.Shims, p.Helpers, p.Daemons} {
		for i := range all {
			do(&all[i])
		}
	}
}
