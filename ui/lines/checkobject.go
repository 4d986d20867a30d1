package lines

import (
	"slices"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/answers"
	"github.com/plegtop/plegtop/engine/call"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/evidence"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/say"
)

// CheckSchema names the shape of the JSON of check, which docs/check.schema.json
// describes. Fields are only ever added to it.
const CheckSchema = "plegtop/check/1"

// A checkObject is the JSON of check.
type checkObject struct {
	Schema         string             `line:"schema"`
	Time           time.Time          `line:"time"`
	Node           string             `line:"node,raw"`
	Source         string             `line:"source"`
	Headline       diagnose.Headline  `line:"headline"`
	Runtime        runtimeObject      `line:"runtime"`
	KubeletVersion string             `line:"kubeletVersion,raw"`
	Error          string             `line:"error,omitempty"`   // why nothing could be looked at
	Partial        string             `line:"partial,omitempty"` // what is missing because a list failed
	PLEG           plegObject         `line:"pleg"`
	NodeReady      readyObject        `line:"nodeReady"`
	Counts         engine.Counts      `line:"counts"`
	Calls          []callsObject      `line:"calls"`
	Findings       []diagnose.Finding `line:"findings"`
	Waits          *waitsObject       `line:"waits,omitzero"` // absent where nobody waits
	Sweep          *sweepObject       `line:"sweep,omitzero"`
	Host           *hostObject        `line:"host,omitzero"`
	Notes          []string           `line:"notes,omitempty"` // what was left out, and why
}

type runtimeObject struct {
	pleg.Version
	Endpoint   string           `line:"endpoint,raw"`
	Conditions []pleg.Condition `line:"conditions"`
}

type plegObject struct {
	Healthy    bool           `line:"healthy"`
	Verdict    string         `line:"verdict"` // the kubelet's words; empty when healthy
	ListAge    time.Duration  `line:"listAgeSeconds"`
	InspectAge *time.Duration `line:"inspectAgeSeconds,omitzero"` // absent if nothing was inspected
	Relist     time.Duration  `line:"relistSeconds"`
	Threshold  time.Duration  `line:"thresholdSeconds"`
	ListedAt   time.Time      `line:"listedAt,omitzero"`  // absent while no list succeeded: the list age is 0 then
	SettledAt  time.Time      `line:"settledAt,omitzero"` // absent while no relist settled: the inspection age is 0 then
}

// A conditionObject is the Ready condition of a node.
type conditionObject struct {
	Ready   bool   `line:"ready"`
	Reason  string `line:"reason"`
	Message string `line:"message"`
}

type readyObject struct {
	conditionObject
	Known bool   `line:"known"` // never: only the API server has what was posted
	Basis string `line:"basis"` // "model": what a kubelet that started now would say; "kubelet" if the node's own sees as much, or says of its PLEG what plegtop does not see
}

func newReadyObject(s *engine.Snapshot) readyObject {
	n, basis := diagnose.NodeReady(s)
	return readyObject{conditionObject: conditionObject{n.Ready, n.Reason, n.Message}, Basis: basis}
}

type callsObject struct {
	answers.Calls
	Oldest time.Duration `line:"oldestInFlightSeconds"`
}

func newCheckObject(u diagnose.Update, o CheckOptions) *checkObject {
	s := u.Snapshot
	return &checkObject{
		Schema: CheckSchema, Time: s.At, Node: o.Node, Source: o.Source,
		Headline:       u.Headline,
		Runtime:        runtimeObject{s.Version, o.Endpoint, s.Conditions},
		KubeletVersion: o.kubelet(s),
		Partial:        s.Partial,
		PLEG:           newPLEGObject(s),
		NodeReady:      newReadyObject(s),
		Counts:         s.Counts,
		Calls:          newCallsObjects(s),
		Findings:       u.Findings,
		Waits:          newWaits(u.Waits),
		Sweep:          newSweepObject(s),
		Host:           newHostObject(s.Evidence),
	}
}

func newPLEGObject(s *engine.Snapshot) plegObject {
	o := plegObject{
		Healthy: s.Health.Healthy, Verdict: s.Health.Verdict, ListAge: max(0, s.Health.ListAge(s.At)),
		Relist: relistCost(s), Threshold: s.Threshold, ListedAt: s.Health.ListedAt, SettledAt: s.Health.SettledAt,
	}
	if !s.Health.SettledAt.IsZero() || s.Sweep != nil && s.Sweep.Done > 0 { // the inspections of one look are a sweep
		o.InspectAge = new(max(0, s.Health.InspectAge(s.At)))
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

func newCallsObjects(s *engine.Snapshot) (all []callsObject) {
	for _, c := range s.Calls {
		if c.Op != call.GetContainerEvents || made(c) {
			all = append(all, callsObject{c, oldest(s, c.Op)})
		}
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
	*answers.Sweep
	Hung    int           `line:"hung"`
	Failed  int           `line:"failed"`
	Took    time.Duration `line:"tookSeconds"`
	Objects []sweptObject `line:"objects"`
}

type sweptObject struct {
	Came string `line:"outcome"` // "hung", "failed" or "slow"
	answers.Outcome
}

func newSweepObject(s *engine.Snapshot) *sweepObject {
	w := s.Sweep
	if w == nil {
		return nil
	}
	o := &sweepObject{Sweep: w, Hung: len(w.Hung), Failed: len(w.Failed), Took: sweepTook(s)}
	o.name("hung", w.Hung)
	o.name("failed", w.Failed)
	o.name("slow", w.Slowest)
	return o
}

// name adds objects as far as there is room for them.
func (o *sweepObject) name(came string, all []answers.Outcome) {
	for _, w := range all[:min(len(all), sweptLimit-len(o.Objects))] {
		o.Objects = append(o.Objects, sweptObject{came, w})
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

// A hostObject is what the node itself says. A part that could not be had is
// absent, and Missing says why.
type hostObject struct {
	Took       time.Duration       `line:"tookSeconds"`
	Missing    []string            `line:"missing"`
	Usage      []evidence.Usage    `line:"usage"`
	Pressure   evidence.Pressure   `line:"pressure,omitzero"`
	Disk       evidence.Disk       `line:"disk,omitzero"`
	State      evidence.Disk       `line:"state,omitzero"` // of the shims' folder
	Limits     []evidence.Limit    `line:"limits,omitempty"`
	Devices    []evidence.Device   `line:"devices,omitempty"` // with requests under way
	Stuck      []evidence.Process  `line:"stuck,omitempty"`   // of the runtime, the kubelet, and the shims
	ClockSteps int                 `line:"clockSteps"`
	Kubelet    kubeletObject       `line:"kubelet"`
	Helpers    []evidence.Process  `line:"errands,omitempty"`       // of the runtime and its shims
	Sources    []say.Source        `line:"sources,omitempty"`       // that are read only where something hangs
	InFlight   []evidence.InFlight `line:"callsInFlight,omitempty"` // of all clients, by the runtime's own metrics
}

// A kubeletObject is what the kubelet says, and whether that makes its PLEG healthy.
type kubeletObject struct {
	evidence.Kubelet
	Relist   *evidence.Timing `line:"relist,omitzero"` // absent, as the next, if its metrics are
	Interval *evidence.Timing `line:"interval,omitzero"`
	Healthy  *bool            `line:"plegHealthy,omitzero"` // by LastSeen; absent if that is
}

// helpersMost is how many of them the JSON has: a runtime that starts a node's pods
// has one for each.
const helpersMost = 100

func newHostObject(r *evidence.Report) *hostObject {
	if r == nil {
		return nil
	}
	helpers := r.Processes.Helpers
	h := &hostObject{
		Took: r.Took, Missing: missing(r), Usage: r.Usage, Pressure: r.Pressure, Disk: r.Disk, State: r.State,
		Limits: r.Limits, Devices: r.Devices, ClockSteps: r.Clock.Steps, Kubelet: kubeletObject{Kubelet: r.Kubelet},
		Stuck:   slices.DeleteFunc(slices.Concat(r.Processes.Daemons, r.Processes.Shims), func(p evidence.Process) bool { return !p.State.Stuck() }),
		Helpers: helpers[:min(len(helpers), helpersMost)],
	}
	if r.Deep != nil {
		h.Sources, h.InFlight = say.Sources(r), r.Deep.Calls.InFlight
	}
	if k := &h.Kubelet; k.Metrics.OK {
		k.Relist, k.Interval = &k.Kubelet.Relist, &k.Kubelet.Interval
	}
	if healthy, known := diagnose.KubeletPLEG(r.Kubelet); known {
		h.Kubelet.Healthy = &healthy
	}
	return h
}

// missing returns which parts of r are not there, or not whole, and why.
func missing(r *evidence.Report) []string {
	all := []string{}
	for _, m := range []struct{ part, why string }{
		{"processes", r.Processes.Missing}, {"processes", r.Processes.Partial},
		{"pressure", r.Pressure.Missing}, {"disk", r.Disk.Missing}, {"socket", r.Socket.Missing},
		{"kubelet ping", r.Kubelet.Ping.Err}, {"kubelet metrics", r.Kubelet.Metrics.Err},
	} {
		if m.why != "" {
			all = append(all, m.part+": "+m.why)
		}
	}
	return all
}
