package ledger

import (
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/pleg"
)

// A memory is a place in the order in which ids are forgotten, taken at a time. Who was
// touched since then has a new one.
type memory struct {
	x  *entry
	at time.Time
}

// A Size is how much a ledger holds: see bounds.go for the most of each.
type Size struct {
	IDs, Known, Strangers  int
	Untold, Unjudged, Owed int
	Unseen                 uint64 // events of strangers that were reported
}

// Size returns how much it holds.
func (l *Ledger) Size() Size {
	return Size{len(l.byID), len(l.kept), len(l.strangers), len(l.untold), len(l.unjudged), len(l.owed), l.strange}
}

// name takes over whose an id is; of the id itself it has a copy.
func (x *entry) name(ref pleg.ObjectRef) {
	ref.ID = x.ID
	x.ObjectRef = ref
}

// identify finds out whose an id is, if anybody knows by now.
func (l *Ledger) identify(f *Facts, x *entry) {
	if ref, _, known := f.Records.Object(x.ID); known {
		x.name(ref)
	} else if known, _ := f.Records.Pod(x.Pod.UID); !known {
		return
	}
	l.know(f, x)
}

// admit makes room for an id; nil where nobody knows it and there is none.
func (l *Ledger) admit(f *Facts, id string, known bool) *entry {
	x := &entry{ObjectRef: pleg.ObjectRef{ID: strings.Clone(id)}, stranger: !known, touched: f.Now}
	if !known {
		if len(l.strangers) >= MostStrangers && !l.evictStranger() {
			return nil
		}
		l.strangers = append(l.strangers, x)
	} else {
		l.keep(x, f.Now)
		l.identify(f, x)
	}
	if l.byID == nil {
		l.byID = make(map[string]*entry)
	}
	l.byID[x.ID] = x
	return x
}

// touch notes that something was heard of an id, which a relist may have had by now.
func (l *Ledger) touch(f *Facts, x *entry) {
	x.touched = f.Now
	if x.stranger && x.Pod.UID != "" {
		if known, _ := f.Records.Pod(x.Pod.UID); known {
			l.know(f, x)
		}
	}
	if len(l.unjudged) > mostUnjudged { // while no relist comes to its end
		l.unjudged = slices.DeleteFunc(l.unjudged, func(t *transition) bool { return !t.waits() })
		l.unjudged = l.unjudged[max(0, len(l.unjudged)-mostUnjudged/2):]
	}
}

// know notes that an id is no stranger.
func (l *Ledger) know(f *Facts, x *entry) {
	if x.stranger {
		x.stranger = false
		l.keep(x, f.Now)
	}
}

func (l *Ledger) keep(x *entry, now time.Time) {
	for len(l.kept) >= MostKnown {
		l.evict()
	}
	l.kept = append(l.kept, memory{x, now})
}

// forget forgets the ids of which nothing was heard for long.
func (l *Ledger) forget(now time.Time) {
	for len(l.kept) > 0 && now.Sub(l.kept[0].at) > Lasts {
		l.evict()
	}
	for len(l.strangers) > 0 && now.Sub(l.strangers[0].touched) > Lasts && l.evictStranger() {
	}
}

// evict forgets an id that was not touched since it got its place in the order, which is
// the first one, and gives it a new place otherwise.
func (l *Ledger) evict() {
	k := l.kept[0]
	l.kept[0], l.kept = memory{}, l.kept[1:]
	if k.x.touched.After(k.at) {
		l.kept = append(l.kept, memory{k.x, k.x.touched})
		return
	}
	delete(l.byID, k.x.ID)
}

// evictStranger forgets the oldest id that nobody knows, and reports whether there is
// room then: not if it waits to be reported.
func (l *Ledger) evictStranger() bool {
	x := l.strangers[0]
	if x.stranger {
		for _, t := range x.steps {
			if t != nil && t.waits() && !t.told {
				return false
			}
		}
		delete(l.byID, x.ID)
	}
	l.strangers[0], l.strangers = nil, l.strangers[1:]
	return true
}

// Comes reports whether a sandbox comes for the first time, as far as is remembered, and
// remembers it.
func (l *Ledger) Comes(id string) bool {
	_, come := l.come[id]
	_, before := l.before[id]
	if come || before {
		return false
	}
	if len(l.come) >= mostCome || l.come == nil {
		l.before, l.come = l.come, make(map[string]struct{})
	}
	l.come[id] = struct{}{}
	return true
}
