package engine

import (
	"context"
	"time"

	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
)

// probeWidth is how many of our own calls are out at once. They are few, so that they hold up nothing else, but
// enough that one that hangs does not hold up the others.
const probeWidth = 4

// A probeLane makes our own calls. While a kubelet call is late, it finds out whether other calls
// are answered. For a check it asks for every sandbox and container. While lists fail, it lists
// what it can. Several run side by side. No kubelet makes these calls, and they change no record.
type probeLane struct{ *hub }

func (l probeLane) run(ctx context.Context) {
	for {
		var o *outgoing
		if !l.awaitLast(ctx, func(m *Model, now time.Time) (bool, time.Time) {
			f, found, at := m.nextProbe(now)
			if found {
				o = l.begin(ctx, f, m.probeTime(f))
			}
			return found, at
		}) {
			return
		}
		l.finish(o)
	}
}

// patience is how much longer an examination waits for an object than it takes to call the object hung. A CRI-O
// that lost the exit file of a container answers its status after 4.1 s, each time.
const patience = 250 * time.Millisecond

// probeTime returns the deadline of one of our own calls. As long as an examination has found no object that
// hangs, it waits until it can call this one hung: an object that answers by then is only slow. When objects
// hang it has no time for that. When a list hangs too, one of these objects is the likely reason.
func (m *Model) probeTime(f call.Flight) time.Duration {
	c := m.asking.Check
	if f.By != call.BySweep || !m.start.Once || c.Hanging > 0 || !m.mayBeStall() {
		return m.start.CallTime
	}
	return max(m.start.CallTime, m.start.hungLong()+patience)
}

// asking has what the probe lanes ask, and the answers.
type asking struct {
	Round  round
	Check  *checkAll // the last check of all objects, or the one under way; nil if there was none
	Of     time.Time // start of the call that hung, or of the list that failed, when a check began by itself
	Last   time.Time // when the last check began
	Search search
}

// A round asks for Version, Status, one sandbox and one container while a call of the relist is
// late.
type round struct {
	Late    call.Flight   // the call that is late; zero for none
	Targets []call.Flight // still to be asked
	Out     int
	Next    time.Time // when the next round may begin; zero for at once
	Turn    int       // how many rounds there were: it selects the pod whose turn it is
	Retried bool      // this round asks for one object more than usual
	Answers map[call.Operation]answers.Outcome
}

// nextProbe returns the next of our own calls to make now. If there is none, at is when there may
// be one even if nothing is observed. It only reads the model.
func (m *Model) nextProbe(now time.Time) (f call.Flight, found bool, at time.Time) {
	a := &m.asking
	if m.closed {
		return f, false, time.Time{}
	}
	if !m.kubelet.Paused() {
		for _, f := range a.Round.Targets {
			if _, busy := m.calls.InWay(f, now); !busy {
				return f, true, time.Time{}
			}
		}
		if f, found = a.Search.next(m, now); found {
			return f, true, time.Time{}
		}
	}
	return a.Check.next(m, now)
}

// began notes that one of our own calls is on its way.
func (a *asking) began(f call.Flight) {
	switch f.By {
	case call.ByProbe:
		r := &a.Round
		for i, t := range r.Targets {
			if t.SameTarget(f) {
				r.Targets = append(r.Targets[:i:i], r.Targets[i+1:]...)
				r.Out++
				break
			}
		}
		if _, asked := r.Answers[f.Op]; !asked {
			r.put(answers.Outcome{Flight: f})
		}
	case call.BySweep:
		a.Check.began(f)
	case call.BySearch:
		a.Search.Out = true
	}
}

// withdrawn notes that one of our own calls was ended to make way for a kubelet call.
func (a *asking) withdrawn(f call.Flight) {
	switch f.By {
	case call.ByProbe:
		a.Round.Out = max(a.Round.Out-1, 0)
	case call.BySweep:
		if o := a.Check.at(f); o != nil && o.Out {
			o.Out = false
			a.Check.Out--
			a.Check.Todo = append(a.Check.Todo, a.Check.Places[targetOf(f)])
		}
	case call.BySearch:
		a.Search.Out = false
	}
}

// asked takes in the end of one of our own calls.
func (m *Model) asked(a *answer) {
	m.news = true
	switch a.Flight.By {
	case call.ByProbe:
		m.asking.Round.answered(m, a)
	case call.BySweep:
		m.asking.Check.answered(m, a)
	case call.BySearch:
		m.asking.Search.answered(a)
	}
}

// plan begins the calls that are needed next, and ends what is over.
func (m *Model) plan() {
	m.hold()
	m.asking.Search.plan(m) // first, since it may find objects to ask for
	m.asking.Round.plan(m)
	m.asking.Check.plan(m)
	m.beginCheckForHang()
	if m.start.Once {
		m.planOnce()
	}
}

// plan begins a round when a call of the relist has been out for too long. An examination needs
// none: it asks for everything anyway.
func (r *round) plan(m *Model) {
	f, out := m.relistCall()
	late := out && !m.start.Once && f.Elapsed(m.now) >= call.LateAfter
	if !late && r.Late != (call.Flight{}) && m.sums.AnsweredSince(r.Late.Since) {
		r.forget()
		m.news = true
	}
	if !late || m.kubelet.Paused() {
		return
	}
	if f != r.Late {
		r.forget()
		r.Late = f
	}
	if r.Out == 0 && !m.now.Before(r.Next) {
		r.Targets = r.whom(m)
		r.Next = m.now.Add(call.ProbePeriod)
		r.Turn++
		r.Retried = false
	}
}

// due returns when a round is to begin; zero if none is.
func (r *round) due(m *Model) time.Time {
	f, out := m.relistCall()
	if !out || m.kubelet.Paused() || m.start.Once || r.Out > 0 {
		return time.Time{}
	}
	return latest(f.Since.Add(call.LateAfter), r.Next)
}

// forget drops all answers, also those that are still to come: what they say about the objects is true only
// while a call hangs.
func (r *round) forget() { *r = round{Turn: r.Turn, Next: r.Next} }

func (r *round) answered(m *Model, a *answer) {
	if r.Out == 0 {
		return // its round was forgotten
	}
	r.Out--
	r.put(outcomeOf(a))
	if op := a.Flight.Op; op.AboutObject() && a.Err != nil && !r.Retried {
		r.Retried = true // the relist may hang for this very object
		r.Turn++
		for _, f := range r.whom(m) {
			if f.Op == op && f.ID != a.Flight.ID {
				r.Targets = append(r.Targets, f)
			}
		}
	}
}

func (r *round) put(o answers.Outcome) {
	if r.Answers == nil {
		r.Answers = make(map[call.Operation]answers.Outcome)
	}
	r.Answers[o.Op] = o
}

// whom returns the calls of the next round. It leaves out those that are out already.
func (r *round) whom(m *Model) []call.Flight {
	all := []call.Flight{{Op: call.Version}, {Op: call.Status}}
	shown, _, _ := m.pods.read()
	for _, objects := range []func(*Pod) []call.Flight{
		func(p *Pod) []call.Flight { return sandboxCalls(p.PodRef, p.Seen().Sandboxes) },
		func(p *Pod) []call.Flight { return containerCalls(p.PodRef, p.Seen().Containers) },
	} {
		if f, ok := r.pick(m, shown, objects); ok {
			all = append(all, f)
		}
	}
	free := all[:0]
	for _, f := range all {
		f.By = call.ByProbe
		if _, busy := m.calls.InWay(f, m.now); !busy {
			free = append(free, f)
		}
	}
	return free
}

// pick returns a call about an object that no other call is about. It begins with the pod whose
// turn it is, and skips the pod of the late call.
func (r *round) pick(m *Model, shown []*Pod, objects func(*Pod) []call.Flight) (call.Flight, bool) {
	for i := range shown {
		p := shown[(r.Turn+i)%len(shown)]
		if p.UID == r.Late.Pod.UID {
			continue
		}
		for _, f := range objects(p) {
			if _, busy := m.calls.InWay(f, m.now); !busy {
				return f, true
			}
		}
	}
	return call.Flight{}, false
}

// clearOfAll reports whether Version and Status are answered while a call hangs.
func (r *round) clearOfAll(f call.Flight) bool {
	good := func(op call.Operation) bool {
		a, asked := r.Answers[op]
		return asked && !a.At.IsZero() && a.Err == nil
	}
	return r.Late == f && good(call.Version) && good(call.Status)
}

// clear reports whether a whole round says that the runtime answers while a call hangs: the calls
// about the runtime itself succeeded, and at least one about a sandbox or container.
func (r *round) clear(f call.Flight) bool {
	if r.Late != f || r.Out > 0 || len(r.Targets) > 0 || len(r.Answers) == 0 {
		return false
	}
	object := false
	for op, a := range r.Answers {
		switch {
		case op.AboutObject():
			object = object || a.Err == nil
		case a.Err != nil:
			return false
		}
	}
	return object
}

// read returns the last probe of each operation, in their order.
func (r *round) read() (all []answers.Outcome) {
	for _, op := range call.Operations() {
		if a, asked := r.Answers[op]; asked {
			all = append(all, a)
		}
	}
	return all
}

// fill writes what was asked and found into a snapshot.
func (a *asking) fill(_ *Model, s *Snapshot) {
	s.Probes = a.Round.read()
	if a.Check != nil {
		s.Sweep = a.Check.result()
	}
	s.Partial, s.Beside, s.Holders = a.Search.Partial, a.Search.Beside, a.Search.Holders
}

// due returns when there is something to begin even if nothing is observed; zero for never.
func (a *asking) due(m *Model) time.Time {
	due := sooner(a.Round.due(m), a.Search.due(m))
	return sooner(due, a.Check.due(m))
}

func outcomeOf(a *answer) answers.Outcome {
	return answers.Outcome{Flight: a.Flight, At: a.At, Took: a.took(), Err: errorOf(a.Err)}
}
