package sim

import (
	"slices"
	"sort"
	"time"
)

// A task is something that happens at a moment of the world's clock.
type task struct {
	at time.Time
	do func()
}

// after runs do once d has passed, behind what is due at that moment already.
// Tasks are never taken back: do has to look whether its subject is still as it was.
func (w *world) after(d time.Duration, do func()) {
	at := w.now.Add(d)
	i := sort.Search(len(w.queue), func(i int) bool { return w.queue[i].at.After(at) })
	w.queue = slices.Insert(w.queue, i, task{at, do})
}

// every runs do once each period, first after one period, until stop is called.
func (w *world) every(period time.Duration, do func()) (stop func()) {
	stopped := false
	var again func()
	again = func() {
		if stopped {
			return
		}
		w.after(period, again)
		do()
	}
	w.after(period, again)
	return func() { stopped = true }
}

// advance runs all that is due up to and including the moment to, each task
// with the clock at its own time, and leaves the clock at to. How many steps
// an advance is made in makes no difference.
func (w *world) advance(to time.Time) {
	for len(w.queue) > 0 && !w.queue[0].at.After(to) {
		t := w.queue[0]
		w.queue = slices.Delete(w.queue, 0, 1)
		w.now = t.at
		t.do()
	}
	if to.After(w.now) {
		w.now = to
	}
}

// next returns when the next task is due.
func (w *world) next() (time.Time, bool) {
	if len(w.queue) == 0 {
		return time.Time{}, false
	}
	return w.queue[0].at, true
}
