package lines

import (
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/ui/text"
)

// CheckSchema names the shape of the JSON of check, which docs/check.schema.json
// describes. Fields are only ever added to it.
const CheckSchema = "plegtop/check/1"

// A checkObject is the JSON of check. Durations are in seconds.
type checkObject struct {
	Schema         string          `json:"schema"`
	Time           time.Time       `json:"time"`
	Node           string          `json:"node"`
	Source         string          `json:"source"`
	Headline       headlineObject  `json:"headline"`
	Runtime        runtimeObject   `json:"runtime"`
	KubeletVersion string          `json:"kubeletVersion"`
	Error          string          `json:"error,omitempty"`   // why nothing could be looked at
	Partial        string          `json:"partial,omitempty"` // what is missing because a list failed
	PLEG           plegObject      `json:"pleg"`
	NodeReady      readyObject     `json:"nodeReady"`
	Counts         countsObject    `json:"counts"`
	Calls          []callsObject   `json:"calls"`
	Findings       []findingObject `json:"findings"`
	Waits          *waitsObject    `json:"waits,omitempty"` // absent where nobody waits
	Sweep          *sweepObject    `json:"sweep,omitempty"`
	Host           *hostObject     `json:"host,omitempty"`
	Notes          []string        `json:"notes,omitempty"` // what was left out, and why
}

type runtimeObject struct {
	Name       string            `json:"name"`
	Version    string            `json:"version"`
	APIVersion string            `json:"apiVersion"`
	Endpoint   string            `json:"endpoint"`
	Conditions []conditionObject `json:"conditions"`
}

type conditionObject struct {
	Type    string `json:"type"`
	Status  bool   `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

type plegObject struct {
	Healthy           bool       `json:"healthy"`
	Verdict           string     `json:"verdict"` // the kubelet's words; empty when healthy
	ListAgeSeconds    float64    `json:"listAgeSeconds"`
	InspectAgeSeconds *float64   `json:"inspectAgeSeconds,omitempty"` // absent if nothing was inspected
	RelistSeconds     float64    `json:"relistSeconds"`
	ThresholdSeconds  float64    `json:"thresholdSeconds"`
	ListedAt          *time.Time `json:"listedAt,omitempty"`  // absent while no list succeeded: the list age is 0 then
	SettledAt         *time.Time `json:"settledAt,omitempty"` // absent while no relist settled: the inspection age is 0 then
}

type readyObject struct {
	Ready   bool   `json:"ready"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Known   bool   `json:"known"` // never: only the API server has what was posted
	Basis   string `json:"basis"` // "model": what a kubelet that started now would say; "kubelet" if the node's own sees as much, or says of its PLEG what plegtop does not see
}

func newReadyObject(s *engine.Snapshot) readyObject {
	n, basis := diagnose.NodeReady(s)
	return readyObject{Ready: n.Ready, Reason: n.Reason, Message: text.Clean(n.Message), Basis: basis}
}

type countsObject struct {
	Pods       int `json:"pods"`
	Sandboxes  int `json:"sandboxes"`
	Containers int `json:"containers"`
	Created    int `json:"created"`
	Running    int `json:"running"`
	Exited     int `json:"exited"`
	Unknown    int `json:"unknown"`
}

type callsObject struct {
	Operation             string  `json:"operation"`
	Count                 uint64  `json:"count"`
	Errors                uint64  `json:"errors"`
	Gone                  uint64  `json:"gone"` // asked for what had gone meanwhile: no error
	P50Seconds            float64 `json:"p50Seconds"`
	P99Seconds            float64 `json:"p99Seconds"`
	MaxSeconds            float64 `json:"maxSeconds"`
	InFlight              int     `json:"inFlight"`
	OldestInFlightSeconds float64 `json:"oldestInFlightSeconds"`
	ResponseBytes         uint64  `json:"responseBytes"`
	LastResponseBytes     uint64  `json:"lastResponseBytes"`
	LastError             string  `json:"lastError,omitempty"`
}

func newCheckObject(u diagnose.Update, o CheckOptions) *checkObject {
	s := u.Snapshot
	c := &checkObject{
		Schema: CheckSchema, Time: s.At.UTC(), Node: o.Node, Source: o.Source,
		Headline:       newHeadlineObject(u.Headline),
		Runtime:        newRuntimeObject(s, o.Endpoint),
		KubeletVersion: o.kubelet(s),
		Partial:        text.Clean(s.Partial),
		PLEG:           newPLEGObject(s),
		NodeReady:      newReadyObject(s),
		Counts:         countsObject(s.Counts),
		Calls:          newCallsObjects(s),
		Findings:       make([]findingObject, len(u.Findings)),
		Waits:          newWaits(u.Waits),
		Sweep:          newSweepObject(s),
		Host:           newHostObject(s.Evidence),
	}
	for i, f := range u.Findings {
		c.Findings[i] = newFindingObject(f)
	}
	return c
}

func newRuntimeObject(s *engine.Snapshot, endpoint string) runtimeObject {
	r := runtimeObject{
		Name: s.Version.RuntimeName, Version: s.Version.RuntimeVersion, APIVersion: s.Version.APIVersion, Endpoint: endpoint,
		Conditions: make([]conditionObject, len(s.Conditions)),
	}
	for i, c := range s.Conditions {
		r.Conditions[i] = conditionObject{text.Clean(c.Type), c.Status, text.Clean(c.Reason), text.Clean(c.Message)}
	}
	return r
}

func newPLEGObject(s *engine.Snapshot) plegObject {
	o := plegObject{
		Healthy: s.Health.Healthy, Verdict: text.Clean(s.Health.Verdict),
		ListAgeSeconds:   max(0, s.Health.ListAge(s.At).Seconds()),
		RelistSeconds:    relistCost(s).Seconds(),
		ThresholdSeconds: s.Threshold.Seconds(),
		ListedAt:         instant(s.Health.ListedAt),
		SettledAt:        instant(s.Health.SettledAt),
	}
	if !s.Health.SettledAt.IsZero() || s.Sweep != nil && s.Sweep.Done > 0 { // the inspections of one look are a sweep
		o.InspectAgeSeconds = new(max(0, s.Health.InspectAge(s.At).Seconds()))
	}
	return o
}

// relistCost returns what the last relist took. A check that has not made a
// whole one knows what one would take: the lists, and every status after the
// other.
func relistCost(s *engine.Snapshot) time.Duration {
	if s.Relists.Count > 0 || s.Sweep == nil {
		return s.Relists.Last
	}
	return s.Phase.ListTook + s.Sweep.Serial
}

// instant returns t for JSON, nil for the zero time.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func newCallsObjects(s *engine.Snapshot) []callsObject {
	all := make([]callsObject, 0, len(s.Calls))
	for _, c := range s.Calls {
		if c.Op == call.GetContainerEvents && !made(c) {
			continue
		}
		o := callsObject{
			Operation: c.Op.String(), Count: c.Count, Errors: c.Errors, Gone: c.Gone,
			P50Seconds: c.P50.Seconds(), P99Seconds: c.P99.Seconds(), MaxSeconds: c.Max.Seconds(),
			InFlight: c.InFlight, OldestInFlightSeconds: oldest(s, c.Op).Seconds(),
			ResponseBytes: c.ResponseBytes, LastResponseBytes: c.LastResponseBytes,
		}
		if c.LastErr != nil {
			o.LastError = text.Clean(c.LastErr.Error())
		}
		all = append(all, o)
	}
	return all
}

// made reports whether there was any such call.
func made(c answers.Calls) bool { return c.Count > 0 || c.InFlight > 0 }

// oldest returns how long the oldest call of op has been out, 0 if none is.
func oldest(s *engine.Snapshot, op call.Operation) time.Duration {
	var longest time.Duration
	for _, f := range s.InFlight {
		if f.Op == op {
			longest = max(longest, f.Elapsed(s.At))
		}
	}
	return longest
}

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
func (o *sweepObject) name(outcome string, all []answers.Outcome) {
	for _, w := range all[:min(len(all), sweptLimit-len(o.Objects))] {
		swept := sweptObject{
			Outcome:       outcome,
			subjectObject: newSubject(diagnose.Subject{Operation: w.Op.String(), ObjectRef: w.Object()}),
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
