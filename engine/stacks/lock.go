package stacks

import (
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/knowledge"
)

// A lockKey tells locks apart.
type lockKey struct {
	at   uint64          // 0 if no stack shows it
	kind *knowledge.Lock // nil if it is not known
	of   string          // if the kind is unknown: the type that the lock belongs to, or else the function that waits
}

// A lock is a lock that goroutines wait for.
type lock struct {
	lockKey
	evidence.Lock      // without Holder and Likely
	inexact       bool // no stack has an exact address

	holder     *goroutine    // the likeliest holder; nil if there is none
	rank       time.Duration // of holder
	candidates int           // goroutines that may be the holder
	last       *goroutine    // the last candidate
}

// wait counts a goroutine among those that wait for a lock, unless there are too many locks.
func (d *dump) wait(g *goroutine) {
	found := waitedFor(g.frames, g.group.wrappers)
	l, known := d.byKey[found.lockKey]
	if !known {
		if len(d.locks) == maxLocks {
			return
		}
		l = &lock{}
		*l = found
		if l.at != 0 {
			l.Address = fmt.Sprintf("%#x", l.at)
		}
		d.byKey[l.lockKey] = l
		d.locks = append(d.locks, l)
	}
	l.Waiters++
	l.Longest = max(l.Longest, g.For)
	l.inexact = l.inexact && found.inexact
	if g.Call != "" && len(l.Calls) < maxCalls && !slices.Contains(l.Calls, g.Call) {
		l.Calls = append(l.Calls, g.Call)
	}
	g.lock, g.Waits = l, l.Address
}

// wrappers returns how many frames, from the innermost, belong only to the lock that a goroutine waits for; 0
// if it waits for none.
func wrappers(frames []frame) int {
	waits := false
	for i, f := range frames {
		switch {
		case f.pkg == "runtime":
		case f.takesLock:
			waits = true
		case f.role == "semaphore" && i+1 < len(frames) && frames[i+1].waits != nil && frames[i+1].waits.Own:
			return i + 1
		case f.pkg == "sync" && (f.owner == "" || f.owner == "sync.(*Cond)"): // a Cond takes its caller's lock
		case waits:
			return i
		default:
			return 0
		}
	}
	return 0
}

// waitedFor returns the lock that a goroutine waits for. The first function after the wrappers works on the
// thing that the lock belongs to. If that function takes the lock for others, its caller does. If the dump does
// not show the thing, the address is that of the lock itself.
func waitedFor(frames []frame, wrappers int) lock {
	outer := wrappers
	for outer+1 < len(frames) && frames[outer].role == "wrapper" {
		outer++
	}
	f, inner := frames[outer], frames[wrappers]
	if f.waits == nil && (f.at == 0 || f.role == "service" || inner.waits != nil) { // the caller shows less
		f = inner
	}
	service := f.role == "service" && f.waits == nil
	l := lock{lockKey: lockKey{f.at, f.waits, f.owner}, Lock: evidence.Lock{Of: path.Base(f.name)}, inexact: f.inexact}
	if f.at == 0 || service || f.waits != nil && f.waits.Own {
		l.at, l.inexact = ownAddress(frames[:wrappers])
	}
	switch {
	case f.waits != nil:
		l.of, l.Of = "", f.waits.Of
	case l.at == 0 || service:
		l.of = l.Of
	}
	return l
}

// ownAddress returns the address of a lock itself. It prefers an exact one, if any of the frames has that.
func ownAddress(frames []frame) (at uint64, inexact bool) {
	for _, f := range frames {
		if f.at != 0 && (at == 0 || inexact && !f.inexact) {
			at, inexact = f.at, f.inexact
		}
	}
	return at, inexact
}
