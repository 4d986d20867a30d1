package past

import (
	"maps"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
)

// hungMost is how many objects that hung are remembered. If more hang, single objects are not the cause.
const hungMost = 1000

// A Comeback is the moment when a runtime that had answered nothing answered again. A call from before that
// moment, and what was seen of the node before it, says nothing against an object any more. The calls that were
// out all come back together, one after the other, and the first of them would speak against those behind it.
type Comeback struct {
	At    time.Time // of the first answer; zero if there was none
	InRow [3]int    // how often lists, Status and Version had failed in a row by then
}

// CameBack notes a comeback.
func (k *Keeper) CameBack(c Comeback) { k.now.Back = c }

// Hung notes that the status of an object came late or not at all, or that it came after the object had hung.
func (k *Keeper) Hung(id string, at time.Time) {
	if k.now.Hung == nil {
		k.now.Hung = make(map[string]time.Time)
	} else if !k.ownHung {
		k.now.Hung = maps.Clone(k.now.Hung)
	}
	k.ownHung = true
	maps.DeleteFunc(k.now.Hung, func(_ string, then time.Time) bool { return at.Sub(then) > answers.Forgotten })
	if _, known := k.now.Hung[id]; known || len(k.now.Hung) < hungMost {
		k.now.Hung[id] = at
	}
}

// HasHung reports whether Hung was called for an object, and that is not forgotten yet.
func (k *Keeper) HasHung(id string, at time.Time) bool {
	then, has := k.now.Hung[id]
	return has && at.Sub(then) <= answers.Forgotten
}
