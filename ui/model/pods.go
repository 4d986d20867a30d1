// Package model has what the panes show beside the snapshot: the pods that are shown and their
// order ([Pods]), what has happened since plegtop started ([Journal]), and the language in which
// a person says what to show ([Filter]). All of it is bounded, however long plegtop runs. It
// belongs to one goroutine.
package model

import (
	"cmp"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
)

// Pods is all pods, and those that are shown. The zero value has none.
type Pods struct {
	Shown    []*Pod    // in their order: the worst first unless a person sorts
	Changed  uint64    // grows whenever Shown, or one of those in it, is another
	Troubled int       // pods with a problem, shown or not
	Critical bool      // one of them is critical, or has a call that hangs
	AsOf     time.Time // when the runtime listed them, where a relist that hangs or fails keeps that from being renewed; else zero

	all       engine.PerPod[*Pod]
	standings []*diagnose.Standing // of which all was worked out
	at        time.Time
	show      func(*Pod, time.Time) bool // nil for all
	shows     int                        // which filter that is, counted from 1
	timed     bool
	order     Order
}

// Observe takes over the pods of s, and how they stand, in the same order.
func (l *Pods) Observe(s *engine.Snapshot, standings []*diagnose.Standing) {
	l.at, l.AsOf = s.At, diagnose.AsOf(s)
	changed := l.all.Update(s.Pods, func(_ *engine.Pod, was **Pod) *Pod {
		if was == nil {
			return nil // until its standing is known, below
		}
		return *was
	})
	if changed || !sameList(standings, l.standings) {
		for i, of := range standings {
			if p := l.all.Values[i]; p == nil || p.Standing != of {
				l.all.Values[i], changed = newPod(of), true
			}
		}
		l.standings = standings
	}
	if changed {
		l.count()
	}
	if changed || l.timed {
		l.choose()
	}
}

// sameList reports whether two updates have one list of standings, as they do while nothing
// changes.
func sameList(a, b []*diagnose.Standing) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// count counts the pods with a problem.
func (l *Pods) count() {
	l.Troubled, l.Critical = 0, false
	for _, p := range l.all.Values {
		if p.Problem != "" {
			l.Troubled++
			l.Critical = l.Critical || p.Rank >= diagnose.RankCritical
		}
	}
}

// Filter chooses the pods that are shown; nil for all. Timed says that which they are
// can change though they do not.
func (l *Pods) Filter(show func(p *Pod, at time.Time) bool, timed bool) {
	l.show, l.timed = show, timed
	l.shows++
	l.choose()
}

// ProblemsOnly reports whether only pods with a problem are shown.
func (l *Pods) ProblemsOnly() bool { return l.order.Problems }

// An Order says which pods stand first, and whether others are left out. The zero value has
// all, the worst first.
type Order struct {
	By       string           // what they are sorted by; empty for the worst first
	Sort     func(all []*Pod) // sorts those that stand by namespace and name by that, the other way round if that is wanted; nil where By is empty
	Invert   bool             // the other way round
	Problems bool             // only pods with a problem, of those that the filter lets through
}

// Arrange puts those shown into an order. It costs nothing where that is the order already.
func (l *Pods) Arrange(o Order) {
	was := l.order
	if l.order = o; o.By != was.By || o.Invert != was.Invert || o.Problems != was.Problems {
		l.choose()
	}
}

// Find returns a pod by its UID, shown or not, or nil.
func (l *Pods) Find(uid pleg.UID) *Pod {
	i := slices.IndexFunc(l.all.Pods, func(p *engine.Pod) bool { return p.UID == uid })
	if i < 0 {
		return nil
	}
	return l.all.Values[i]
}

// Len returns how many pods there are, shown or not.
func (l *Pods) Len() int { return len(l.all.Values) }

// choose works out which are shown, and their order.
func (l *Pods) choose() {
	shown := slices.DeleteFunc(slices.Clone(l.all.Values), func(p *Pod) bool { return !l.Shows(p) })
	if l.order.Sort != nil {
		l.order.Sort(shown)
	} else {
		slices.SortStableFunc(shown, func(a, b *Pod) int { return cmp.Compare(b.Rank, a.Rank) }) // by namespace and name they are
		if l.order.Invert {
			slices.Reverse(shown)
		}
	}
	l.Shown = shown
	l.Changed++
}

// Shows reports whether what chooses the pods lets one through, also one that is not of
// the list as it has gone.
func (l *Pods) Shows(p *Pod) bool {
	if l.order.Problems && p.Problem == "" {
		return false
	}
	if l.show != nil && (p.asked != l.shows || l.timed) {
		p.asked, p.passed = l.shows, l.show(p, l.at)
	}
	return l.show == nil || p.passed
}
