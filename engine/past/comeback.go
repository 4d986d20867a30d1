package past

import "time"

const (
	// hungKept is how long it is remembered that an object hung: much longer than a look
	// at the node is of use.
	hungKept = time.Minute
	// hungMost is how many are remembered: where more hang, it is no single object that does.
	hungMost = 1000
)

// A Comeback is when a runtime that had answered nothing answered again. What was asked
// before that, and what was seen of the node, accuses nobody any more: calls that were out
// all come back together, one after the other, and the first of them would speak against
// those behind it.
type Comeback struct {
	At    time.Time // of the first answer; zero if there was none
	InRow [3]int    // how often lists, Status and Version had failed in a row by then
}

// CameBack takes down a comeback.
func (k *Keeper) CameBack(c Comeback) { k.now.Back = c }

// Hung takes down that the status of an object came late or not at all, or came after it
// had hung.
func (k *Keeper) Hung(id string, at time.Time) {
	if !k.ownHung {
		fresh := make(map[string]time.Time)
		for id, then := range k.now.Hung {
			if at.Sub(then) <= hungKept {
				fresh[id] = then
			}
		}
		k.now.Hung, k.ownHung = fresh, true
	}
	if _, known := k.now.Hung[id]; known || len(k.now.Hung) < hungMost {
		k.now.Hung[id] = at
	}
}

// HasHung reports whether that was taken down of an object, and is not forgotten.
func (k *Keeper) HasHung(id string) bool {
	_, has := k.now.Hung[id]
	return has
}
