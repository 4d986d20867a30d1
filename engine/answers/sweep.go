package answers

import "time"

// A Sweep asks for every sandbox and container once, a few at a time, each with
// a deadline of its own, so that what is stuck hides nothing else. It changes no
// record and no cache: it is not the kubelet's. Immutable, like the snapshot
// that holds it. While it is under way a list of more than 500 that hung or
// failed may be up to an eighth behind; at its end it is whole.
type Sweep struct {
	Total int `line:"total"` // objects to ask for
	Done  int `line:"done"`  // those that answered, failed or hung

	Began   time.Time     `line:"-"`
	Ended   time.Time     `line:"-"`              // zero while it is under way
	Checked time.Time     `line:"-"`              // when those in Hung and Failed were asked for last; they are asked again until they answer, or for 5 min
	Width   int           `line:"width"`          // how many calls are out at most
	Timeout time.Duration `line:"timeoutSeconds"` // of each call

	Serial   time.Duration `line:"serialSeconds"` // sum of the time of all calls that were answered: what they cost one after the other
	Quickest time.Duration `line:"-"`             // the least that a call took which was answered: about what one costs that has no other beside it; 0 if none was
	Hung     []Outcome     `line:"-"`             // gave no answer within Timeout; by namespace, pod, then order of listing
	Failed   []Outcome     `line:"-"`             // answered with an error other than not found, and once more when asked again
	Flaky    int           `line:"flaky"`         // failed, and answered well when asked again
	Unknown  []Outcome     `line:"-"`             // not found, though the node shows it: of objects that no list has, which are asked for only where lists hang or fail
	Slowest  []Outcome     `line:"-"`             // up to 5 that were answered, the slowest first

	Refused  string `line:"refused,omitempty"`  // why it was not begun; empty if it was
	Canceled bool   `line:"canceled,omitempty"` // by a request
	CutOff   bool   `line:"cutOff,omitempty"`   // by the deadline of the whole, or for the reason in GivenUp
	GivenUp  string `line:"givenUp,omitempty"`  // why it was cut off before that, in words: the runtime has gone silent, or away, since it began; else empty. Hung has nothing then that may only have hung with all the rest
}

// AskedLast returns when a sweep that is over asked last for what hung or failed.
func (w *Sweep) AskedLast() time.Time { return Later(w.Checked, w.Ended) }
