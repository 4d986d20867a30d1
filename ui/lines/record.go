// Package lines is the view for a pipe, as text for people or as JSON for
// programs: [Watch] writes the headline, events, changes of health and findings as they come,
// one line each; [Check] what is wrong with a node as one look shows it.
//
// Watch's lines come in the order in which the engine decided. Where the reader
// was too slow, a gap line stands in the place of what it missed and says how
// much that was. Nothing here is safe for concurrent use.
package lines

import (
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
)

// Schema names the shape of a line of NDJSON. Fields are only ever added to it.
const Schema = "plegtop/watch/1"

// A header is what every line of NDJSON starts with.
type header struct {
	Schema string    `json:"schema"`
	Time   time.Time `json:"time"`
	Kind   string    `json:"kind"`
	Notes  []string  `json:"notes,omitempty"` // what was left out of this line, and why
}

func newHeader(at time.Time, kind string) header {
	return header{Schema: Schema, Time: at.UTC(), Kind: kind}
}

func (h *header) note(all []string) { h.Notes = all }

type headlineLine struct {
	header
	Headline headlineObject `json:"headline"`
}

type eventLine struct {
	header
	Seq        uint64   `json:"seq"`
	Type       string   `json:"type"`
	UID        string   `json:"uid"`
	Namespace  string   `json:"namespace"`
	Pod        string   `json:"pod"`
	Container  string   `json:"container,omitempty"` // absent for a sandbox
	ID         string   `json:"id,omitempty"`        // absent for an event of the pod
	Sandbox    bool     `json:"sandbox,omitempty"`
	From       string   `json:"from"`
	To         string   `json:"to"`
	Delivery   string   `json:"delivery"`
	ExitCode   *int32   `json:"exitCode,omitempty"`
	Reason     string   `json:"reason,omitempty"`
	LagSeconds *float64 `json:"lagSeconds,omitempty"`
}

type healthLine struct {
	header
	Healthy          bool    `json:"healthy"`
	Verdict          string  `json:"verdict,omitempty"`
	ListAgeSeconds   float64 `json:"listAgeSeconds"`
	ThresholdSeconds float64 `json:"thresholdSeconds"`
	Error            string  `json:"error,omitempty"` // of the last list, while it fails
}

type gapLine struct {
	header
	Lost uint64 `json:"lost"`
}

type findingLine struct {
	header
	State         string        `json:"state"`         // "began", "changed" in severity, or "ended"
	Was           string        `json:"was,omitempty"` // its severity before it changed
	LastedSeconds float64       `json:"lastedSeconds"` // so far; when ended, until it was last seen
	Finding       findingObject `json:"finding"`
}

// AppendEvent appends e to b as one line of NDJSON, with its line feed. Texts
// are the runtime's own, escaped as JSON wants it.
func AppendEvent(b []byte, e engine.Event) []byte {
	l := &eventLine{
		header: newHeader(e.SeenAt, "event"),
		Seq:    e.Seq, Type: e.Kind.String(),
		UID: string(e.Pod.UID), Namespace: e.Pod.Namespace, Pod: e.Pod.Name,
		Container: e.Container, ID: e.ID, Sandbox: e.Sandbox,
		From: e.From.String(), To: e.To.String(), Delivery: e.Delivery.String(), Reason: e.Reason,
	}
	if e.Exited {
		l.ExitCode = &e.ExitCode
	}
	if e.HasLag {
		s := e.Lag.Seconds()
		l.LagSeconds = &s
	}
	return appendJSON(b, l)
}

func appendHeadline(b []byte, at time.Time, h diagnose.Headline) []byte {
	return appendJSON(b, &headlineLine{newHeader(at, "headline"), newHeadlineObject(h)})
}

func appendHealth(b []byte, s *engine.Snapshot) []byte {
	l := &healthLine{
		header:  newHeader(s.At, "health"),
		Healthy: s.Health.Healthy, Verdict: s.Health.Verdict,
		ListAgeSeconds: s.Health.ListAge(s.At).Seconds(), ThresholdSeconds: s.Threshold.Seconds(),
	}
	if s.Failure != nil {
		l.Error = s.Failure.Err.Error()
	}
	return appendJSON(b, l)
}

func appendFinding(b []byte, at time.Time, t diagnose.Turn) []byte {
	l := &findingLine{
		header: newHeader(at, "finding"), State: t.Kind.String(),
		LastedSeconds: t.Lasted.Seconds(), Finding: newFindingObject(t.Finding),
	}
	if t.Kind == diagnose.Changed {
		l.Was = t.Was.String()
	}
	return appendJSON(b, l)
}

// AppendGap appends one line of NDJSON that says how many events are missing
// here, since the reader was too slow for them.
func AppendGap(b []byte, at time.Time, lost uint64) []byte {
	return appendJSON(b, &gapLine{newHeader(at, "gap"), lost})
}
