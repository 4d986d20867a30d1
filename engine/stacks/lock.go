package stacks

import (
	"fmt"
	"path"
	"slices"

	"github.com/plegtop/plegtop/engine/knowledge"
)

// An object is what locks are told apart by.
type object struct {
	at uint64 // 0 if no stack tells it
	of string
}

// A lock is one that goroutines wait for.
type lock struct {
	of      string
	owner   string          // the type that it belongs to, if that may tell who holds it
	guard   *knowledge.Lock // nil if this kind of lock is not known
	at      uint64
	inexact bool // every stack that tells at marks it so
	waiters int
	longest int32 // minutes
	calls   []string
	holder  holder
}

// wait counts a goroutine among those that wait for a lock, and returns the lock's place,
// -1 if there are too many.
func (d *dump) wait(g *goroutine, of *group) int32 {
	l := d.waitedFor(g.frames, of.lockers)
	key := object{l.at, l.of}
	if l.guard == nil && l.at != 0 {
		key.of = l.owner
	}
	id, known := d.byObject[key]
	if !known {
		if len(d.locks) == maxLocks {
			return -1
		}
		id = int32(len(d.locks))
		d.byObject[key] = id
		d.locks = append(d.locks, l)
	}
	into := &d.locks[id]
	into.waiters++
	into.longest = max(into.longest, g.minutes)
	into.inexact = into.inexact && l.inexact
	if of.call != "" && len(into.calls) < maxCalls && !slices.Contains(into.calls, of.call) {
		into.calls = append(into.calls, of.call)
	}
	return id
}

// waitedFor finds what the lock belongs to that a goroutine waits for: what the function
// works on that takes it, or who calls that function if it only takes the lock for others.
// Where that is not told, by the lock's own address.
func (d *dump) waitedFor(frames []frame, lockers int) lock {
	at := lockers
	for at+1 < len(frames) && d.functions[frames[at].function].is(passesOn) {
		at++
	}
	if !d.tellsMore(frames[at], frames[lockers]) {
		at = lockers
	}
	f := &d.functions[frames[at].function]
	l := lock{of: path.Base(f.name), owner: f.owner, guard: f.waits}
	on := frames[at].on
	byItself := on.at == 0
	switch {
	case l.guard != nil:
		l.of, byItself = l.guard.Of, byItself || l.guard.Own
	case f.is(ofService):
		l.owner, byItself = l.of, true
	}
	if byItself {
		on = d.own(frames[:lockers])
	}
	l.at, l.inexact = on.at, on.inexact
	return l
}

// tellsMore reports whether a frame tells more of a lock than the wrapper that it calls.
func (d *dump) tellsMore(f, wrapper frame) bool {
	of := &d.functions[f.function]
	return of.waits != nil || f.on.at != 0 && !of.is(ofService) && d.functions[wrapper.function].waits == nil
}

// own is the address of the lock itself, exact if any of its frames is.
func (d *dump) own(lockers []frame) address {
	var own address
	for _, f := range lockers {
		if f.on.at != 0 && (own.at == 0 || own.inexact && !f.on.inexact) {
			own = f.on
		}
	}
	return own
}

// address is l's, as evidence has it.
func (l *lock) address() string {
	if l.at == 0 {
		return ""
	}
	return fmt.Sprintf("%#x", l.at)
}
