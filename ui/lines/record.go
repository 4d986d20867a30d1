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
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine"
	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/kubelet"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/sources"
	"github.com/plegtop/plegtop/ui/jsonline"
	"github.com/plegtop/plegtop/ui/theme"
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
	SeenBy    sources.Source   `line:"seenBy"`    // first, at the time of the line
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

// node appends what has changed of what a kubelet would do and post: its sync loop,
// and its Ready condition. In a pause, and before the runtime has answered, nothing is
// known of them.
func (v *watcher) node(b []byte, s *engine.Snapshot) []byte {
	n := &s.Node
	if s.Paused || !n.Known {
		return b
	}
	loop, since := loopOf(s)
	was := cmp.Or(v.loop, loopWorks)
	why := slices.DeleteFunc([]string{n.RuntimeDown, n.PLEG, n.RuntimeErr}, func(s string) bool { return s == "" })
	if loop == loopStopped && len(why) == 0 {
		loop = was // all is well again, and it sees so within its nap
	}
	if v.loop = loop; loop != was {
		b = v.loopTurn(b, s, since, why)
	}
	posted := kubelet.Node{Ready: n.Ready, Reason: n.Reason, Message: figures.ReplaceAllString(n.Message, "${1}0")}
	if posted == v.posted {
		return b
	}
	v.posted = posted
	said := fmt.Sprintf("node would be posted %s: %s: %s", theme.When(n.Ready, "Ready", "NotReady"), n.Reason, diagnose.Rounded(n.Message))
	return v.line(b, s.At, &nodeLine{newHeader(s.At, "node"), conditionObject{n.Ready, n.Reason, n.Message}}, said)
}

// The states of the sync loop.
const (
	loopWorks   = "working"
	loopHeld    = "held"
	loopStopped = "stopped"
)

// loopOf returns the state of the sync loop, and since when it is so, where that is
// known.
func loopOf(s *engine.Snapshot) (state string, since time.Time) {
	switch loop := diagnose.HealthOf(s, diagnose.HealthLoop); {
	case loop.Level == diagnose.HealthIll:
		return loopStopped, loop.Since
	case loop.Level == diagnose.HealthLate && loop.Lasts(s.At):
		return loopHeld, loop.Since
	}
	return loopWorks, time.Time{}
}

func (v *watcher) loopTurn(b []byte, s *engine.Snapshot, since time.Time, why []string) []byte {
	if v.loop != loopStopped {
		why = nil
	}
	said := "sync loop works"
	switch v.loop {
	case loopStopped:
		said = "sync loop stopped: " + diagnose.Rounded(strings.Join(why, ", "))
	case loopHeld:
		said = "sync loop held: its housekeeping waits for a list"
	}
	return v.line(b, s.At, &loopLine{newHeader(s.At, "loop"), v.loop, since, why}, said)
}
