// Package stacks reads what Go writes of its goroutines, such as
// /debug/pprof/goroutine?debug=2 answers, and tells from it which goroutines wait for
// which lock, and which one holds it.
//
// The text comes as a stream and may be anything: no more is kept of it than the limits
// below allow, however long it is. What does not fit is counted in the total and left out
// of the rest, so that hostile text may hide a holder and never make one up.
package stacks

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

// What is kept of a dump: some ten times what the largest seen in the field had, and less
// than 30 MB together.
const (
	maxLine      = 64 << 10 // bytes; Go writes less than 2 KiB
	maxFrames    = 128      // of a goroutine; Go writes 100
	maxName      = 1 << 10  // bytes, of a function
	maxNames     = 16 << 10 // functions
	maxNameBytes = 4 << 20
	maxStates    = 64
	maxStacks    = 4 << 10   // that differ
	maxAlike     = 1 << 10   // goroutines of the same stack that may hold a lock
	maxKept      = 64 << 10  // goroutines that may hold a lock
	maxReceivers = 512 << 10 // of theirs
	maxLocks     = 4 << 10
	maxCalls     = 16 // of a lock; the CRI has some 40
	shown        = 20 // groups, locks, open goroutines
)

// Read reads a dump of goroutines to its end. Only Total, Groups, Locks and Open are set, and
// where the text says nothing of a holder there is none.
//
// If r ends with an error in the midst of it, the goroutines before that are returned
// together with the error. A goroutine that is not whole does not count, the one at which
// the text ends included. A text without any goroutine is an error. Read takes as long as
// r takes.
func Read(r io.Reader) (evidence.Stacks, error) {
	d := newDump()
	err := d.read(bufio.NewReaderSize(r, maxLine))
	if err == nil && d.total == 0 {
		err = errors.New("read a dump of goroutines: there is no goroutine in it, so it is something else")
	}
	return evidence.Stacks{Total: d.total, Groups: d.shownGroups(), Locks: d.shownLocks(), Open: d.shownOpen()}, err
}

// read takes line after line. One that is too long is no line of Go's, and read on as if
// it were unreadable.
func (d *dump) read(r *bufio.Reader) error {
	for {
		line, err := r.ReadSlice('\n')
		tooLong := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = r.ReadSlice('\n')
		}
		switch {
		case err == nil && tooLong:
			d.reading.broken = true
		case err == nil:
			d.line(bytes.TrimSuffix(line, []byte("\n")))
		case errors.Is(err, io.EOF):
			if len(line) == 0 && !tooLong && d.outermost() {
				d.end()
			}
			return nil
		default:
			return fmt.Errorf("read a dump of goroutines: %w", err)
		}
	}
}

// shownGroups are the groups of most goroutines. Those that wait for a lock or answer a
// call have a place before the many that a healthy runtime has idle.
func (d *dump) shownGroups() []evidence.Group {
	byCount := make([]*group, 0, len(d.groups))
	for i := range d.groups {
		if len(d.groups[i].frames) > 0 {
			byCount = append(byCount, &d.groups[i])
		}
	}
	most := func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(b.longest, a.longest), cmp.Compare(a.first, b.first))
	}
	idle := func(g *group) int {
		if g.lockers > 0 || g.call != "" {
			return 0
		}
		return 1
	}
	slices.SortFunc(byCount, func(a, b *group) int { return cmp.Or(cmp.Compare(idle(a), idle(b)), most(a, b)) })
	byCount = byCount[:min(len(byCount), shown)]
	slices.SortFunc(byCount, most)
	var groups []evidence.Group
	for _, g := range byCount {
		groups = append(groups, evidence.Group{
			Count: g.count, State: g.state, Longest: minutes(g.longest), Frames: d.names(g), First: g.first,
		})
	}
	return groups
}

// shownOpen are the goroutines that something is open of, the longest first. Numbers grow
// with time, so that of two that began in the same minute the lower is the older. What one
// does for a call is said with the call.
func (d *dump) shownOpen() []evidence.Goroutine {
	var open []*kept
	calls := map[int]bool{} // goroutines that answer one
	for i := range d.kept {
		k := &d.kept[i]
		if of := &d.groups[k.group]; d.isOpen(of) {
			open = append(open, k)
			if of.call != "" {
				calls[k.number] = true
			}
		}
	}
	open = slices.DeleteFunc(open, func(k *kept) bool { return calls[k.parent] })
	slices.SortFunc(open, func(a, b *kept) int {
		return cmp.Or(cmp.Compare(b.minutes, a.minutes), cmp.Compare(a.number, b.number))
	})
	var shownOnes []evidence.Goroutine
	for _, k := range open[:min(len(open), shown)] {
		shownOnes = append(shownOnes, d.shownGoroutine(k))
	}
	return shownOnes
}

// names are the functions of a group's stack.
func (d *dump) names(g *group) []string {
	names := make([]string, len(g.frames))
	for i, f := range g.frames {
		names[i] = d.functions[f].name
	}
	return names
}

func minutes(n int32) time.Duration { return time.Duration(n) * time.Minute }
