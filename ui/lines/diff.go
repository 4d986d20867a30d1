package lines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/plegtop/plegtop/engine/diagnose"
	"github.com/plegtop/plegtop/engine/pleg"
	"github.com/plegtop/plegtop/engine/record"
	"github.com/plegtop/plegtop/engine/replay"
	"github.com/plegtop/plegtop/ui/jsonline"
)

// DiffSchema names the shape of the JSON of diff, which docs/diff.schema.json describes. Fields
// are only ever added to it.
const DiffSchema = "plegtop/diff/1"

// ExitDiffers is the exit status of diff where the sides differ, as that of diff(1); more than
// it is trouble.
const ExitDiffers = 1

// A diffObject is what tells two recordings, or two moments of one, apart.
type diffObject struct {
	Schema   string        `line:"schema"`
	Alike    bool          `line:"alike"` // pods, findings and versions; figures never are
	A        sideObject    `line:"a"`
	B        sideObject    `line:"b"`
	Pods     []changed     `line:"pods"`
	Findings []heldObject  `line:"findings"` // of one side alone
	Relists  timings       `line:"relists"`
	Calls    []callTimings `line:"calls"`
	Remarks  []string      `line:"remarks"`
	Notes    []string      `line:"notes,omitempty"` // what was left out, and why
}

// A sideObject is one of both sides: a stretch of time, and the moment at its end.
type sideObject struct {
	File           string        `line:"file,raw"`
	From           time.Time     `line:"from"`
	To             time.Time     `line:"to"`
	Node           string        `line:"node,raw"`
	Runtime        string        `line:"runtime"` // its name and version
	KubeletVersion string        `line:"kubeletVersion,raw"`
	Plegtop        string        `line:"plegtop,raw"` // that recorded
	Headline       string        `line:"headline"`    // its word
	Pods           int           `line:"pods"`
	Containers     int           `line:"containers"`
	For            time.Duration `line:"forSeconds"`
}

// A changed pod or container has come, gone, changed its state, or is another one of that name.
type changed struct {
	How       string `line:"how"` // "came", "went", "changed" or "replaced"
	Namespace string `line:"namespace,raw"`
	Pod       string `line:"pod,raw"`
	Container string `line:"container,omitempty,raw"` // empty for the pod
	Was       string `line:"was,omitempty"`           // its state in A
	Now       string `line:"now,omitempty"`           // and in B
}

type heldObject struct {
	In       string            `line:"in"` // "a" or "b"
	ID       diagnose.ID       `line:"id"`
	Severity diagnose.Severity `line:"severity"` // the worst that it had
	Summary  string            `line:"summary"`  // as it was last
	Subject  diagnose.Subject  `line:"subject"`
	From     time.Time         `line:"from"` // when it was shown first
	For      time.Duration     `line:"forSeconds"`
}

type timings struct {
	A replay.Timing `line:"a"`
	B replay.Timing `line:"b"`
}

type callTimings struct {
	Operation string `line:"operation"`
	timings
}

// A side is one that is opened.
type side struct {
	path      string
	recording *record.Recording
	from, to  time.Time // zero from: its beginning
	replay.Measured
}

// Diff compares two recordings, or two moments: each is named FILE, which stands for all of it, or
// FILE@TIME for the time up to then. Of two moments of one file the later side begins where the
// earlier one ends. It writes what differs to w, and returns [ExitOK] where both are alike,
// [ExitDiffers] where they are not, and [ExitCannotTell] with an error.
func Diff(ctx context.Context, w io.Writer, names [2]string, o CheckOptions) (code int, err error) {
	var sides [2]side
	for i, name := range names {
		if err := sides[i].open(name); err != nil {
			return ExitCannotTell, err
		}
		defer sides[i].recording.Close()
	}
	a, b := &sides[0], &sides[1]
	if sameFile(a.path, b.path) {
		switch {
		case a.to.Before(b.to):
			b.from = a.to
		case b.to.Before(a.to):
			a.from = b.to
		}
	}
	for i := range sides {
		s := &sides[i]
		if s.Measured, err = replay.Measure(ctx, s.recording, s.from, s.to, o.Namespaces); err != nil {
			return ExitCannotTell, fmt.Errorf("diff: %s: %w", s.path, err)
		}
	}
	object := newDiff(a, b, o.Namespaces)
	text := jsonline.Append(nil, object)
	if !o.JSON {
		text = o.write(nil, object.write)
	}
	if err := writeLast(ctx, w, text); err != nil {
		return ExitCannotTell, fmt.Errorf("write the diff: %w", err)
	}
	if object.Alike {
		return ExitOK, nil
	}
	return ExitDiffers, nil
}

// open opens what is named: a file, or a moment of one.
func (s *side) open(name string) error {
	path, at := name, ""
	if _, err := os.Stat(name); err != nil {
		if i := strings.LastIndexByte(name, '@'); i > 0 {
			path, at = name[:i], strings.TrimSpace(name[i+1:])
		}
		if path != name && at == "" {
			return fmt.Errorf("diff: %s names no moment: write %s@-10m, or %s alone for all of it", name, path, path)
		}
	}
	r, err := OpenRecorded(path, at)
	if err != nil {
		return err
	}
	s.path, s.recording, s.to = path, r.recording, cmp.Or(r.at, r.last)
	return nil
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errors.Join(errX, errY) == nil && os.SameFile(x, y)
}

func newDiff(a, b *side, namespaces []string) *diffObject {
	o := &diffObject{Schema: DiffSchema, A: a.object(), B: b.object(), Relists: timings{a.Relists, b.Relists}}
	o.Pods = podsChanged(a.Last.Snapshot.Pods, b.Last.Snapshot.Pods, namespaces)
	o.Findings = append(only("a", a.Findings, b.Findings), only("b", b.Findings, a.Findings)...)
	o.calls(a.Calls, b.Calls)
	for _, s := range []*side{a, b} {
		if s.Damage != nil {
			o.Remarks = append(o.Remarks, s.path+": "+readable(s.At, s.Damage).Error())
		}
	}
	o.Alike = len(o.Pods)+len(o.Findings) == 0 && o.A.Runtime == o.B.Runtime && o.A.KubeletVersion == o.B.KubeletVersion
	return o
}

func (s *side) object() sideObject {
	shown := s.Last.Snapshot
	o := sideObject{
		File: s.path, From: s.From, To: s.At, For: max(s.At.Sub(s.From), 0), Node: s.Head.Node, Plegtop: s.Head.Plegtop,
		Runtime:        strings.TrimSpace(shown.Version.RuntimeName + " " + shown.Version.RuntimeVersion),
		KubeletVersion: shown.Release.String(), Headline: s.Last.Headline.Word,
		Pods: shown.Counts.Pods, Containers: shown.Counts.Containers,
	}
	if e := shown.Evidence; e != nil && e.Kubelet.Version != "" {
		o.KubeletVersion = e.Kubelet.Version
	}
	return o
}

// only returns the findings of one side that the other has not: of that kind, about that.
func only(in string, all, others []replay.Held) (left []heldObject) {
	same := func(a, b *replay.Held) bool {
		s, t := a.Subject, b.Subject
		return a.ID == b.ID && s.Operation == t.Operation && s.Pod.Namespace == t.Pod.Namespace && s.Pod.Name == t.Pod.Name && s.Container == t.Container
	}
	for i := range all {
		if h := &all[i]; !slices.ContainsFunc(others, func(b replay.Held) bool { return same(h, &b) }) {
			left = append(left, heldObject{in, h.ID, h.Worst, h.Summary, h.Subject, h.Began, h.End.Sub(h.Began)})
		}
	}
	return left
}

// calls takes the figures of both sides by operation.
func (o *diffObject) calls(a, b []replay.Timing) {
	place := map[string]int{}
	for i, all := range [][]replay.Timing{a, b} {
		for _, t := range all {
			op := t.Op.String()
			at, known := place[op]
			if !known {
				at = len(o.Calls)
				place[op] = at
				o.Calls = append(o.Calls, callTimings{Operation: op})
			}
			if i == 0 {
				o.Calls[at].A = t
			} else {
				o.Calls[at].B = t
			}
		}
	}
}

// state returns the word for how a container or a sandbox stands.
func state(s pleg.State, sandbox bool) string {
	switch {
	case sandbox && s == pleg.Running:
		return "ready"
	case sandbox:
		return "not ready"
	}
	return s.String()
}
