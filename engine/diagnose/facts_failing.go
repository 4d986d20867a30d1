package diagnose

import (
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/pleg"
)

// failsInRow is how many inspections in a row must fail to be more than a race with a container that comes or goes, or
// bad luck.
const failsInRow = 3

// A failingPod is a pod whose inspection fails, with the call that fails.
type failingPod struct {
	*answers.Failure
	how  func() line // says when and how often
	like string      // in what pods fail alike: the operation and the code
}

// likeOf returns the like of a failure. There are few of them, and thousands of pods.
func likeOf(e *answers.Failure, known map[[2]string]string) string {
	key := [2]string{e.Op.String(), call.Code(e.Err)}
	if known[key] == "" {
		known[key] = key[0] + " " + key[1]
	}
	return known[key]
}

func (p failingPod) member() Member {
	return Member{asking(p.Flight), Values{"path": p.Object().String(), "error": words(p.Err)}}
}

// failingPods returns one call for each pod: first by the check of all, which names the object, then by inspections. A
// runtime that was away lately blames no pod for that.
func (f *Facts) failingPods() (pods []failingPod) {
	known, likes := make(map[pleg.PodRef]bool), make(map[[2]string]string)
	add := func(e *answers.Failure, how func() line) {
		if !known[e.Pod] {
			known[e.Pod], pods = true, append(pods, failingPod{e, how, likeOf(e, likes)})
		}
	}
	away := f.awayLately()
	alone := f.Unreachable() > 0 && !away
	if w := f.FreshSweep(); w != nil {
		for _, o := range w.Failed {
			own := f.OwnError(o.Err, o.Took) || alone && answers.IsAway(o.Err)
			if own && (w.Ended.IsZero() || !f.HeardSince(o.Flight, w.AskedLast())) {
				add(&answers.Failure{Flight: o.Flight, Err: o.Err}, func() line { return lineOf("failed-twice", Values{"at": w.Began}) })
			}
		}
	}
	for p := range f.podsWith((*podFacts).fails) {
		e := p.Failure
		if e != nil && e.InRow >= failsInRow && (f.OwnError(e.Err, e.Took()) || !away && f.awayForOne(e)) {
			add(e, func() line {
				return lineOf("failed-in-row", Values{"times": many{e.InRow, "time"}, "age": age(f.at().Sub(e.First)), "since": e.First})
			})
		}
	}
	if killer, found := f.ConnectionKiller(); found {
		e := answers.Failure{Flight: killer.Flight, Err: killer.Err}
		how := func() line {
			return lineOf("killer", Values{"at": f.Sweep.Began, "others": many{f.Sweep.Flaky, "other"}})
		}
		pods = append(pods, failingPod{&e, how, likeOf(&e, likes)})
	}
	return pods
}

// awayForOne reports whether the runtime is away for nothing but one pod: it has answered lists while that failed.
func (f *Facts) awayForOne(e *answers.Failure) bool {
	return answers.IsAway(e.Err) && f.Failure == nil && f.StatusErr == nil && e.InRow > answers.DownForSure && f.Health.ListedAt.After(e.First)
}
