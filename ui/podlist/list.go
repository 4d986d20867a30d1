// Package podlist says how each pod stands, and which are shown in what order, for all
// panes alike. It belongs to one goroutine.
package podlist

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/wording"
)

// A List is all pods, and those that are shown. The zero value has none.
type List struct {
	Shown    []*Pod    // in their order: the worst first unless a person sorts
	Changed  uint64    // grows whenever Shown, or one of those in it, is another
	Troubled int       // pods with a problem, shown or not
	Critical bool      // one of them is critical, or has a call that hangs
	AsOf     time.Time // when the runtime listed them, where a relist that hangs or fails keeps that from being renewed; else zero

	all      engine.PerPod[*Pod]
	troubles map[pleg.UID]diagnose.Trouble // of which All was worked out
	hanging  map[pleg.UID]*call.Flight     // likewise
	dead     *ledger.Dead                  // likewise
	unlisted bool                          // likewise: no relist has listed containers yet
	at       time.Time
	show     func(*Pod, time.Time) bool // nil for all
	shows    int                        // which filter that is, counted from 1
	timed    bool
	problems bool
	sort     func(pods []*Pod)
	invert   bool
}

// asOfLeast is how old a list must be for that to be told: younger ones may be so
// between two relists that succeed.
const asOfLeast = 5 * time.Second

// Observe takes over the pods of s, and what is wrong with them. Only what changed is
// worked out anew.
func (l *List) Observe(s *engine.Snapshot, troubles map[pleg.UID]diagnose.Trouble) {
	hanging := wording.Hanging(s)
	unlisted := s.Health.ListedAt.IsZero()
	workOut := func(p *engine.Pod, _ **Pod) *Pod {
		n := newPod(p, hanging[p.UID], troubles[p.UID], s.Dead)
		if unlisted && n.State == Empty {
			n.State = Unlisted
		}
		return n
	}
	changed := l.all.Update(s.Pods, workOut)
	l.at, l.AsOf = s.At, asOf(s)
	died := s.Dead != l.dead
	if died || !maps.Equal(troubles, l.troubles) || !maps.EqualFunc(hanging, l.hanging, sameCall) || unlisted != l.unlisted {
		for i, p := range l.all.Values {
			if died && !maps.Equal(p.Dead, diedIn(p.Seen, s.Dead)) || p.Trouble != troubles[p.Pod.UID] || !sameCall(p.Out, hanging[p.Pod.UID]) || unlisted != l.unlisted {
				l.all.Values[i], changed = workOut(p.Pod, nil), true
			}
		}
		l.troubles, l.hanging, l.dead, l.unlisted = troubles, hanging, s.Dead, unlisted
	}
	if changed {
		l.count()
	}
	if changed || l.timed {
		l.choose()
	}
}

// count counts the pods with a problem.
func (l *List) count() {
	l.Troubled, l.Critical = 0, false
	for _, p := range l.all.Values {
		if p.Problem != "" {
			l.Troubled++
			l.Critical = l.Critical || p.rank >= critical
		}
	}
}

// Filter chooses the pods that are shown; nil for all. Timed says that which they are
// can change though they do not.
func (l *List) Filter(show func(p *Pod, at time.Time) bool, timed bool) {
	l.show, l.timed = show, timed
	l.shows++
	l.choose()
}

// ShowProblems shows only pods with a problem, or all that the filter lets through.
func (l *List) ShowProblems(only bool) {
	l.problems = only
	l.choose()
}

// ProblemsOnly reports whether only pods with a problem are shown.
func (l *List) ProblemsOnly() bool { return l.problems }

// SortBy has those shown sorted, which are given by namespace and name; nil returns to the
// worst first. Invert turns the order round.
func (l *List) SortBy(sort func(pods []*Pod), invert bool) {
	l.sort, l.invert = sort, invert
	l.choose()
}

// Find returns a pod by its UID, shown or not, or nil.
func (l *List) Find(uid pleg.UID) *Pod {
	i := slices.IndexFunc(l.all.Pods, func(p *engine.Pod) bool { return p.UID == uid })
	if i < 0 {
		return nil
	}
	return l.all.Values[i]
}

// Len returns how many pods there are, shown or not.
func (l *List) Len() int { return len(l.all.Values) }

// choose works out which are shown, and their order.
func (l *List) choose() {
	shown := make([]*Pod, 0, len(l.all.Values))
	for _, p := range l.all.Values {
		if l.Shows(p) {
			shown = append(shown, p)
		}
	}
	if l.sort != nil {
		l.sort(shown)
	} else {
		slices.SortStableFunc(shown, func(a, b *Pod) int { return cmp.Compare(b.rank, a.rank) })
	}
	if l.invert {
		slices.Reverse(shown)
	}
	l.Shown = shown
	l.Changed++
}

// Shows reports whether what chooses the pods lets one through, also one that is not of
// the list as it has gone.
func (l *List) Shows(p *Pod) bool {
	if l.problems && p.Problem == "" {
		return false
	}
	if l.show != nil && (p.asked != l.shows || l.timed) {
		p.asked, p.passed = l.shows, l.show(p, l.at)
	}
	return l.show == nil || p.passed
}

// asOf returns when the pods of s were listed, if that is old because a relist hangs
// or fails.
func asOf(s *engine.Snapshot) time.Time {
	hangs := slices.ContainsFunc(s.InFlight, func(f call.Flight) bool { return f.By == call.ByRelist && diagnose.Late(s, f) })
	if !hangs && s.Failure == nil || s.Health.ListAge(s.At) < asOfLeast {
		return time.Time{}
	}
	return s.Health.ListedAt
}

func sameCall(a, b *call.Flight) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
