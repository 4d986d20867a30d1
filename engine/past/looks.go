package past

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine/evidence"
)

const (
	// repeatKept is how long a helper is remembered after it was last seen: before each further try containerd
	// waits twice as long, five minutes at most.
	repeatKept = 6 * time.Minute
	// repeatsMost is how many helpers are remembered: more than the shims that fail at one time.
	repeatsMost = 100
	// repeatVerb is the job that is started again and again: containerd gives runc delete ten seconds, ends it,
	// and starts a new one, so that no process ever gets old. (containerd 1.6 to 2.4.)
	repeatVerb = "delete"
)

// A Repeat is a helper for one container, together with those for the same container before it.
type Repeat struct {
	evidence.Process // the last process that was seen
	Begun, Seen      time.Time
	Times            int // how many processes there were
}

// A Kubelet is what the looks at the node have found of the kubelet.
type Kubelet struct {
	Seen    time.Time        // when a look last found a kubelet; zero if none has
	Process evidence.Process // the process of that kubelet; zero if it only answered
	Gone    time.Time        // the first look since that found none; zero while there is one
}

// Looked notes a look at the node, at which these containers were listed as running. It keeps the report and
// does not copy it.
func (k *Keeper) Looked(r *evidence.Report, running iter.Seq[string]) {
	k.now.LookBefore, k.looked = k.looked, r
	k.now.Missed = k.now.missedBy(r, running)
	k.now.Kubelet.saw(r)
	k.repeats(r)
	k.started(r)
}

// missedBy returns the running containers of which a look found no process, and since when. A look that was cut
// off misses none.
func (m *Memory) missedBy(r *evidence.Report, running iter.Seq[string]) map[string]time.Time {
	if r.Processes.Partial != "" {
		return nil
	}
	var now map[string]time.Time
	here := false
	for id := range running {
		if r.Processes.Live(id) {
			here = true
			continue
		}
		if now == nil {
			now = make(map[string]time.Time)
		}
		now[id] = cmp.Or(m.Missed[id], r.At)
	}
	if !here {
		return nil // all of them live elsewhere, as far as can be seen
	}
	return now
}

func (l *Kubelet) saw(r *evidence.Report) {
	p, runs := r.Processes.Kubelet()
	if !runs && !r.Kubelet.Listens() {
		if l.Gone.IsZero() {
			l.Gone = r.At
		}
		return
	}
	l.Seen, l.Gone = r.At, time.Time{}
	if runs {
		l.Process = p
	}
}

// repeats notes the helpers of a look that may be tries of the same job.
func (k *Keeper) repeats(r *evidence.Report) {
	helpers := r.Processes.Helpers
	if len(k.now.Repeats) == 0 && len(helpers) == 0 {
		return
	}
	all := maps.Clone(k.now.Repeats)
	if all == nil {
		all = make(map[string]Repeat)
	}
	maps.DeleteFunc(all, func(_ string, p Repeat) bool { return r.At.Sub(p.Seen) > repeatKept })
	for _, p := range helpers {
		within := slices.ContainsFunc(helpers, func(q evidence.Process) bool { return q.PID == p.Parent }) // a wrapper has called it
		was, known := all[p.Container]
		if !p.Own || p.Verb != repeatVerb || p.Container == "" || within || !known && len(all) >= repeatsMost {
			continue
		}
		if !known {
			was.Begun = r.At.Add(-p.Age)
		}
		if was.PID != p.PID {
			was.Times++
		}
		was.Process, was.Seen = p, r.At
		all[p.Container] = was
	}
	k.now.Repeats = all
}
