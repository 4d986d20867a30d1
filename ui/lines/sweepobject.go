package lines

import (
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/ui/text"
)

// sweptLimit is how many objects of a sweep the JSON names: enough for a person
// to see a pattern in, few enough for a node on which all of thousands fail.
const sweptLimit = 100

// A sweepObject sums up a sweep. Hung and Failed are counts; Objects names
// those, in this order, and then the slowest.
type sweepObject struct {
	Total          int           `json:"total"`
	Done           int           `json:"done"`
	Hung           int           `json:"hung"`
	Failed         int           `json:"failed"`
	Flaky          int           `json:"flaky"` // failed, and answered well when asked again
	Width          int           `json:"width"`
	TimeoutSeconds float64       `json:"timeoutSeconds"`
	TookSeconds    float64       `json:"tookSeconds"`
	SerialSeconds  float64       `json:"serialSeconds"`
	Refused        string        `json:"refused,omitempty"`
	Canceled       bool          `json:"canceled,omitempty"`
	CutOff         bool          `json:"cutOff,omitempty"`
	GivenUp        string        `json:"givenUp,omitempty"`
	Objects        []sweptObject `json:"objects"`
}

type sweptObject struct {
	Outcome string `json:"outcome"` // "hung", "failed" or "slow"
	subjectObject
	TookSeconds float64 `json:"tookSeconds"`
	Error       string  `json:"error,omitempty"`
}

func newSweepObject(s *engine.Snapshot) *sweepObject {
	w := s.Sweep
	if w == nil {
		return nil
	}
	o := &sweepObject{
		Total: w.Total, Done: w.Done, Hung: len(w.Hung), Failed: len(w.Failed), Flaky: w.Flaky,
		Width: w.Width, TimeoutSeconds: w.Timeout.Seconds(),
		TookSeconds: sweepTook(s).Seconds(), SerialSeconds: w.Serial.Seconds(),
		Refused: text.Clean(w.Refused), Canceled: w.Canceled, CutOff: w.CutOff, GivenUp: text.Clean(w.GivenUp),
		Objects: []sweptObject{},
	}
	o.name("hung", w.Hung)
	o.name("failed", w.Failed)
	o.name("slow", w.Slowest)
	return o
}

// name adds objects as far as there is room for them.
func (o *sweepObject) name(outcome string, all []engine.Swept) {
	for _, w := range all[:min(len(all), sweptLimit-len(o.Objects))] {
		swept := sweptObject{
			Outcome:       outcome,
			subjectObject: newSubject(w.Op.String(), w.Pod, w.Container, w.ID),
			TookSeconds:   w.Took.Seconds(),
		}
		if w.Err != nil {
			swept.Error = text.Clean(w.Err.Error())
		}
		o.Objects = append(o.Objects, swept)
	}
}

// sweepTook returns how long the sweep of s took, so far if it is under way.
func sweepTook(s *engine.Snapshot) time.Duration {
	switch w := s.Sweep; {
	case w == nil || w.Began.IsZero():
		return 0
	case w.Ended.IsZero():
		return s.At.Sub(w.Began)
	default:
		return w.Ended.Sub(w.Began)
	}
}
