package survey

import "time"

const (
	// mostAtOnce is how many calls are out at once at most: fewer than the pod workers of
	// a kubelet ask for when it starts.
	mostAtOnce = 32
	// quickAnswer is what a runtime takes for an answer that can be asked more at once.
	quickAnswer = 25 * time.Millisecond
	// asMany is how many answers are compared with those before.
	asMany = 64
)

// A width says how many calls of a sweep are out at once: as many as were asked for, and
// more where time would run out before all have been asked, if that makes no answer slower,
// and for as long as it is needed.
type width struct {
	least int
	sum   time.Duration // of the last answers
	n     int
	first time.Duration // what the first of them took each, on average; 0 before that
	full  bool          // more at once made them slower
}

// answered takes in how long one more answer took, and returns how many calls may be out
// now, of which so many are. So many objects are left, and so much time.
func (w *width) answered(took time.Duration, now, left int, until time.Duration) int {
	w.sum += took
	if w.n++; w.n < asMany {
		return now
	}
	mean := max(w.sum/asMany, 1)
	w.sum, w.n = 0, 0
	if w.first == 0 {
		w.first = mean
	}
	switch {
	case w.full || mean > quickAnswer || mean > w.first*3/2+time.Millisecond:
		w.full = true
		return w.least
	case time.Duration(left)*mean/time.Duration(now) > until:
		return min(2*now, max(mostAtOnce, w.least))
	case time.Duration(left)*mean/time.Duration(now)*2 < until/2: // half as many need less than half of the time
		return max(now/2, w.least)
	}
	return now
}
