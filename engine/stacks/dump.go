package stacks

import (
	"encoding/binary"
	"slices"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// A dump is what is kept of the goroutines.
type dump struct {
	total  int
	groups []*group
	byIDs  map[string]*group // by the ids of their functions
	ids    []byte            // of the last goroutine's functions
	locks  []*lock           // locks that goroutines wait for
	byKey  map[lockKey]*lock
	kept   []*goroutine
	frames int // of all kept goroutines
}

// A group is a set of goroutines with the same stack.
type group struct {
	evidence.Group         // without Frames
	knowledge.Sign         // what they do
	frames         []frame // the stack of the first goroutine
	wrappers       int     // how many innermost frames belong only to the lock that the goroutines wait for; 0 if they wait for none
	tells          int     // 1 if they wait for a lock or answer a call, 0 if not
	call           string  // the call of the CRI that the goroutines answer
}

// isOpen reports whether the goroutines answer a call or ask another program, and wait for no lock.
func (g *group) isOpen() bool { return g.wrappers == 0 && (g.call != "" || g.Open) }

// add counts a goroutine. While there is room it keeps a copy, because the goroutine may hold a lock. Without
// room the goroutine still counts in its group, and among those that wait for its lock.
func (d *dump) add(g *goroutine) {
	d.total++
	full := len(d.kept) == maxKept || d.frames+len(g.frames) > maxInKept
	of := d.groupOf(g)
	if of == nil {
		return
	}
	of.Count++
	of.Longest = max(of.Longest, g.For)
	g.group, g.Call, g.Doing = of, of.call, of.Doing
	if of.wrappers > 0 {
		d.wait(g)
	}
	if of.Count == 1 && full {
		of.frames = slices.Clone(g.frames[:min(len(g.frames), maxLate)])
	}
	if full || of.Count > maxAlike {
		return
	}
	kept := *g
	kept.frames = slices.Clone(g.frames)
	d.frames += len(g.frames)
	d.kept = append(d.kept, &kept)
	if of.Count == 1 {
		of.frames = kept.frames
	}
}

// groupOf returns the group of a goroutine's stack; nil if it has no stack, or if its stack is new and there is
// no room for another group.
func (d *dump) groupOf(g *goroutine) *group {
	d.ids = d.ids[:0]
	for _, f := range g.frames {
		if f.function == nil {
			return nil
		}
		d.ids = binary.LittleEndian.AppendUint16(d.ids, f.id)
	}
	of := d.byIDs[string(d.ids)]
	if of != nil || len(g.frames) == 0 || len(d.groups) == maxGroups {
		return of
	}
	of = &group{Group: evidence.Group{First: g.Number, State: g.State}, Sign: doingOf(g), wrappers: wrappers(g.frames)}
	if of.wrappers > 0 {
		of.tells, of.Sign = 1, knowledge.Sign{Doing: "another lock"}
	}
	for _, f := range g.frames {
		if f.call != "" {
			of.tells, of.call = 1, f.call
		}
	}
	d.groups = append(d.groups, of)
	d.byIDs[string(d.ids)] = of
	return of
}
