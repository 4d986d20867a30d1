// Package lines is the view for a pipe, as text for people or as JSON for
// programs: [Watch] writes the headline, events, findings and changes of PLEG, of the
// sync loop and of what would be posted of the node as they come,
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
	"github.com/plegtop/plegtop/engine/ledger"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/ui/jsonline"
)

// Schema names the shape of a line of NDJSON. Fields are only ever added to it.
const Schema = "plegtop/watch/1"

// A header is what every line of NDJSON starts with.
type header struct {
	Schema string    `line:"schema"`
	Time   time.Time `line:"time"`
	Kind   string    `line:"kind"`
	Notes  []string  `line:"notes,omitempty"` // what was left out of this line, and why
}

func newHeader(at time.Time, kind string) header {
	return header{Schema: Schema, Time: at, Kind: kind}
}

type headlineLine struct {
	header
	Headline diagnose.Headline `line:"headline"`
}

type eventLine struct {
	header
	Seq       uint64         `line:"seq"`
	Type      pleg.Kind      `line:"type"`
	UID       pleg.UID       `line:"uid,raw"`
	Namespace string         `line:"namespace,raw"`
	Pod       string         `line:"pod,raw"`
	Container string         `line:"container,omitempty,raw"` // absent for a sandbox
	ID        string         `line:"id,omitempty,raw"`        // absent for an event of the pod
	Sandbox   bool           `line:"sandbox,omitempty"`
	From      pleg.State     `line:"from"`
	To        pleg.State     `line:"to"`
	Delivery  pleg.Delivery  `line:"delivery"`
	ExitCode  *int32         `line:"exitCode,omitzero"`
	Reason    string         `line:"reason,omitempty,raw"`
	Lag       *time.Duration `line:"lagSeconds,omitzero"`

	Mode      pleg.Mode        `line:"mode"`
	SeenBy    ledger.Source    `line:"seenBy"`    // first, at the time of the line
	Sightings []sightingObject `line:"sightings"` // as far as they had come when it was told
}

type healthLine struct {
	header
	Healthy   bool          `line:"healthy"`
	Verdict   string        `line:"verdict,omitempty,raw"`
	ListAge   time.Duration `line:"listAgeSeconds"`
	Threshold time.Duration `line:"thresholdSeconds"`
	Error     string        `line:"error,omitempty,raw"` // of the last list, while it fails
}

type nodeLine struct {
	header
	conditionObject `line:",inline,raw"` // as it would be posted
}

type loopLine struct {
	header
	State string    `line:"state"`          // "working", "held" by its housekeeping, or "stopped"
	Since time.Time `line:"since,omitzero"` // absent while it works
	Why   []string  `line:"why,raw"`        // it is stopped, in the kubelet's words
}

type gapLine struct {
	header
	Lost uint64 `line:"lost"`
}

type findingLine struct {
	header
	State   diagnose.TurnKind  `line:"state"`
	Was     *diagnose.Severity `line:"was,omitzero"`    // before it changed
	Again   bool               `line:"again,omitempty"` // it ended less than a minute before, and goes on
	Lasted  time.Duration      `line:"lastedSeconds"`   // so far; when ended, until it was last seen
	Finding diagnose.Finding   `line:"finding"`
}

// appendEvent appends e to b as one line of NDJSON, with its line feed. Texts
// are the runtime's own, escaped as JSON wants it.
func appendEvent(b []byte, e engine.Event) []byte {
	seen := sightings(e)
	l := &eventLine{
		header: newHeader(e.SeenAt, "event"), Mode: e.Mode, SeenBy: seen[0].Source, Sightings: seen,
		Seq: e.Seq, Type: e.Kind, UID: e.Pod.UID, Namespace: e.Pod.Namespace, Pod: e.Pod.Name,
		Container: e.Container, ID: e.ID, Sandbox: e.Sandbox,
		From: e.From, To: e.To, Delivery: e.Delivery, Reason: e.Reason,
	}
	if e.Exited {
		l.ExitCode = &e.ExitCode
	}
	if e.HasLag {
		l.Lag = &e.Lag
	}
	return jsonline.Append(b, l)
}

func appendHealth(b []byte, s *engine.Snapshot) []byte {
	l := &healthLine{
		header: newHeader(s.At, "health"), Healthy: s.Health.Healthy, Verdict: s.Health.Verdict,
		ListAge: s.Health.ListAge(s.At), Threshold: s.Threshold,
	}
	if s.Failure != nil {
		l.Error = s.Failure.Err.Error()
	}
	return jsonline.Append(b, l)
}

func appendFinding(b []byte, at time.Time, t diagnose.Turn) []byte {
	l := &findingLine{header: newHeader(at, "finding"), State: t.Kind, Lasted: t.Lasted, Again: t.Again, Finding: t.Finding}
	if t.Kind == diagnose.Changed {
		l.Was = &t.Was
	}
	return jsonline.Append(b, l)
}

// appendGap appends one line of NDJSON that says how many events are missing
// here, since the reader was too slow for them.
func appendGap(b []byte, at time.Time, lost uint64) []byte {
	return jsonline.Append(b, &gapLine{newHeader(at, "gap"), lost})
}
