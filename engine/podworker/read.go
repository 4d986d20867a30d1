package podworker

import (
	"slices"
)

// Read returns how all workers stand. It costs what has changed since the last call; if
// nothing has, the same slice is returned.
func (s *Set) Read() Workers {
	switch {
	case s.moved:
		s.arrange()
	case len(s.dirty) > 0:
		s.read = slices.Clone(s.read)
		for _, w := range s.dirty {
			s.read[w.place] = w.shown()
		}
	}
	s.dirty = s.dirty[:0]
	sums := s.sums
	sums.Acting, sums.Expecting, sums.All = s.acting, s.expecting, s.read
	return sums
}

// arrange puts the workers in order after some came or went.
func (s *Set) arrange() {
	s.moved = false
	s.all = slices.DeleteFunc(s.all, func(w *worker) bool { return w.gone })
	slices.SortFunc(s.all, func(a, b *worker) int { return a.Pod.Compare(b.Pod) })
	s.read = make([]*Worker, len(s.all))
	for i, w := range s.all {
		w.place = i
		s.read[i] = w.shown()
	}
	clear(s.dirty) // it would keep those that are gone
}

// shown returns a worker as people read it.
func (w *worker) shown() *Worker {
	if w.read == nil {
		shown := w.Worker
		shown.Queued = w.taken + w.queued
		w.read = &shown
	}
	return w.read
}

// touch notes that a worker is not any more as it was read.
func (s *Set) touch(w *worker) {
	if w.read != nil {
		w.read = nil
		s.dirty = append(s.dirty, w)
	}
}
