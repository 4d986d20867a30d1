package answers

import "time"

// A Sweep asks for every sandbox and container once, a few at a time. Each call has a deadline of its own, so
// that an object that is stuck hides no other. A Sweep changes no record and no cache, because no kubelet makes
// it. It is immutable, like the snapshot that holds it. While it is under way, a list of more than 500 that
// hung or failed may lack up to an eighth; at the end of the sweep it is complete.
type Sweep struct {
	Total int `line:"total"` // objects to ask for
	Done  int `line:"done"`  // those that answered, failed or hung

	Began   time.Time     `line:"-"`
	Ended   time.Time     `line:"-"`              // zero while it is under way
	Checked time.Time     `line:"-"`              // when the objects in Hung and Failed were last asked for; that is repeated until they answer, or for 5 min
	Width   int           `line:"width"`          // how many calls are out at most
	Timeout time.Duration `line:"timeoutSeconds"` // of each call

	Serial   time.Duration `line:"serialSeconds"` // the sum of the times of all calls that were answered: what they would take one after the other
	Quickest time.Duration `line:"-"`             // the shortest time of a call that was answered: about what a call takes alone; 0 if none was answered
	Hung     []Outcome     `line:"-"`             // objects that gave no answer within Timeout; by namespace, pod, then order of listing
	Failed   []Outcome     `line:"-"`             // objects that answered with an error other than not found, also when asked again
	Flaky    int           `line:"flaky"`         // objects that failed, but answered well when asked again
	Unknown  []Outcome     `line:"-"`             // objects that were not found though the node shows them: no list has them, and they are asked for only if lists hang or fail
	Slowest  []Outcome     `line:"-"`             // up to 5 objects that were answered, the slowest first

	Refused  string `line:"refused,omitempty"`  // why it was not begun; empty if it was
	Canceled bool   `line:"canceled,omitempty"` // a request ended it
	CutOff   bool   `line:"cutOff,omitempty"`   // the deadline of the whole look ended it, or the reason in GivenUp
	GivenUp  string `line:"givenUp,omitempty"`  // why it was cut off before that deadline, in words: the runtime became silent or went away since the start; else empty. Then Hung has no object that may only have hung together with all others
}

// AskedLast returns when a sweep that is over last asked for objects that hung or failed.
func (w *Sweep) AskedLast() time.Time { return Later(w.Checked, w.Ended) }
