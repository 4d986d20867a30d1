package sim

import (
	"container/heap"
	"time"
)

// A task is something that happens at a moment of the world's clock.
type task struct {
	at  time.Time
	seq uint64 // tasks of one moment run in the order in which they were added
	do  func()
}

// A queue is a heap of tasks, the earliest first.
type queue []task

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q queue) Less(i, j int) bool {
	if c := q[i].at.Compare(q[j].at); c != 0 {
		return c < 0
	}
	return q[i].seq < q[j].seq
}

// Push is for package heap.
func (q *queue) Push(t any) { *q = append(*q, t.(task)) }

// Pop is for package heap.
func (q *queue) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	(*q)[last] = task{} // so that what the task holds can be freed
	*q = (*q)[:last]
	return t
}

// after runs do once d has passed. Tasks are never taken back: do has to look
// whether its subject is still as it was.
func (w *world) after(d time.Duration, do func()) {
	w.tasks++
	heap.Push(&w.queue, task{at: w.now.Add(d), seq: w.tasks, do: do})
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
		t := heap.Pop(&w.queue).(task)
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
