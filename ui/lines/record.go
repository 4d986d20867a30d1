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
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

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

	Mode      string           `json:"mode"`
	SeenBy    string           `json:"seenBy"`    // first, at the time of the line
	Sightings []sightingObject `json:"sightings"` // as far as they had come when it was told
}

type healthLine struct {
	header
	Healthy          bool    `json:"healthy"`
	Verdict          string  `json:"verdict,omitempty"`
	ListAgeSeconds   float64 `json:"listAgeSeconds"`
	ThresholdSeconds float64 `json:"thresholdSeconds"`
	Error            string  `json:"error,omitempty"` // of the last list, while it fails
}

type nodeLine struct {
	header
	Ready   bool   `json:"ready"` // as it would be posted
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

type loopLine struct {
	header
	State string     `json:"state"`           // "working", "held" by its housekeeping, or "stopped"
	Since *time.Time `json:"since,omitempty"` // absent while it works
	Why   []string   `json:"why"`             // it is stopped, in the kubelet's words
}

type gapLine struct {
	header
	Lost uint64 `json:"lost"`
}

type findingLine struct {
	header
	State         string        `json:"state"`           // "began", "changed" in severity, or "ended"
	Was           string        `json:"was,omitempty"`   // its severity before it changed
	Again         bool          `json:"again,omitempty"` // it ended less than a minute before, and goes on
	LastedSeconds float64       `json:"lastedSeconds"`   // so far; when ended, until it was last seen
	Finding       findingObject `json:"finding"`
}

// appendEvent appends e to b as one line of NDJSON, with its line feed. Texts
// are the runtime's own, escaped as JSON wants it.
func appendEvent(b []byte, e engine.Event) []byte {
	seen := sightings(e)
	l := &eventLine{
		header: newHeader(e.SeenAt, "event"), Mode: e.Mode.String(), SeenBy: seen[0].Source, Sightings: seen,
		Seq: e.Seq, Type: e.Kind.String(),
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
		LastedSeconds: t.Lasted.Seconds(), Again: t.Again, Finding: newFindingObject(t.Finding),
	}
	if t.Kind == diagnose.Changed {
		l.Was = t.Was.String()
	}
	return appendJSON(b, l)
}

// appendGap appends one line of NDJSON that says how many events are missing
// here, since the reader was too slow for them.
func appendGap(b []byte, at time.Time, lost uint64) []byte {
	return appendJSON(b, &gapLine{newHeader(at, "gap"), lost})
}

// appendJSON appends v, a pointer to one of this package's own objects, in one
// line. What JSON has no words for is left out, and its Notes say what that was.
func appendJSON(b []byte, v any) []byte {
	var c censor
	object := reflect.ValueOf(v).Elem()
	c.figure(object, "", false)
	if notes := object.FieldByName("Notes"); notes.IsValid() {
		notes.Set(reflect.ValueOf(c.out))
	}
	j, err := json.Marshal(v)
	if err != nil { // nothing is known that could do that
		j = fmt.Appendf(nil, `{"error":%q}`, err)
	}
	return append(append(b, escapeC1(j)...), '\n')
}

// A censor takes out of an object what is no figure: NaN, the infinities, and times
// before the year 0 or after 9999. Such may be in what a kubelet or a kernel says.
type censor struct {
	out []string // the fields that were left out
}

// figure looks through v, the field of that path, and reports whether v is to be
// left out as a whole. That is done with the nearest pointer above a wrong figure;
// without one, the figure is made zero.
func (c *censor) figure(v reflect.Value, path string, optional bool) (wrong bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && c.figure(v.Elem(), path, true) {
			c.leaveOut(v, path)
		}
		return false
	case reflect.Slice:
		for i := range v.Len() {
			wrong = c.figure(v.Index(i), fmt.Sprintf("%s[%d]", path, i), optional) || wrong
		}
		return wrong
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			year := v.Interface().(time.Time).Year()
			wrong = year < 0 || year > 9999
			break
		}
		for i := range v.NumField() {
			wrong = c.figure(v.Field(i), fieldPath(path, v.Type().Field(i)), optional) || wrong
		}
		return wrong
	case reflect.Float64:
		wrong = math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)
	}
	if wrong && !optional {
		c.leaveOut(v, path)
		return false
	}
	return wrong
}

func (c *censor) leaveOut(v reflect.Value, path string) {
	v.SetZero()
	c.out = append(c.out, path+" is left out: its figures cannot be")
}

// fieldPath returns the path of a field by its name in the JSON.
func fieldPath(path string, f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if path == "" || name == "" {
		return path + name
	}
	return path + "." + name
}

// escapeC1 returns the JSON text j with DEL, the C1 controls, the bidi controls
// and all other format characters written as escapes. [encoding/json] leaves
// them as they are, but a line may end up on a terminal, and some terminals act
// on them.
func escapeC1(j []byte) []byte {
	if bytes.IndexFunc(j, acts) < 0 {
		return j
	}
	out := make([]byte, 0, len(j)+16)
	for len(j) > 0 {
		r, n := utf8.DecodeRune(j)
		if acts(r) {
			out = appendEscape(out, r)
		} else {
			out = append(out, j[:n]...)
		}
		j = j[n:]
	}
	return out
}

// appendEscape appends r as JSON escapes it: in two halves where it needs more
// than four digits.
func appendEscape(b []byte, r rune) []byte {
	if r1, r2 := utf16.EncodeRune(r); r1 != utf8.RuneError {
		return fmt.Appendf(b, `\u%04x\u%04x`, r1, r2)
	}
	return fmt.Appendf(b, `\u%04x`, r)
}

// acts reports whether a terminal may act on r instead of showing it.
func acts(r rune) bool { return r >= 0x7f && (r <= 0x9f || unicode.Is(unicode.Cf, r)) }
