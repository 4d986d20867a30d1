package engine

import (
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/survey"
)

// ask makes the calls of a survey that may be made now, and returns the last one. What
// comes of a call has the place of its target as its tag.
func (m *machine) ask(s *survey.Survey, target func(place int) call.Flight) (last call.Flight, asked bool) {
	for place, more := s.Next(m.now); more; place, more = s.Next(m.now) {
		f := target(place)
		f.By = s.By
		other := m.calls.inWay(m.now, f)
		if other != nil && s.Busy == survey.Skip {
			s.Returned()
			continue
		}
		if other != nil && s.Busy == survey.Wait {
			s.PutBack(place)
			if other.abandoned { // it may never return
				s.End()
			}
			break
		}
		w := m.policy.own(f)
		w.survey, w.tag, w.tries, w.yields = s, uint64(place), s.Tries, s.Busy != survey.Queue
		m.calls.want(m.now, w)
		last, asked = f, true
		last.Since = m.now
	}
	return last, asked
}

// askOne makes one call, as a survey of one target.
func (m *machine) askOne(p survey.Policy, f call.Flight) *survey.Survey {
	p.Width = 1
	s := survey.New(p, survey.First(1))
	m.ask(s, func(int) call.Flight { return f })
	return s
}

// dropSurvey ends a survey and its calls. What they still bring is not taken in.
func (m *machine) dropSurvey(s *survey.Survey) {
	if s != nil {
		s.End()
		m.calls.drop(m.now, func(w *callSpec) bool { return w.survey == s })
	}
}

// A policy is that of the machine, which makes its calls by it.
type policy struct{ answers.Policy }

// The calls of a look that is made once: what people wait for.
const (
	sweepWidth = 4
	longer     = 4 // times the timeout of a status call, for lists, Status and Version;
	retries    = 2 // of a call that fails at once
)

// running is the policy of an engine that goes on: the kubelet's, and for what the
// kubelet does not do, ours.
func running(c Config) answers.Policy {
	return answers.Policy{ListTimeout: c.Timeout, CallTimeout: answers.Hung, Width: sweepWidth}
}

// kubelets returns how a call is made that the kubelet makes, too.
func (p policy) kubelets(f call.Flight) callSpec {
	w := callSpec{Flight: f, timeout: p.ListTimeout}
	if p.Once {
		w.tries, w.bounded, w.endsEarly = 1+retries, true, true
		if f.Op.IsList() { // what is slow is no hang while there is time for what comes after it
			w.timeout = max(w.timeout, p.Deadline-answers.ByPodFor-2*answers.Hung)
		}
	}
	return w
}

// own returns how a call is made that only we make: it must hold up nothing.
func (p policy) own(f call.Flight) callSpec {
	return callSpec{Flight: f, timeout: p.CallTimeout, bounded: true, yields: true}
}
